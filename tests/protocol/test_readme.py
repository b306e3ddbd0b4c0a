"""The wire specification agrees with the code: names, fields, codes, vectors."""

import ast
import hashlib
import hmac
import json
import re
from base64 import b32encode
from itertools import pairwise, product
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from kit.walks import STRATEGIES, walk
from saratoga_protocol import events, match_rows, refusals
from saratoga_protocol.codec import CODECS
from saratoga_protocol.commands import AnyCommand
from saratoga_protocol.events import AnyEvent
from saratoga_protocol.leaderboard_rows import MOST_RIVALS, LeaderboardRow
from saratoga_protocol.players import player_id
from saratoga_protocol.refusals import REASONS, CloseCode
from saratoga_protocol.table_rows import TableSummary
from saratoga_protocol.version import JSON, SUBPROTOCOLS
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.dealing.fairness import commitment, deal_key, nonce_hash
from saratoga_rules.dealing.shuffle import shuffled_deck
from saratoga_rules.games import GAMES
from saratoga_rules.position import format_position
from saratoga_rules.records.verify import verify

# The wire specification agrees with the code: names, fields, codes, vectors


PAGE = Path(__file__).parents[2] / "protocol" / "README.md"
TEXT = PAGE.read_text(encoding="utf-8")

COMMANDS = {kind.__struct_config__.tag: kind for kind in get_args(AnyCommand)}
EVENTS = {kind.__struct_config__.tag: kind for kind in get_args(AnyEvent)}
STRUCTURES: dict[str, type[msgspec.Struct]] = {
    "Table": events.Table,
    "Match": match_rows.Match,
    "Match row": match_rows.MatchRow,
    "Match result": match_rows.MatchResult,
    "Voided race": events.VoidedRace,
    "Settings": events.TableSettings,
    "Seat": events.Seat,
    "Board": events.BoardView,
    "View": events.View,
    "Standing": events.Standing,
    "Outcome": events.Outcome,
    "Result": events.Result,
    "Table summary": TableSummary,
    "Leaderboard row": LeaderboardRow,
}


def sections(level: str, within: str = "") -> dict[str, str]:
    """Return the sections of the page by heading; `within` names a section of the next higher level."""
    text = sections(level[1:])[within] if within else TEXT
    headings = list(re.finditer(rf"^{level} (.+)$", text, re.MULTILINE))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    return {
        heading[1]: text[heading.end() : end] for heading, end in zip(headings, ends, strict=True)
    }


def rows(section: str) -> list[str]:
    """Return the first cell of every row of a section's tables."""
    return re.findall(r"^\| `?([^`|]+?)`? \|", section, re.MULTILINE)


