"""Records as text: one form only, errors that name the line, and a digest over all lines."""

import dataclasses
import hashlib
import re
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_rules.games import GAMES
from saratoga_rules.records.grammar import NEVER_IN_A_NAME
from saratoga_rules.records.lines import MOST_RACERS, RecordError
from saratoga_rules.records.record import (
    LOG_ENDINGS,
    LogLine,
    RaceRecord,
    RacerLog,
    digest_of,
    format_record,
    parse_record,
)
from saratoga_rules.records.standing import State

ANNA = Entrant("Anna", banking, patience=6)
ZOE = Entrant("Zoë Σ", wandering, patience=4, goes=State.LEFT)

RECORD = race("caprice", 0, [ANNA, ZOE])
TEXT = format_record(RECORD)


def edited(old: str, new: str) -> str:
    """Return the record with one change and a matching digest."""
    assert TEXT.count(old) == 1, f"{old!r} stands {TEXT.count(old)} times"
    body = TEXT.replace(old, new).rsplit("digest ", 1)[0]
    right = digest_of(f"{body}digest\n")
    return f"{body}digest {right}\n"


def line_of(part: str) -> int:
    """Return the number of the line that contains `part`."""
    return TEXT[: TEXT.index(part)].count("\n") + 1


@pytest.mark.parametrize("game", GAMES)
def test_a_record_written_and_read_is_the_same_record(game: str) -> None:
    record = race(game, 3, [ANNA, ZOE, Entrant("Cay", banking, bot=True)])
    assert parse_record(format_record(record)) == record


def test_a_record_of_a_chosen_seed_says_so_and_is_not_ranked() -> None:
    record = race("canfield", 1, [ANNA, ZOE], chosen_seed=True)
    assert "\nseed chosen " in format_record(record)
    assert "\nranked no\n" in format_record(record)
    assert parse_record(format_record(record)) == record


@given(
    st.text(st.characters(codec="utf-8", categories=("L", "Nd")), min_size=2, max_size=20).filter(
        lambda name: not re.search(NEVER_IN_A_NAME, name)
    )
)
def test_a_name_may_hold_any_letters(name: str) -> None:
    (racer, *others) = RECORD.racers
    named = dataclasses.replace(RECORD, racers=(dataclasses.replace(racer, name=name), *others))
    text = format_record(named)
    assert text.isascii()
    assert parse_record(text) == named


def test_the_digest_follows_its_written_layout() -> None:
    *lines, last = TEXT.removesuffix("\n").split("\n")
    chain = hashlib.sha256(b"saratoga record digest 1").digest()
    for line in lines:
        chain = hashlib.sha256(chain + line.encode()).digest()
    assert last == f"digest {chain.hex()}"
    assert digest_of(TEXT) == chain.hex()


def test_a_record_has_the_lines_of_the_format() -> None:
    lines = TEXT.split("\n")
    assert lines[0] == "saratoga record 1"
    assert "game caprice" in lines
    assert "race mint-otter-42/1" in lines
    assert "start 1788278400000" in lines
    assert f"deal stock={''.join(RECORD.deal.stock)} waste=- reserve=-" in TEXT


