"""Records: their text, the boards and heads that follow from them, and the order of finish."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from itertools import product
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.positions import banking, wandering
from kit.races import BEFORE, Entrant, closed, countdown_voided, race, replay, sealed
from saratoga_rules.analysis import legal_moves
from saratoga_rules.games import GAMES
from saratoga_rules.records import record as forms
from saratoga_rules.records.digest_words import WORDS, digest_words, parse_digest_words
from saratoga_rules.records.heads import heads, shown
from saratoga_rules.records.record import (
    NEVER_IN_A_NAME,
    VOID_REASONS,
    LogLine,
    RaceRecord,
    RecordError,
    digest_of,
    format_record,
    parse_record,
)
from saratoga_rules.records.replay import ReplayError
from saratoga_rules.records.standing import (
    RacerScore,
    Reached,
    State,
    last_reached,
    may_be_ranked,
    ranking,
)
from saratoga_rules.records.verify import verify

PAGE = Path(__file__).parents[3].joinpath("protocol/FAIRNESS.md").read_text(encoding="utf-8")

ANNA = Entrant("Anna", banking, patience=6)
ZOE = Entrant("Zoë Σ \U00020000", wandering, patience=4, goes=State.LEFT)
CAY = Entrant("Cay", banking, bot=True)

RECORD = race("caprice", 1, [ANNA, ZOE], previous=BEFORE)
TEXT = format_record(RECORD)
CLOSED = closed(race("canfield", 3, [ANNA, ZOE, CAY]), 9, damaged="416e6e61416e6e61")
VOIDS = [*(countdown_voided(RECORD, reason) for reason in VOID_REASONS if reason != "closed")]
RUNS = tuple(
    replace(racer, nonce="", nonce_hash="", started=RECORD.start_at) for racer in RECORD.racers
)
OPEN = replace(
    RECORD,
    kind="day",
    table="day/caprice/2026-09-01",
    race=1,
    previous=None,
    ranked=False,
    closes=RECORD.start_at + 1,
    racers=RUNS,
)
OPENS = [OPEN, replace(OPEN, kind="known", table="abcdefghijklmnop", commitment="")]
EVERY_KIND = [
    *(race(game, 3, [ANNA, ZOE, CAY]) for game in GAMES),
    *(RECORD, CLOSED, *VOIDS, *OPENS),
]


def edited(old: str, new: str, text: str = TEXT) -> str:
    """Return the record with one change and a matching digest."""
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    return sealed(text.replace(old, new).split("\n")[:-2])


def line_of(part: str) -> int:
    """Return the number of the line that contains `part`."""
    return TEXT[: TEXT.index(part)].count("\n") + 1


# One form


@pytest.mark.parametrize("record", EVERY_KIND, ids=lambda each: f"{each.game} {each.voided}")
def test_a_record_written_and_read_is_the_same_record(record: RaceRecord) -> None:
    assert parse_record(format_record(record)) == record


@given(
    st.text(st.characters(codec="utf-8", categories=("L", "Nd")), min_size=1, max_size=20).filter(
        lambda name: not re.search(NEVER_IN_A_NAME, name)
    )
)
def test_a_name_may_hold_any_letters(name: str) -> None:
    (racer, *others) = RECORD.racers
    named = replace(RECORD, racers=(replace(racer, name=name), *others))
    text = format_record(named)
    assert text.isascii()
    assert parse_record(text) == named


def test_lines_of_a_newer_release_are_kept_but_not_read() -> None:
    lines = TEXT.split("\n")[:-2]
    first_racer = next(at for at, line in enumerate(lines) if line.startswith("racer "))
    for at in (1, 3, first_racer):
        text = sealed([*lines[:at], "moon full (and bright)", *lines[at:]])
        record = parse_record(text)
        assert replace(record, ignored=()) == RECORD
        assert format_record(record) == text
    for line in ("Moon full", "moon", "moon \x7f", "nonce x", f"moon {'x' * 401}"):
        with pytest.raises(RecordError):
            parse_record(sealed([*lines[:first_racer], line, *lines[first_racer:]]))
    with pytest.raises(RecordError, match="expected the nonce, found 'moon full'"):
        parse_record(sealed([*lines[: first_racer + 1], "moon full", *lines[first_racer + 1 :]]))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("saratoga record 2", "a novel", "expected a record"),
        ("game caprice", "game  caprice", "'game'"),
        ("rules 1", "rules 01", "'rules'"),
        ("race mint-otter-42/2", "race mint-otter-4/1", "'race'"),
        ("race mint-otter-42/2", "race mint-otter-42/0", "'race'"),
        ("previous mint", "previous Mint", "'previous'"),
        ("start 1788278400001", "start -5", "'start'"),
        ("cap 10", "cap ten", "'cap'"),
        ("public yes", "public maybe", "'public'"),
        ("ranked yes", "ranked Yes", "'ranked'"),
        ("seed ", "seed 00", "'seed'"),
        ("deal stock=", "deal stock=1C", "1C"),
        (' person "Anna"', " person Anna", "a racer"),
        (' person "Anna"', ' person "An"na"', "a racer"),
        (' person "Anna"', ' person "An\\u00ADna"', "a racer"),
        (' person "Anna"', ' person "An\\u00adna"', "characters that no name has"),
        (' person "Anna"', ' person "An\\u3164na"', "characters that no name has"),
        (' person "Anna"', ' person "An\\u001bna"', "a racer"),
        (' person "Anna"', ' person "An\\ud800na"', "characters that no name has"),
        (' person "Anna"', ' person "An\\u006ea"', "a racer"),
        (" cash-out\nracer", " cash_out\nracer", "an entry"),
        (" cash-out\nracer", " cash-out\ndamaged\nracer", "expected a racer"),
    ],
)
def test_an_error_names_its_line(old: str, new: str, said: str) -> None:
    with pytest.raises(RecordError) as refused:
        parse_record(edited(old, new))
    assert said in str(refused.value)
    line = line_of(old) + ("\ndamaged" in new)
    assert str(refused.value).startswith(f"line {line}: ")


# The page


def block(kind: str) -> list[str]:
    """Return the lines of the page's blocks of this kind."""
    texts = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return "".join(texts).splitlines()


