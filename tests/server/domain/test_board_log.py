"""A board's log: stored as columns, read like a list of entries."""

import tracemalloc

import pytest

from saratoga_server.domain.board_log import BoardLog
from saratoga_server.ports import LogEntry, Millis

NOON = 1_760_000_000_000

ENTRIES = [
    LogEntry("draw", Millis(NOON), 1, 7),
    LogEntry("t1>up", Millis(NOON + 900), 4, 8),
    LogEntry("stuck", Millis(NOON + 900), 5, 8),
]


def test_what_was_appended_is_read_again() -> None:
    log = BoardLog()
    assert not log
    for entry in ENTRIES:
        log.append(entry)
    assert len(log) == 3
    assert list(log) == ENTRIES
    assert (log[0], log[-1]) == (ENTRIES[0], ENTRIES[-1])
    with pytest.raises(IndexError):
        log[3]


def test_two_logs_are_equal_if_their_entries_are() -> None:
    assert BoardLog(ENTRIES) == BoardLog(ENTRIES)
    assert BoardLog(ENTRIES) != BoardLog(ENTRIES[:2])
    assert BoardLog(ENTRIES) != ENTRIES


def test_a_copy_changes_by_itself() -> None:
    log = BoardLog(ENTRIES[:1])
    copied = log.copy()
    copied.append(ENTRIES[1])
    assert (list(log), list(copied)) == (ENTRIES[:1], ENTRIES[:2])


def test_the_move_of_a_command_is_found_also_if_an_ending_followed_it() -> None:
    log = BoardLog(ENTRIES)
    assert log.of_command(8) == ENTRIES[1]
    assert log.of_command(7) == ENTRIES[0]
    assert log.of_command(9) is None


def test_an_entry_takes_no_more_memory_than_its_numbers() -> None:
    log, entries = BoardLog(), 4000
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(entries):
        # new objects each time, like the texts and numbers that are decoded from a frame
        log.append(LogEntry("-".join(("t1>", "t2")), Millis(NOON + number), number, 5000 + number))
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (after - before) / entries < 40
    assert len({id(entry.text) for entry in log}) == 1
