"""Readiness: the store is asked once a second, however many want to know."""

import asyncio

import pytest

from saratoga_server.live.readiness import FRESH, Readiness
from saratoga_server.ports import StoreUnavailable


class Store:
    """It answers, or does not, when it is let."""

    def __init__(self) -> None:
        self.asked = 0
        self.is_there = True
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def ask(self) -> None:
        self.asked += 1
        await self.may_answer.wait()
        if not self.is_there:
            raise StoreUnavailable("no")


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def steady(self) -> float:
        return self.now


async def test_the_store_is_asked_once_a_second_and_no_oftener() -> None:
    store, time = Store(), Seconds()
    readiness = Readiness(store.ask, time.steady)
    for _ in range(10):
        assert await readiness.store_answers()
    assert store.asked == 1
    store.is_there = False
    assert await readiness.store_answers()
    time.now += FRESH
    assert not await readiness.store_answers()
    assert not await readiness.store_answers()
    assert store.asked == 2
    store.is_there = True
    time.now += FRESH
    assert await readiness.store_answers()


async def test_all_who_ask_while_it_is_being_asked_take_that_answer() -> None:
    store, time = Store(), Seconds()
    store.may_answer.clear()
    readiness = Readiness(store.ask, time.steady)
    asking = [asyncio.ensure_future(readiness.store_answers()) for _ in range(10)]
    await asyncio.sleep(0)
    time.now += 2 * FRESH
    store.may_answer.set()
    assert await asyncio.gather(*asking) == [True] * 10
    assert store.asked == 1


async def test_a_store_that_does_not_answer_in_time_counts_as_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("saratoga_server.live.readiness.WITHIN", 0.01)
    store = Store()
    store.may_answer.clear()
    assert not await Readiness(store.ask, Seconds().steady).store_answers()
