"""Timers of tables: each table is taken once, in the order in which the timers run out."""

import asyncio
import tracemalloc

import pytest

from kit.stepped_store import InventedTime
from kit.tables import NOON, after
from saratoga_server.clock import ServerClock
from saratoga_server.live.due_tables import DueTables
from saratoga_server.ports import Millis

FIRST, SECOND, THIRD = "mint-otter-42", "odd-emu-11", "red-fox-77"


class Store:
    """A store that has only a clock."""

    def __init__(self, time: InventedTime) -> None:
        self.time = time

    async def now(self) -> Millis:
        return Millis(self.time.at)


@pytest.fixture
def time() -> InventedTime:
    return InventedTime()


@pytest.fixture
async def due_tables(time: InventedTime) -> DueTables:
    clock = ServerClock(Store(time).now, time.steady)
    await clock.synchronise()
    return DueTables(clock)


def all_due(due_tables: DueTables) -> list[str]:
    """Take all tables that are due; return their codes."""
    return list(iter(due_tables.take_due, None))


def test_a_timer_is_due_when_its_moment_has_come(time: InventedTime, due_tables: DueTables) -> None:
    due_tables.set(FIRST, after(1000))
    assert due_tables.take_due() is None
    time.at += 999
    assert due_tables.take_due() is None
    time.at += 1
    assert due_tables.take_due() == FIRST
    assert due_tables.take_due() is None, "each is taken once"


def test_timers_are_taken_in_the_order_in_which_they_run_out(
    time: InventedTime, due_tables: DueTables
) -> None:
    for code, millis in ((THIRD, 300), (FIRST, 100), (SECOND, 200)):
        due_tables.set(code, after(millis))
    time.at += 250
    assert all_due(due_tables) == [FIRST, SECOND]
    time.at += 50
    assert all_due(due_tables) == [THIRD]


def test_a_table_has_one_timer_the_one_set_last(time: InventedTime, due_tables: DueTables) -> None:
    due_tables.set(FIRST, after(100))
    due_tables.set(FIRST, after(300))
    due_tables.set(SECOND, after(300))
    due_tables.set(SECOND, after(100))
    due_tables.set(SECOND, after(100))
    time.at += 100
    assert all_due(due_tables) == [SECOND]
    time.at += 200
    assert all_due(due_tables) == [FIRST]


def test_a_timer_can_be_removed(time: InventedTime, due_tables: DueTables) -> None:
    due_tables.set(FIRST, after(100))
    due_tables.set(FIRST, None)
    due_tables.set(SECOND, None)
    time.at += 1000
    assert all_due(due_tables) == []


def test_a_table_can_be_due_at_once_whatever_its_timer(
    time: InventedTime, due_tables: DueTables
) -> None:
    due_tables.set(FIRST, after(100))
    due_tables.set_now(FIRST)
    due_tables.set(FIRST, after(200))
    due_tables.set_now(SECOND)
    due_tables.set(SECOND, None)
    assert all_due(due_tables) == [FIRST]
    time.at += 200
    assert all_due(due_tables) == [FIRST], "its timer is as it was set"


def test_a_timer_that_is_often_put_off_takes_no_memory(
    time: InventedTime, due_tables: DueTables
) -> None:
    due_tables.set(SECOND, after(5))
    tracemalloc.start()
    try:
        for millis in range(20_000):
            due_tables.set(FIRST, after(7_200_000 + millis))
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 500_000, "a hundred bytes for each would be two million"
    time.at += 5
    assert all_due(due_tables) == [SECOND]
    time.at += 7_200_000 + 20_000
    assert all_due(due_tables) == [FIRST]


async def test_a_wait_ends_when_the_next_table_becomes_due(due_tables: DueTables) -> None:
    due_tables.set(FIRST, after(3_600_000))
    waiting = asyncio.create_task(due_tables.wait())
    await asyncio.sleep(0)
    assert not waiting.done()
    due_tables.set(SECOND, NOON)
    async with asyncio.timeout(20):
        await waiting
    assert all_due(due_tables) == [SECOND]


async def test_a_wait_ends_when_a_timer_runs_out() -> None:
    clock = ServerClock(RealTime().now)
    await clock.synchronise()
    due_tables = DueTables(clock)
    due_tables.set(FIRST, Millis(clock.now() + 20))
    async with asyncio.timeout(20):
        await due_tables.wait()
    assert all_due(due_tables) == [FIRST]


class RealTime:
    """A store whose clock begins at noon."""

    async def now(self) -> Millis:
        return NOON
