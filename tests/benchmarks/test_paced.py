"""Tests of paced load: the times of the messages, and the seconds that count."""

import asyncio

import pytest

from benchmarks import paced
from benchmarks.measuring import Load
from benchmarks.paced import LATE, Pacer
from benchmarks.parts.pace import Seconds, steered

WITHIN = 20.0
"""Longest time in seconds that a wait takes; a bound, not a measurement."""

AT_ONCE, NEVER = 1e9, 1e-9
"""A rate so high that messages are due at once, and one so low that none is due; messages a second."""


class Clock:
    now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(paced, "time", clock)
    return clock


async def asked(pacer: Pacer) -> float:
    """Add a client now; return the planned time of its first message."""
    due: asyncio.Future[float] = asyncio.get_running_loop().create_future()
    pacer.join(due.set_result)
    async with asyncio.timeout(WITHIN):
        return await due


@pytest.mark.parametrize(("behind", "late"), [(LATE / 2, 0), (LATE * 2, 1)])
async def test_a_due_racer_is_called_with_its_due_time_and_a_long_delay_counts_as_late(
    clock: Clock, behind: float, late: int
) -> None:
    pacer = Pacer(AT_ONCE)
    due = asyncio.ensure_future(asked(pacer))
    await asyncio.sleep(0)
    clock.now += behind
    assert await due == pytest.approx(100.0)
    assert pacer.load.late == late
    pacer.stop()


async def test_a_new_rate_applies_at_once_to_waiting_racers_too(clock: Clock) -> None:
    pacer = Pacer(NEVER)
    due = asyncio.ensure_future(asked(pacer))
    await asyncio.sleep(0)
    clock.now += 10
    pacer.keep(AT_ONCE)
    clock.now += LATE / 2
    assert await due == pytest.approx(110.0)
    assert pacer.load.late == 0
    pacer.stop()


async def test_an_exception_in_a_callback_is_raised_at_the_waiter() -> None:
    def broken(due: float) -> None:
        raise RuntimeError("not to be asked")

    pacer = Pacer(AT_ONCE)
    pacer.join(broken)
    with pytest.raises(RuntimeError, match="not to be asked"):
        await pacer.wait(60)
    pacer.stop()


async def test_a_pacer_with_too_few_racers_reports_it() -> None:
    pacer = Pacer(1)
    assert await pacer.wait(0)
    pacer.halt()
    assert not await pacer.wait(60)
    pacer.stop()


@pytest.mark.parametrize(("busy", "rate"), [(0.6, 1000), (0.8, 750), (0.48, 1250), (0.1, 1500)])
def test_it_is_asked_as_much_faster_as_it_was_less_busy_but_not_at_once(
    busy: float, rate: float
) -> None:
    assert steered(1000.0, busy) == pytest.approx(rate)
    assert steered(1000.0, 6.0) == pytest.approx(1000 / 1.5)


def second(busy: float, *, stolen: float = 0.0, wait: float = 0.001) -> Load:
    return Load(messages=1, latencies=[wait], seconds=1.0, server=busy, stolen=stolen)


def test_seconds_count_that_were_as_busy_as_they_should_be_while_the_machine_was_alone() -> None:
    one = Seconds(1000.0)
    good, idle, robbed, other = second(0.6), second(0.5), second(0.6, stolen=0.01), second(0.65)
    one.seen = [robbed, idle, good, other]
    assert one.undisturbed == [idle, good, other]
    assert one.counted == [good, other]


def test_half_of_the_wanted_seconds_must_count() -> None:
    one = Seconds(1000.0)
    one.seen = [second(0.6)] * 2 + [second(0.6, stolen=0.5)] * 9 + [second(0.4)]
    assert one.is_quiet(4)
    assert not one.is_quiet(5)


def test_where_no_second_counts_all_of_them_are_reported() -> None:
    one = Seconds(1000.0)
    one.seen = [second(0.4), second(0.6, stolen=0.5)]
    assert one.result.messages == 1
    assert one.described() == "none of 2 seconds"
    one.seen = [second(0.6, stolen=0.5)] * 3
    assert one.result.messages == 3