PARTS = dict(line.split(" = ") for line in block("grammar"))
LINES = [
    re.compile(re.sub("[A-Z][A-Z_]+", lambda word: PARTS.get(word[0], word[0]), line))
    for line in (line.partition("  #")[0].rstrip() for line in block("lines"))
]


def has_form(text: str) -> bool:
    """Return whether every line matches a pattern of the page, and the last line ends."""
    *written, rest = text.split("\n")
    return not rest and all(any(line.fullmatch(word) for line in LINES) for word in written)


@pytest.mark.parametrize("name", PARTS)
def test_every_part_on_the_page_is_that_of_the_code(name: str) -> None:
    part = str(getattr(forms, name)).replace("(?:", "(").replace(r"\"", '"')
    assert part == PARTS[name]


def test_the_page_lists_the_characters_that_no_name_has() -> None:
    listed = set[int]()
    sentence = " ".join(PAGE.split()).split("A name has no character in ")[1].split(". ")[0]
    for first, last in re.findall("U[+]([0-9A-F]{4,5})(?:-([0-9A-F]{4}))?", sentence):
        listed.update(range(int(first, 16), int(last or first, 16) + 1))
    listed.update(range(0xE0000, 0x110000))
    never = re.compile(NEVER_IN_A_NAME)
    assert listed == {code for code in range(0x110000) if never.match(chr(code))}


@pytest.mark.parametrize("record", EVERY_KIND, ids=lambda each: f"{each.game} {each.voided}")
def test_every_record_has_the_form_of_the_page(record: RaceRecord) -> None:
    assert has_form(format_record(record))


_Put = str | Callable[[re.Match[str]], str]

LOOSE: Final[tuple[tuple[str, _Put], ...]] = (
    ("([0-9]+)", r"0\1"),
    ("([0-9]+)", r"+\1"),
    ("([0-9]+)", r"\g<1>.0"),
    ("([0-9]+)", r"-0\1"),
    ("([0-9])", "\uff11"),
    ("([0-9]+)", r"\g<1>0000000000000000"),
    (" ", "  "),
    (" ", "\t"),
    ("$", " "),
    ("$", "\r"),
    ("$", "\n"),
    ("^", " "),
    ("^", "\ufeff"),
    ("([a-f])", lambda found: found[1].upper()),
    ("u00([a-f]+)", lambda found: f"u00{found[1].upper()}"),
    ('"', "'"),
    ('"(.)', r'"\\u0041'),
    ('"(.)', r'"\\n'),
    ("([a-z])", lambda found: found[1].upper()),
    (">t([0-9])", r">t0\1"),
    ("(>t[0-9]+)$", r"\1:1"),
    ("([a-z]+)-([a-z]+)-([0-9]+)", r"\1-\2-4"),
    ("[|]", "||"),
    ("/[A-Z0-9]+[|]", "/-|"),
    ("columns=", "columns=|"),
)
"""Changes that leave the meaning, or nearly: a pattern and its replacement."""


