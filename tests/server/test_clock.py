"""The store's clock, carried on by a steady one."""

import pytest

from saratoga_server import clock
from saratoga_server.clock import HouseClock
from saratoga_server.ports import Millis, StoreUnavailable


class Source:
    """A store's clock, and a steady one beside it; each reading takes its time on the way."""

    def __init__(self) -> None:
        self.there = 1_790_000_000_000
        self.steady = 100.0
        self.way = 0.0
        """Seconds there, and as many back."""
        self.silent = False

    async def now(self) -> Millis:
        if self.silent:
            raise StoreUnavailable("the store does not answer")
        self.pass_time(self.way)
        told = Millis(self.there)
        self.pass_time(self.way)
        return told

    def pass_time(self, seconds: float) -> None:
        self.steady += seconds
        self.there += round(seconds * 1000)

    def read_steady(self) -> float:
        return self.steady


@pytest.fixture
def source() -> Source:
    return Source()


async def test_the_house_goes_by_the_stores_clock(source: Source) -> None:
    house = HouseClock(source, source.read_steady)
    await house.synchronise()
    assert house.now() == source.there
    source.pass_time(2.5)
    assert house.now() == source.there


async def test_the_way_back_is_not_mistaken_for_time_that_has_not_passed(source: Source) -> None:
    source.way = 0.4
    house = HouseClock(source, source.read_steady)
    await house.synchronise()
    assert house.now() == source.there


async def test_a_clock_that_ran_away_is_caught_at_the_next_reading(source: Source) -> None:
    house = HouseClock(source, source.read_steady)
    await house.synchronise()
    source.there += 3_000
    assert house.now() == source.there - 3_000
    await house.synchronise()
    assert house.now() == source.there


async def test_a_moment_that_has_passed_is_not_waited_for(source: Source) -> None:
    house = HouseClock(source, source.read_steady)
    await house.synchronise()
    assert house.seconds_until(source.there + 1_500) == 1.5
    assert house.seconds_until(source.there - 1_500) == 0


async def test_a_store_that_is_silent_does_not_stop_the_clock(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = HouseClock(source, source.read_steady)
    await house.synchronise()
    readings = 0

    class Enough(Exception):
        """Ends what goes on for ever."""

    async def pause(seconds: float) -> None:
        nonlocal readings
        assert seconds == clock.RESYNC
        source.pass_time(seconds)
        source.silent = readings == 0
        readings += 1
        if readings == 3:
            raise Enough

    monkeypatch.setattr(clock, "pause", pause)
    source.there += 700
    with pytest.raises(Enough):
        await house.keep_synchronised()
    assert house.now() == source.there
