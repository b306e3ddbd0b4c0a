"""Readiness: at most one request a second to the store, for any number of callers."""

import asyncio

import pytest

from saratoga_server.live.readiness import FRESH, STORE_REFUSED, Readiness
from saratoga_server.ports import StoreUnavailable

NO_STORE = "The store does not answer."
STOPPING = "This server is about to stop."


class Store:
    """A store that responds once `may_answer` is set, while `is_there` is true."""

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


async def test_the_store_is_asked_at_most_once_a_second() -> None:
    store, time = Store(), Seconds()
    readiness = Readiness(store.ask, time.steady)
    for _ in range(10):
        assert await readiness.why_not_ready() is None
    assert store.asked == 1
    store.is_there = False
    assert await readiness.why_not_ready() is None
    time.now += FRESH
    assert await readiness.why_not_ready() == NO_STORE
    assert await readiness.why_not_ready() == NO_STORE
    assert store.asked == 2
    store.is_there = True
    time.now += FRESH
    assert await readiness.why_not_ready() is None


async def test_callers_that_wait_for_the_same_question_share_its_answer() -> None:
    store, time = Store(), Seconds()
    store.may_answer.clear()
    readiness = Readiness(store.ask, time.steady)
    asking = [asyncio.ensure_future(readiness.why_not_ready()) for _ in range(10)]
    await asyncio.sleep(0)
    time.now += 2 * FRESH
    store.may_answer.set()
    assert await asyncio.gather(*asking) == [None] * 10
    assert store.asked == 1


async def test_a_store_that_does_not_answer_in_time_counts_as_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("saratoga_server.live.readiness.WITHIN", 0.01)
    store = Store()
    store.may_answer.clear()
    assert await Readiness(store.ask, Seconds().steady).why_not_ready() == NO_STORE


async def test_a_node_that_stops_is_not_ready_and_asks_no_store() -> None:
    store = Store()
    stopping, draining = (Readiness(store.ask, Seconds().steady) for _ in range(2))
    stopping.is_stopping = True
    draining.is_draining = True
    for readiness in (stopping, draining):
        assert await readiness.why_not_ready() == STOPPING
    assert store.asked == 0


async def test_a_node_whose_store_is_refused_names_no_folder_and_asks_no_store() -> None:
    store, reasons = Store(), ["Move /srv/saratoga/store away.", None]
    readiness = Readiness(store.ask, Seconds().steady, lambda: reasons[0])
    assert await readiness.why_not_ready() == STORE_REFUSED
    assert store.asked == 0
    del reasons[0]
    assert await readiness.why_not_ready() is None
