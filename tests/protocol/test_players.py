"""The public id derived from a token."""

import hashlib
import re
from base64 import b32encode
from pathlib import Path

from saratoga_protocol.players import player_id

TOKEN = "5a" * 32
WIRE = Path(__file__).parents[2] / "protocol" / "README.md"


def test_a_player_id_is_derived_as_specified() -> None:
    assert 'lower-case base 32 of SHA-256("saratoga player" + the token\'s 32 bytes)' in re.sub(
        r"\s+", " ", WIRE.read_text()
    )
    digest = hashlib.sha256(b"saratoga player" + bytes.fromhex(TOKEN)).digest()
    assert player_id(TOKEN) == b32encode(digest).decode().lower()[:16]


def test_a_player_id_contains_no_part_of_the_token() -> None:
    assert re.fullmatch(r"[a-z2-7]{16}", player_id(TOKEN))
    assert player_id(TOKEN) not in TOKEN
    assert player_id("5b" + TOKEN[2:]) != player_id(TOKEN)