def blocks(section: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def by_tag(chapter: str) -> dict[str, str]:
    headings = list(re.finditer(r"^#### `(.+)`$", sections("##")[chapter], re.MULTILINE))
    text = sections("##")[chapter]
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    return {h[1]: text[h.end() : end] for h, end in zip(headings, ends, strict=True)}


def documented_fields(section: str) -> list[str]:
    return [field for field in rows(section) if field not in ("field", "---")]


def fields(kind: type[msgspec.Struct], common: str) -> list[str]:
    return [field.name for field in msgspec.structs.fields(kind) if field.name != common]


def test_every_subprotocol_is_on_the_page() -> None:
    assert [row for row in rows(sections("##")["Connecting"]) if "." in row] == list(SUBPROTOCOLS)


def test_every_command_is_on_the_page() -> None:
    assert list(by_tag("Commands")) == list(COMMANDS)


def test_every_event_is_on_the_page() -> None:
    assert list(by_tag("Events")) == list(EVENTS)


@pytest.mark.parametrize("tag", COMMANDS)
def test_every_field_of_a_command_is_on_the_page(tag: str) -> None:
    assert documented_fields(by_tag("Commands")[tag]) == fields(COMMANDS[tag], "id")


@pytest.mark.parametrize("tag", EVENTS)
def test_every_field_of_an_event_is_on_the_page(tag: str) -> None:
    assert sorted(documented_fields(by_tag("Events")[tag])) == sorted(fields(EVENTS[tag], "re"))


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_field_of_a_structure_is_on_the_page(name: str) -> None:
    section = sections("###", "Structures")[name]
    assert documented_fields(section) == fields(STRUCTURES[name], "")


def test_every_struct_of_the_events_is_on_the_page() -> None:
    found = {
        kind
        for kind in vars(events).values()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    }
    shown = {*EVENTS.values(), *STRUCTURES.values(), events.Event, msgspec.Struct}
    assert found <= shown


@pytest.mark.parametrize("tag", COMMANDS)
def test_the_example_of_a_command_is_one(tag: str) -> None:
    (example,) = blocks(by_tag("Commands")[tag], "json")
    command = CODECS[JSON].decode_command(example)
    assert msgspec.to_builtins(command) == json.loads(example)
    assert type(command) is COMMANDS[tag]


@pytest.mark.parametrize("tag", EVENTS)
def test_the_example_of_an_event_is_one(tag: str) -> None:
    (example,) = blocks(by_tag("Events")[tag], "json")
    event = CODECS[JSON].decode_event(example)
    assert msgspec.to_builtins(event) == json.loads(example)
    assert type(event) is EVENTS[tag]


@pytest.mark.parametrize("name", STRUCTURES)
def test_the_example_of_a_structure_is_one(name: str) -> None:
    (example,) = blocks(sections("###", "Structures")[name], "json")
    structure = msgspec.json.decode(example, type=STRUCTURES[name])
    assert msgspec.to_builtins(structure) == json.loads(example)


def test_every_refusal_is_on_the_page_with_its_sentence() -> None:
    table = [
        f"| `{reason.code}` | {'yes' if reason.retry else 'no'} | {reason.sentence} |"
        for reason in REASONS.values()
    ]
    shown = re.findall(r"^\| `.*$", sections("##")["Refusals"], re.MULTILINE)
    assert shown == table


def test_every_close_code_is_on_the_page() -> None:
    codes = [code for code in vars(refusals).values() if isinstance(code, CloseCode)]
    shown = re.findall(r"^\| \d.*$", sections("##")["Close codes"], re.MULTILINE)
    assert shown == [f"| {code.code} | {code.reason} |" for code in codes]


def test_the_vector_of_a_fair_deal_is_right() -> None:
    cells = dict(
        re.findall(
            r"^\| ([a-z0-9()' ]+) \| `(.+)` \|$", sections("##")["A fair deal"], re.MULTILINE
        )
    )
    seed = bytes(range(32))
    nonces = {"a" * 16: bytes(16), "b" * 16: bytes(range(16))}
    key = deal_key(seed, "mint-otter-42/3", nonces)
    deals = {name: format_position(deal_for_key(game, key)) for name, game in GAMES.items()}
    assert cells == {
        "commitment": commitment(seed, "canfield", 1, "mint-otter-42", 3, cap=10, public=True),
        "nonce hash of a": nonce_hash(nonces["a" * 16]),
        "nonce hash of b": nonce_hash(nonces["b" * 16]),
        "deal key": key.hex(),
        "block(0)": hmac.digest(key, b"saratoga shuffle 1" + bytes(8), "sha256").hex(),
        "one pack": "".join(shuffled_deck(1, key)),
        "two packs": "".join(shuffled_deck(2, key)),
        # a bar within a cell of a table is written after a backslash
        "klondike's deal": deals["klondike"].replace("|", r"\|"),
        "canfield's deal": deals["canfield"],
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


def test_the_record_on_the_page_verifies() -> None:
    (void,) = blocks(sections("##")["Records"], "void")
    assert verify(void).void is not None
    assert {check.name for check in verify(void).faults} == {"nonces"}, "one is unreadable"
    (text,) = blocks(sections("##")["Records"], "record")
    verdict = verify(text)
    assert verdict.ok, verdict.faults


def test_every_link_on_the_page_leads_somewhere() -> None:
    anchors = {
        re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)]+)\)", TEXT):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        else:
            assert (PAGE.parent / target).exists(), target


def test_the_client_on_the_page_is_short_and_needs_two_packages() -> None:
    (source,) = blocks(sections("##")["A complete client"], "python")
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


def test_chapters_are_listed_in_their_order() -> None:
    listed = re.findall(r"\[([^\]]+)\]\(#[a-z-]+\)", TEXT.split("## ")[0].replace("\n", " "))
    chapters = list(sections("##"))
    places = [chapters.index(name) for name in listed if name in chapters]
    assert all(before < after for before, after in pairwise(places))
    assert set(places) == set(range(len(chapters)))


# The rows of the leaderboards and the page that specifies them


def test_the_page_says_up_to_which_number_rivals_are_counted() -> None:
    (row,) = (line for line in PAGE.read_text().splitlines() if line.startswith("| `rivals` |"))
    assert f"; {MOST_RIVALS}: that many or more" in row


# The public id derived from a token


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
