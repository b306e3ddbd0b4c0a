"""A board's log in columns reads as a list of entries does."""

import sys

import pytest

from saratoga_server.domain.board_log import Log
from saratoga_server.ports import LogEntry, Millis

NOON = 1_760_000_000_000

ENTRIES = [
    LogEntry("draw", Millis(NOON), 1, 7),
    LogEntry("t1>up", Millis(NOON + 900), 4, 8),
    LogEntry("stuck", Millis(NOON + 900), 5, 8),
]


def test_what_was_appended_is_read_again() -> None:
    log = Log()
    assert not log
    for entry in ENTRIES:
        log.append(entry)
    assert len(log) == 3
    assert list(log) == ENTRIES
    assert (log[0], log[-1]) == (ENTRIES[0], ENTRIES[-1])
    assert list(log.texts()) == ["draw", "t1>up", "stuck"]
    with pytest.raises(IndexError):
        log[3]


def test_two_logs_are_the_same_if_their_entries_are() -> None:
    assert Log(ENTRIES) == Log(ENTRIES)
    assert Log(ENTRIES) != Log(ENTRIES[:2])
    assert Log(ENTRIES) != ENTRIES


def test_a_copy_goes_its_own_way() -> None:
    log = Log(ENTRIES[:1])
    copied = log.copy()
    copied.append(ENTRIES[1])
    assert (list(log), list(copied)) == (ENTRIES[:1], ENTRIES[:2])


def test_the_newest_entry_of_a_command_is_found() -> None:
    log = Log(ENTRIES)
    assert log.of_command(8) == ENTRIES[2]
    assert log.of_command(7) == ENTRIES[0]
    assert log.of_command(9) is None


def test_an_entry_takes_no_more_than_its_numbers() -> None:
    few, many = Log(), Log()
    for number in range(4000):
        # made anew each time, as texts and numbers that were read from a frame are
        many.append(LogEntry("-".join(("t1>", "t2")), Millis(NOON + number), number, 5000 + number))
    columns = Log.__slots__
    grown = sum(
        sys.getsizeof(getattr(many, each)) - sys.getsizeof(getattr(few, each)) for each in columns
    )
    assert grown / 4000 < 40
    assert len({id(text) for text in many.texts()}) == 1
