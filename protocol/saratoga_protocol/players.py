"""Who a token makes its owner, in public."""

import hashlib
from base64 import b32encode
from typing import Final

TAG: Final = b"saratoga player"
LENGTH: Final = 16
"""Base 32 characters: 80 bits. A server checks another hash of the whole token besides."""


def player_id(token: str) -> str:
    """The player of that token, 64 hexadecimal digits: anybody may see it, and find no token from it."""
    digest = hashlib.sha256(TAG + bytes.fromhex(token)).digest()
    return b32encode(digest).decode().lower()[:LENGTH]
