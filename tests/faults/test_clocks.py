"""Clocks of stores that are wrong, stepped or different: nothing is lost, and no race hangs."""

import asyncio
import time
from pathlib import Path

import pytest

from kit.running_race import CODE, move, running_race
from kit.stepping_clocks import SteppingClock
from kit.stores import StoreServer
from saratoga_server.live.sweeper import Sweeper
from saratoga_server.ports import CommitStatus, StoreRefused
from saratoga_server.store.opening import open_store

DAY = 24 * 60 * 60
WITHIN = 20.0

valkey = pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)
"""The store that libfaketime can run."""


def stepping(server: StoreServer, folder: Path, offset: int) -> SteppingClock | None:
    """Restart the store with a clock that can be stepped; `None` on a machine without libfaketime."""
    clock = SteppingClock(folder / "clock")
    server.before = list(clock.before_program)
    if not server.before:
        return None
    clock.set(offset)
    server.kill()
    server.start()
    return clock


async def step(clock: SteppingClock, server: StoreServer, offset: int) -> None:
    """Set the store's clock that many seconds ahead of the true time; wait until the store shows it."""
    clock.set(offset)
    async with asyncio.timeout(WITHIN):
        while True:
            seconds = int(server.ask_all("TIME").split(b"\r\n")[2])
            if abs(seconds - time.time() - offset) < 60:
                return
            await asyncio.sleep(0.02)


@valkey
async def test_a_store_whose_clock_is_wrong_is_refused_until_it_is_right(
    mortal_store: StoreServer, tmp_path: Path
) -> None:
    clock = stepping(mortal_store, tmp_path, -50 * 365 * DAY)
    if clock is None:
        return
    with pytest.raises(StoreRefused, match=r"The store's clock is wrong: it shows 19"):
        async with open_store(mortal_store.url):
            pass
    await step(clock, mortal_store, 0)
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        await step(clock, mortal_store, -2 * DAY)
        await store.guard.check()
        assert "its newest data are of" in str(store.guard.why_refused)
        await step(clock, mortal_store, 0)
        await store.guard.check()
        [outcome] = await race.commit(move("draw", 0))
        assert outcome.status is CommitStatus.DONE


@valkey
@pytest.mark.parametrize("is_one_machine", [False, True], ids=["another machine", "one machine"])
async def test_a_clock_a_hundred_days_ahead_for_a_while_deletes_nothing(
    mortal_store: StoreServer, tmp_path: Path, is_one_machine: bool
) -> None:
    clock = stepping(mortal_store, tmp_path, 0)
    if clock is None:
        return
    async with open_store(mortal_store.url) as store:

        def wall() -> float:
            return time.time() + (clock.offset if is_one_machine else 0)

        sweeper = Sweeper(store.retention, wall)
        race = await running_race(store)
        await race.commit(move("draw", 0))
        await sweeper.sweep()
        await step(clock, mortal_store, 100 * DAY)
        await sweeper.sweep()
        await race.commit(move("w>t1", 1))
        # the ledger has the wrong time now, so the right time needs an administrator
        await store.guard.check()
        await step(clock, mortal_store, 0)
        await sweeper.sweep()
        await store.guard.check()
        assert "accept-clock" in str(store.guard.why_refused)
    async with open_store(mortal_store.url, is_guarded=False) as store:
        await Sweeper(store.retention).sweep()
        assert await store.tables.load_table(CODE) is not None
        board = await store.boards.load_board(CODE, 1, "annaannaannaanna")
        assert board is not None
        assert [entry.text for entry in board.entries] == ["draw"], "the cap was over by that clock"