def test_properties_of_a_record() -> None:
    first = RECORD.racers[0]
    assert RECORD.race_id == "mint-otter-42/1"
    assert RECORD.time_allowed == 600_000
    assert dataclasses.replace(RECORD, cap=0).time_allowed is None
    assert RECORD.racer(first.player) is first
    assert RECORD.nonces[first.player].hex() == first.nonce
    with pytest.raises(KeyError):
        RECORD.racer("nobody")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("saratoga record 1", "saratoga record 2", "format 2"),
        ("saratoga record 1", "a novel", "expected "),
        ("game caprice", "game  caprice", "the game"),
        ("rules 1", "rules 01", "the version of the rules"),
        ("start 1788278400000", "start -5", "the start"),
        ("cap 10", "cap ten", "the time limit"),
        ("public yes", "public maybe", "'public yes'"),
        ("cap 10", "cap 7", "the time limit"),
        ("race mint-otter-42/1", "race mint-otter-4/1", "the race"),
        ("race mint-otter-42/1", "race mint-otter-42/0", "the race"),
        ("seed random ", "seed random 00", "the seed"),
        ("deal stock=", "deal stock=1C", "the deal"),
        ("ranked yes", "ranked Yes", "'ranked yes'"),
        (' person "Anna"', " person Anna", "a racer"),
        (' person "Anna"', ' person "An"na"', "a racer"),
        (' person "Anna"', ' person "A"', "a racer"),
        (' person "Anna"', ' person "Anna "', "single spaces"),
        (' person "Anna"', f' person "{"a" * 21}"', "2 to 20 characters"),
        (' person "Anna"', ' person "An\\u00ADna"', "a racer"),
        (' person "Anna"', ' person "An\\u00adna"', "not allowed"),
        (' person "Anna"', ' person "An\\u3164na"', "not allowed"),
        (' person "Anna"', ' person "An\\u001bna"', "a racer"),
        (' person "Anna"', ' person "An\\ud800na"', "not allowed"),
        (' person "Anna"', ' person "An\\u006ea"', "expected "),
        (" cash-out", " cash_out", "an entry"),
        (" cash-out", " cashout", "an entry"),
        (" cash-out", " t1>t2:1", "an entry"),
        (" cash-out", " t01>t2", "an entry"),
    ],
)
def test_an_error_names_its_line(old: str, new: str, said: str) -> None:
    with pytest.raises(RecordError) as refused:
        parse_record(edited(old, new))
    assert said in str(refused.value)
    assert refused.value.line == line_of(old)
    assert str(refused.value).startswith(f"line {line_of(old)}: ")


def test_a_wrong_count_of_moves_is_refused() -> None:
    racer = RECORD.racers[0]
    ending = f"ended {racer.banked} {racer.moves} {racer.state}"
    wrong = f"ended {racer.banked} {racer.moves + 1} {racer.state}"
    with pytest.raises(RecordError, match=ending):
        parse_record(edited(ending, wrong))


def test_racers_are_ordered_by_id() -> None:
    backwards = dataclasses.replace(RECORD, racers=RECORD.racers[::-1])
    with pytest.raises(RecordError, match="ordered by id"):
        parse_record(format_record(backwards))


def crowd(size: int) -> RaceRecord:
    names = [letter * 16 for letter in ascii_lowercase[:size]]
    racers = tuple(dataclasses.replace(RECORD.racers[0], player=name) for name in names)
    return dataclasses.replace(RECORD, racers=racers)


def test_a_record_has_as_many_racers_as_a_table_has_seats_and_no_more() -> None:
    assert parse_record(format_record(crowd(MOST_RACERS))) == crowd(MOST_RACERS)
    text = format_record(crowd(MOST_RACERS + 1))
    with pytest.raises(RecordError, match="more than 16 racers") as refused:
        parse_record(text)
    assert f"racer {'q' * 16} " in text.split("\n")[refused.value.line - 1]


def test_a_player_cannot_be_in_a_record_twice() -> None:
    twice = dataclasses.replace(RECORD, racers=RECORD.racers[:1] * 2)
    with pytest.raises(RecordError, match="ordered by id"):
        parse_record(format_record(twice))


@pytest.mark.parametrize("text", ["", "\n", TEXT[:-1], TEXT + "\n", "\n" + TEXT, TEXT + TEXT])
def test_a_text_with_more_or_less_than_a_record_is_refused(text: str) -> None:
    with pytest.raises(RecordError):
        parse_record(text)


@given(st.integers(0, 10**6))
def test_a_truncated_record_is_refused(length: int) -> None:
    with pytest.raises(RecordError):
        parse_record(TEXT[: length % len(TEXT)])


@given(st.text())
def test_any_text_is_a_record_or_raises_record_error(text: str) -> None:
    with pytest.raises(RecordError):
        parse_record(text)


def test_every_ending_that_the_position_does_not_show_has_a_word() -> None:
    assert set(LOG_ENDINGS.values()) == set(State) - {State.RACING, State.WON}


def racer_log(*entries: str) -> RacerLog:
    return dataclasses.replace(
        RECORD.racers[0],
        log=tuple(LogLine(at, at + 1, text) for at, text in enumerate(entries)),
    )


def test_only_moves_are_counted_as_moves() -> None:
    assert racer_log("draw", "t1>up", "stuck").moves == 2