def loosened(line: str, sought: str, put: _Put) -> str:
    """Return the line with the first place that fits replaced; unchanged if there is none, or in a name."""
    name = line.find('"') if line.startswith("racer ") else -1
    found = re.search(sought, line)
    is_another_name = found is not None and 0 <= name < found.start() and '"' not in found[0]
    return line if is_another_name else re.sub(sought, put, line, count=1)


@pytest.mark.parametrize(
    "text",
    [
        format_record(race("lafayette", 1, [ANNA, ZOE], previous=BEFORE)),
        format_record(race("klondike", 1, [ANNA, ZOE])),
        format_record(CLOSED),
    ],
    ids=["race", "race with face-down cards", "voided race"],
)
def test_no_other_form_is_accepted_though_the_digest_fits(text: str) -> None:
    lines = text.split("\n")[:-2]
    chance = Random("loose forms")
    places = sorted({*range(16), *chance.sample(range(len(lines)), min(12, len(lines)))})
    tried = 0
    for place, (sought, put) in product([each for each in places if each < len(lines)], LOOSE):
        changed = loosened(lines[place], sought, put)
        if changed == lines[place]:
            continue
        tried += 1
        forged = sealed([*lines[:place], changed, *lines[place + 1 :]])
        assert verify(forged).is_contradicted, changed
    assert tried > 100
    for forged in (
        text.replace("\n", "\r\n"),
        text[:-1],
        text + "\n",
        "\n" + text,
        text[:-65] + text[-65:].upper(),
    ):
        assert verify(forged).is_contradicted


# The digest, and four words for it


def test_the_digest_follows_its_written_layout() -> None:
    *lines, last = TEXT.removesuffix("\n").split("\n")
    chain = hashlib.sha256(b"saratoga record digest 2").digest()
    for line in lines:
        chain = hashlib.sha256(chain + line.encode()).digest()
    assert last == f"digest {chain.hex()}"
    assert digest_of(TEXT) == chain.hex()


def test_the_words_are_short_plain_and_differ_in_four_letters() -> None:
    assert len(WORDS) == 1024
    assert list(WORDS) == sorted(WORDS)
    assert len({word[:4] for word in WORDS}) == 1024
    assert all(re.fullmatch("[a-z]{3,5}", word) for word in WORDS)
    assert hashlib.sha256(" ".join(WORDS).encode()).hexdigest() in PAGE


def test_forty_bits_of_the_digest_count() -> None:
    digest = "0123456789" + "0" * 54
    words = digest_words(digest)
    assert digest_words(digest[:10] + "f" * 54) == words
    for place in range(10):
        other = digest[:place] + "f" + digest[place + 1 :]
        assert digest_words(other) != words


def test_words_are_understood_as_people_type_them() -> None:
    words = digest_words("0123456789" + "0" * 54)
    assert words == "actor-merry-fresh-tone"
    for typed in ("ACTOR merry Fresh tone", "acto-merr-fres-tone", " actor - merry-fresh tone "):
        assert parse_digest_words(typed) == words


@pytest.mark.parametrize("typed", ["", "actor-merry-fresh", "act-merry-fresh-tone", "a b c d e"])
def test_other_words_are_refused(typed: str) -> None:
    with pytest.raises(ValueError, match="word"):
        parse_digest_words(typed)


FILES = sorted((Path(__file__).parent).glob("*.record"))
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)

RACE = race("canfield", 5, [Entrant("Anna", banking), Entrant("Ben", wandering, patience=9)])
RACER, BEN = RACE.racers


@cache
def recorded(path: Path) -> RaceRecord:
    return parse_record(path.read_bytes().decode("ascii"))


@every_file
def test_a_recorded_race_verifies(path: Path) -> None:
    verdict = verify(path.read_bytes())
    assert verdict.ok, verdict.faults


