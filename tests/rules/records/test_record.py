"""Records as text: one form only, errors that name the line, a digest, and words for it."""

import dataclasses
import hashlib
import re
from pathlib import Path
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_rules.games import GAMES
from saratoga_rules.records.digest_words import WORDS, digest_words, parse_digest_words
from saratoga_rules.records.grammar import NEVER_IN_A_NAME
from saratoga_rules.records.lines import MOST_RACERS, RecordError, RecordReader
from saratoga_rules.records.record import (
    RaceRecord,
    digest_of,
    format_record,
    parse_record,
)
from saratoga_rules.records.standing import State

# Records as text: one form only, errors that name the line, and a digest over all lines


# Records as text: one form only, errors that name the line, and a digest over all lines


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
    racer, words = RECORD.racers[0], "cashed out"
    ending = f"ended {racer.banked} {racer.moves} {words}"
    wrong = f"ended {racer.banked} {racer.moves + 1} {words}"
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


# Tests of the reader of record lines


ANYTHING = re.compile(".*")
NUMBER = re.compile("([0-9]+)")


def test_a_line_that_is_not_the_expected_one_is_named_and_not_taken() -> None:
    reader = RecordReader("12\nthree")
    reader.take(NUMBER, "a number")
    with pytest.raises(RecordError, match="line 2: expected a number, found 'three'"):
        reader.take(NUMBER, "a number")
    assert reader.line == "three"


def test_an_error_at_the_end_of_the_text_says_so() -> None:
    reader = RecordReader("12")
    reader.take(NUMBER, "a number")
    assert reader.line == ""
    with pytest.raises(RecordError, match="line 2: expected a number, found the end of the text"):
        reader.take(NUMBER, "a number")


def test_only_a_line_feed_ends_a_line() -> None:
    reader = RecordReader("one\r\x0b\x0c\x85\u2028two\nthree")
    assert reader.line == "one\r\x0b\x0c\x85\u2028two"


# Four words of a digest: the list, the derivation, and words as people type them


PAGE = (Path(__file__).parents[3] / "protocol" / "FAIRNESS.md").read_text(encoding="utf-8")


def test_the_words_are_short_plain_and_differ_in_four_letters() -> None:
    assert len(WORDS) == 1024
    assert list(WORDS) == sorted(WORDS)
    assert len({word[:4] for word in WORDS}) == 1024
    assert all(re.fullmatch("[a-z]{3,5}", word) for word in WORDS)


def test_the_page_names_this_list_and_these_words() -> None:
    assert hashlib.sha256(" ".join(WORDS).encode()).hexdigest() in PAGE
    for start, words in re.findall(r"\| `([0-9a-f]{16})\.\.` \| `([a-z-]+)` \|", PAGE):
        assert digest_words(start * 4) == words


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
