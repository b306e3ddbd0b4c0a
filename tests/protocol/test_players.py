"""Who a token makes its owner."""

import hashlib
import re
from base64 import b32encode
from pathlib import Path

from saratoga_protocol.players import player_id

TOKEN = "5a" * 32
WIRE = Path(__file__).parents[2] / "protocol" / "README.md"


def test_a_players_id_is_as_the_wires_page_says() -> None:
    assert 'lower-case base 32 of SHA-256("saratoga player" + the token\'s 32 bytes)' in re.sub(
        r"\s+", " ", WIRE.read_text()
    )
    digest = hashlib.sha256(b"saratoga player" + bytes.fromhex(TOKEN)).digest()
    assert player_id(TOKEN) == b32encode(digest).decode().lower()[:16]


def test_no_part_of_the_token_is_in_it() -> None:
    assert re.fullmatch(r"[a-z2-7]{16}", player_id(TOKEN))
    assert player_id(TOKEN) not in TOKEN
    assert player_id("5b" + TOKEN[2:]) != player_id(TOKEN)