@every_file
def test_a_recorded_race_is_written_byte_for_byte(path: Path) -> None:
    assert format_record(recorded(path)).encode() == path.read_bytes()


def test_a_move_against_the_rules_is_named() -> None:
    assert "r>t1" not in map(str, legal_moves(GAMES["canfield"], RACE.opening))
    cheated = replace(RACER, log=(LogLine(1, 1, "r>t1"), *RACER.log))
    with pytest.raises(ReplayError, match="entry 1: r>t1: "):
        replay(replace(RACE, racers=(cheated, BEN)), RACER.player)


KEY = bytes(range(32))
RACE_ID, PLAYER = "mint-otter-42/3", "abcdefghijklmnop"
LOG = (LogLine(1186, 16, "r>up"), LogLine(9120, 40, "t1>t2x3"), LogLine(9120, 41, "stuck"))


def hashed(message: bytes) -> bytes:
    return blake2b(message, digest_size=32, key=KEY).digest()


FIRST = hashed(
    b"\x00\x00\x00\x0fsaratoga head 1\x00\x00\x00\x0fmint-otter-42/3\x00\x00\x00\x10abcdefghijklmnop"
)
MOVED = hashed(
    b"\x00\x00\x00\x20" + FIRST + b"\x00\x00\x00\x010\x00\x00\x00\x010\x00\x00\x00\x04r>up"
)
AGAIN = hashed(
    b"\x00\x00\x00\x20" + MOVED + b"\x00\x00\x00\x041186\x00\x00\x00\x0216\x00\x00\x00\x07t1>t2x3"
)
ENDED = hashed(
    b"\x00\x00\x00\x20" + AGAIN + b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05stuck"
)


def test_the_heads_of_a_log_are_as_they_are_written_down() -> None:
    assert heads(KEY, RACE_ID, PLAYER, LOG) == [
        head[:8].hex() for head in (FIRST, MOVED, AGAIN, ENDED)
    ]
    assert shown(FIRST) == "0fd0e7f48694b269"


# The order of finish, and the tie-breaks


CANFIELD = GAMES["canfield"]


def racer(
    player: str, banked: int, at: int | None = None, number: int = 1, state: State = State.STUCK
) -> RacerScore:
    reached = None if at is None else Reached(at, number)
    return RacerScore(player=player, banked=banked, state=state, reached=reached)


@pytest.mark.parametrize(
    ("counts", "reached"),
    [
        ([2, 3, 2, 3, 3], 4),
        ([2, 3, 2], 1),
        ([], None),
        ([1], None),
        ([2, 1], None),
    ],
    ids=["its last rise", "the older one after a take-back", "the deal", "no rise", "fallen back"],
)
def test_a_count_is_reached_when_it_last_rose_to_it(counts: list[int], reached: int | None) -> None:
    """The deal has one card, and each entry the number of its place."""
    log = [(banked, Reached(10 * number, number)) for number, banked in enumerate(counts, 1)]
    assert last_reached(1, log) == (reached and Reached(10 * reached, reached))


racers = st.lists(
    st.builds(
        racer,
        st.text("abcd", min_size=1, max_size=4),
        st.integers(0, 3),
        st.none() | st.integers(0, 3),
        st.integers(1, 3),
    ),
    unique_by=lambda one: one.player,
    max_size=6,
)


@given(racers, st.randoms())
def test_the_order_does_not_depend_on_the_order_of_the_input(
    field: list[RacerScore], chance: Random
) -> None:
    shuffled = list(field)
    chance.shuffle(shuffled)
    assert ranking(CANFIELD, shuffled) == ranking(CANFIELD, field)


@given(racers)
def test_a_place_is_one_more_than_the_number_of_racers_ahead(field: list[RacerScore]) -> None:
    merits = {one.player: (-one.banked, one.reached or Reached(-1, 0)) for one in field}
    for row in ranking(CANFIELD, field):
        assert row.place == 1 + sum(merit < merits[row.player] for merit in merits.values())


# Which races may count for the leaderboards


@pytest.mark.parametrize(
    ("cap", "racers", "may_be"),
    [(10, 2, True), (10, 1, False), (0, 2, False)],
    ids=["open", "alone", "no time limit"],
)
def test_a_race_counts_with_a_time_limit_and_two_racers(
    cap: int, racers: int, may_be: bool
) -> None:
    assert may_be_ranked(cap=cap, racers=racers) is may_be
