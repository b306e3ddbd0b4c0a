"""The server's clock: the store's time, continued between two readings."""

import asyncio

import pytest

from kit.tables import NOON
from saratoga_server.clock import ServerClock
from saratoga_server.ports import Millis, StoreUnavailable


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
    clock = ServerClock(source, source.seconds)
    await clock.synchronise()
    return clock


async def test_time_goes_on_between_two_readings() -> None:
    source = Source()
    clock = await synchronised(source)
    assert clock.now() == NOON
    source.steady += 12.345
    assert clock.now() == NOON + 12_345


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


async def test_the_next_reading_puts_a_drift_right() -> None:
    source = Source()
    clock = await synchronised(source)
    source.ahead = 700
    assert clock.now() == NOON
    await clock.synchronise()
    assert clock.now() == NOON + 700


async def test_how_long_until_a_moment_is_never_negative() -> None:
    clock = await synchronised(Source())
    assert clock.seconds_until(NOON + 1500) == 1.5
    assert clock.seconds_until(NOON - 1500) == 0.0


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


async def test_time_in_which_the_store_was_away_counts_for_nothing() -> None:
    source = Source()
    clock = await synchronised(source)
    source.away = True
    with pytest.raises(StoreUnavailable):
        await clock.synchronise()
    for _ in range(2):
        source.steady += 90
        assert clock.since == clock.now()
    source.away, source.delays = False, (0.0, 0.300)  # a reply too slow to correct the clock
    await clock.synchronise()
    back = clock.now()
    source.steady += 60
    assert clock.since == back < clock.now()
