"""The public id of a player, derived from the secret token."""

import hashlib
from base64 import b32encode
from typing import Final

TAG: Final = b"saratoga player"
LENGTH: Final = 16
"""The length of an id in base 32 characters: 80 bits. The server also checks a hash of the whole token."""


def player_id(token: str) -> str:
    """Return the id of the player with this token (64 hex digits). The id does not reveal the token."""
    digest = hashlib.sha256(TAG + bytes.fromhex(token)).digest()
    return b32encode(digest).decode().lower()[:LENGTH]
