"""Clocks of stores that are wrong, stepped or different: nothing is lost, and no race hangs."""

import asyncio
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from kit.in_process_server import counted_down, gathered
from kit.player_sockets import player_at
from kit.running_race import CODE, move, running_race
from kit.server_process import running_server
from kit.stepping_clocks import SteppingClock
from kit.stores import StoreServer
from saratoga_protocol.events import Dealt
from saratoga_server.__main__ import main
from saratoga_server.live.sweeper import Sweeper
from saratoga_server.ports import CommitStatus, StoreRefused
from saratoga_server.store import ledger
from saratoga_server.store.opening import open_store

HOUR = 60 * 60
DAY = 24 * HOUR
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
    mortal_store: StoreServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_one_machine: bool,
) -> None:
    clock = stepping(mortal_store, tmp_path, 0)
    if clock is None:
        return
    async with open_store(mortal_store.url) as store:

        def wall() -> float:
            return time.time() + (clock.offset if is_one_machine else 0)

        monkeypatch.setattr(ledger, "time", wall)
        sweeper = Sweeper(store.retention, wall)
        race = await running_race(store)
        await race.commit(move("draw", 0))
        await sweeper.sweep()
        await step(clock, mortal_store, 100 * DAY)
        await sweeper.sweep()
        await race.commit(move("w>t1", 1))
        await store.guard.check()
        assert store.guard.why_refused is None
        await step(clock, mortal_store, 0)
        await sweeper.sweep()
        await store.guard.check()
        # the ledger does not have the wrong time
        assert store.guard.why_refused is None
        await step(clock, mortal_store, 500 * DAY)
        await store.guard.check()
        assert "more than 400 days before" in str(store.guard.why_refused)
        words = ["admin", "--redis", mortal_store.url, "accept-clock"]
        accepted = await asyncio.to_thread(CliRunner().invoke, main, words)
        assert accepted.output.startswith("The clock is accepted")
        await store.guard.check()
        assert store.guard.why_refused is None
    async with open_store(mortal_store.url, is_guarded=False) as store:
        await Sweeper(store.retention).sweep()
        assert await store.tables.load_table(CODE) is not None
        board = await store.boards.load_board(CODE, 1, "annaannaannaanna")
        assert board is not None
        assert [entry.text for entry in board.entries] == ["draw"], "the cap was over by that clock"


@valkey
async def test_a_clock_set_back_by_an_hour_in_the_countdown_delays_the_race_by_seconds(
    mortal_store: StoreServer, tmp_path: Path
) -> None:
    clock = stepping(mortal_store, tmp_path, 0)
    if clock is None:
        return
    async with (
        running_server("--redis", mortal_store.url) as server,
        player_at(server.url, "Anna") as anna,
        player_at(server.url, "Bert") as bert,
    ):
        await gathered(anna, bert)
        await counted_down(anna, bert)
        clock.set(-HOUR)
        for racer in (anna, bert):
            dealt = await racer.received.next(Dealt, 0)
            assert abs(dealt.now - (time.time() - HOUR) * 1000) < 60_000
            assert 0 <= dealt.now - dealt.start_at < 1_000
            await racer.moves("draw")
        [stepped] = [each for each in server.events() if each["event"] == "clock_stepped"]
        assert round(stepped["seconds"]) == -HOUR
