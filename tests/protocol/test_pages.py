"""The pages of the protocol agree with the code: subprotocols, moves, vectors, records, the client, the text shown."""

import ast
import hashlib
import hmac
import re
import sys
import unicodedata
from base64 import b32encode
from dataclasses import replace
from itertools import product

import pytest

from kit.positions import STRATEGIES, walk
from kit.reference import FILES, FOLDER
from saratoga_protocol.codec import SUBPROTOCOLS
from saratoga_protocol.commands import player_id
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import commitment, deal_key, nonce_hash
from saratoga_rules.games import GAMES
from saratoga_rules.position import format_position
from saratoga_rules.records.digest_words import digest_words
from saratoga_rules.records.heads import heads
from saratoga_rules.records.record import LogLine
from saratoga_rules.records.verify import verify

TEXT = (FOLDER / "README.md").read_text(encoding="utf-8")
FAIRNESS = (FOLDER / "FAIRNESS.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_every_subprotocol_is_on_the_page() -> None:
    assert sorted(re.findall(r"^\| `(saratoga[.].*?)`", TEXT, re.MULTILINE)) == sorted(SUBPROTOCOLS)


def test_the_vectors_of_the_page_are_right() -> None:
    (record,) = blocks(FAIRNESS, "record")
    assert verify(record).ok
    cells = dict(
        re.findall(
            r"^\| (.+) \| `(.+)` \|$", FAIRNESS.partition("## Test vectors")[2], re.MULTILINE
        )
    )
    anna, zoe, race = "a" * 16, "b" * 16, "mint-otter-42/3"
    seed, nonces = bytes(range(32)), {anna: bytes(16), zoe: bytes(range(16))}
    key = deal_key(seed, race, nonces)
    deals = {name: format_position(deal_for_key(game, key)) for name, game in GAMES.items()}
    promised = commitment(seed, "canfield", 1, "mint-otter-42", 3, cap=10, public=True)
    for line in (
        f"commitment {promised}",
        f"seed {seed.hex()}",
        f"deal {deals['canfield']}",
        *(f"nonce-hash {nonce_hash(nonce)}" for nonce in nonces.values()),
    ):
        assert f"\n{line}\n" in record
    first, second = (
        [
            LogLine(int(at), int(number), text)
            for at, number, text in re.findall("^([0-9]+) ([0-9]+) (.+)$", log, re.MULTILINE)
        ]
        for log in record.split("nonce-hash")[1:]
    )
    stuck = [*first[:-1], replace(first[-1], text="stuck")]
    assert cells == {
        "deal key": key.hex(),
        "block(0)": hmac.digest(key, b"saratoga shuffle 1" + bytes(8), "sha256").hex(),
        # a bar within a cell of a table is written after a backslash
        "klondike's deal": deals["klondike"].replace("|", r"\|"),
        "heads of a": " ".join(heads(key, race, anna, first)),
        "heads of b": " ".join(heads(key, race, zoe, second)),
        "head of a, if `stuck` stood in place of `cash-out`": heads(key, race, anna, stuck)[-1],
        "four words of the record": digest_words(record.split()[-1]),
    }


def pairs_played(name: str) -> tuple[set[str], set[str]]:
    """Return the pairs of source and target that are legal in walks through a game, and those with `:n`."""
    pairs, packets = set(), set()
    for seed, strategy in product(range(8), STRATEGIES):
        for move in {str(move) for step in walk(name, seed, strategy) for move in step.legal}:
            pair = re.sub(r"\bt[0-9]+", "t", re.sub(r"up[.][CSHD]", "up.S", move.partition(":")[0]))
            pairs.add(pair)
            if ":" in move:
                packets.add(pair)
    return pairs, packets


@pytest.mark.parametrize("name", GAMES)
def test_the_pairs_of_piles_of_every_game_are_those_on_the_page(name: str) -> None:
    (row,) = re.findall(rf"^\| `{name}` \| (.+) \| (.+) \| (.+) \|$", TEXT, re.MULTILINE)
    pairs, packets = pairs_played(name)
    has_redeal = "redeal" in pairs
    assert set(re.findall("`(.+?)`", row[0])) == pairs - {"draw", "redeal"}
    assert set(re.findall("`(.+?)`", row[1])) == packets
    assert (row[2] != "never") == has_redeal


def test_the_client_on_the_page_is_short_and_needs_two_packages() -> None:
    (source,) = blocks(TEXT, "python")
    assert len(source.splitlines()) < 80
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(source))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    own = {"hashlib", "itertools", "secrets", "sys", "time"}
    assert imported == own | {"msgpack", "websockets"}


TOKEN = "5a" * 32


def test_a_player_id_is_derived_as_specified() -> None:
    assert 'lower-case base 32 of SHA-256("saratoga player" + the token\'s 32 bytes)' in re.sub(
        r"\s+", " ", TEXT
    )
    digest = hashlib.sha256(b"saratoga player" + bytes.fromhex(TOKEN)).digest()
    assert player_id(TOKEN) == b32encode(digest).decode().lower()[:16]


@pytest.mark.parametrize("name", FILES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    """After a change of the wire, `make reference` writes them again."""
    assert (FOLDER / name).read_text(encoding="utf-8") == FILES[name]()


VISIBLE_FORMATS = (
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Format characters with a shape of their own: they stand before or around numbers."""

IGNORABLE = [
    *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3)),
    *((0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
]
"""The property Default_Ignorable_Code_Point in DerivedCoreProperties.txt of Unicode 16."""

UNSEEN = {chr(code) for first, last in IGNORABLE for code in range(first, last + 1)} | {
    character
    for character in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    and character not in VISIBLE_FORMATS
}


def test_every_unseen_character_is_shown_as_its_number() -> None:
    shown = [sanitised(f"a{character}b") for character in sorted(UNSEEN)]
    assert shown == [f"a<U+{ord(character):04X}>b" for character in sorted(UNSEEN)]


def test_every_other_character_of_unicode_is_unchanged() -> None:
    others = [
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character) not in ("Cn", "Co") and character not in UNSEEN
    ]
    assert sanitised("".join(others)) == "".join(others)
