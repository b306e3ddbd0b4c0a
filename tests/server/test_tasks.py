"""Tasks of the server: run in the background, cancelled, given up in time; and the clock that one of them sets."""

import asyncio
from itertools import pairwise

import pytest

from kit.tables import NOON
from saratoga_server.background_tasks import (
    SLICE,
    BackgroundTasks,
    cancel_all,
    pause,
    run_each_logged,
    run_logged,
)
from saratoga_server.clock import ServerClock
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.live.tables import within_timeout
from saratoga_server.ports import Millis, StoreUnavailable

# Background tasks: awaited at the end, and their errors logged


@pytest.fixture(autouse=True)
def _every_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "saratoga")


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in caplog.records]


async def work(fault: Exception | None = None) -> None:
    await asyncio.sleep(0)
    if fault is not None:
        raise fault


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (CommandRejected("no_such_table"), ("WARNING", "task_postponed")),
        (StoreUnavailable("away"), ("DEBUG", "task_postponed")),
        (ValueError("broken"), ("ERROR", "server_fault")),
    ],
)
async def test_a_failed_task_is_logged_and_its_exception_is_not_raised(
    caplog: pytest.LogCaptureFixture, fault: Exception, line: tuple[str, str]
) -> None:
    assert not await run_logged(work(fault))
    assert lines(caplog) == [line]


async def test_all_tasks_are_finished_before_the_end(caplog: pytest.LogCaptureFixture) -> None:
    under_way = BackgroundTasks()
    done: list[int] = []
    go = asyncio.Event()

    async def numbered(number: int) -> None:
        await go.wait()
        done.append(number)

    for number in range(3):
        under_way.spawn(numbered(number))
    under_way.spawn(work(ValueError()))
    go.set()
    await under_way.finish()
    assert (sorted(done), lines(caplog)) == ([0, 1, 2], [("ERROR", "server_fault")])
    await under_way.finish()


async def test_what_goes_wrong_in_the_same_way_is_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    faults = [StoreUnavailable("away") for _ in range(3 * SLICE)]
    assert not await run_each_logged([work(fault) for fault in (*faults, ValueError("broken"))])
    assert lines(caplog) == [("DEBUG", "task_postponed"), ("ERROR", "server_fault")]
    assert vars(caplog.records[0])["fields"]["times"] == 3 * SLICE


async def test_others_have_their_turn_while_much_is_begun() -> None:
    begun = 0
    seen = [0]

    async def begins() -> None:
        nonlocal begun
        begun += 1

    async def looks_on() -> None:
        while begun < 4 * SLICE:
            await asyncio.sleep(0)
            seen.append(begun)

    await asyncio.gather(run_each_logged([begins() for _ in range(4 * SLICE)]), looks_on())
    turns = [later - earlier for earlier, later in pairwise(seen)]
    assert (sum(turns), max(turns)) == (4 * SLICE, SLICE)


# Cancellation


async def swallow_one_cancellation(going_on: asyncio.Event) -> None:
    """Swallow a cancellation, as `asyncio.wait_for` of Python 3.11 sometimes does."""
    going_on.set()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return


async def test_a_duty_whose_cancellation_was_swallowed_ends_at_its_next_pause() -> None:
    going_on = asyncio.Event()
    rounds = 0

    async def duty() -> None:
        nonlocal rounds
        while True:
            rounds += 1
            await swallow_one_cancellation(going_on)
            await pause(0)

    task = asyncio.create_task(duty())
    await going_on.wait()
    assert await cancel_all([task]) == []
    assert task.cancelled()
    assert rounds == 1


async def test_a_task_that_swallows_its_cancellation_is_cancelled_again() -> None:
    going_on = asyncio.Event()

    async def duty() -> None:
        await swallow_one_cancellation(going_on)
        await asyncio.Event().wait()

    task = asyncio.create_task(duty())
    await going_on.wait()
    assert await cancel_all([task]) == []
    assert task.cancelled()


# Calls that take too long are cancelled and reported as an unavailable store


async def test_what_is_not_done_in_time_is_given_up() -> None:
    with pytest.raises(StoreUnavailable, match="in time"):
        async with within_timeout(0.001):
            await asyncio.Event().wait()


# The server's clock: the store's time, continued between two readings


class Source:
    """A store whose clock and delays the test sets."""

    def __init__(self) -> None:
        self.steady = 100.0
        self.ahead = 0
        self.delays: tuple[float, float] = (0.0, 0.0)
        self.away = False
        self.asked = asyncio.Event()

    def seconds(self) -> float:
        return self.steady

    async def now(self) -> Millis:
        self.asked.set()
        if self.away:
            raise StoreUnavailable("away")
        self.steady += self.delays[0]
        there = Millis(NOON + round((self.steady - 100) * 1000) + self.ahead)
        self.steady += self.delays[1]
        return there


async def synchronised(source: Source) -> ServerClock:
    clock = ServerClock(source.now, source.seconds)
    await clock.synchronise()
    return clock


async def test_half_of_the_way_there_and_back_is_allowed_for() -> None:
    source = Source()
    source.delays = (0.050, 0.050)
    clock = await synchronised(source)
    assert clock.now() == NOON + 100
    source.delays = (0.0, 0.080)  # the largest possible error is half of the round trip
    await clock.synchronise()
    assert abs(clock.now() - (NOON + 180)) <= 40


async def test_a_slow_reading_does_not_replace_a_quick_one() -> None:
    source = Source()
    clock = await synchronised(source)
    source.delays = (0.0, 0.300)
    await clock.synchronise()
    assert clock.now() == NOON + 300
    source.ahead = 1_000  # more than a slow reply can explain
    await clock.synchronise()
    assert abs(clock.now() - (NOON + 1_600)) <= 150


async def test_however_good_a_reading_was_it_is_not_trusted_for_ever() -> None:
    source = Source()
    clock = await synchronised(source)
    source.delays, source.ahead = (0.020, 0.020), 15
    await clock.synchronise()
    assert clock.now() == NOON + 40
    source.steady += 200
    await clock.synchronise()
    assert clock.now() == NOON + 200_080 + 15


async def test_a_store_that_is_away_stops_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saratoga_server.clock.RESYNC", 0.0)
    source = Source()
    clock = await synchronised(source)
    source.away = True
    source.asked.clear()
    keeping = asyncio.create_task(clock.keep_synchronised())
    await source.asked.wait()
    source.away, source.ahead = False, 40
    source.asked.clear()
    await source.asked.wait()
    assert clock.now() == NOON + 40
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
