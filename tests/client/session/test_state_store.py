"""The session's current state, its subscribers, and waiting for a condition on it."""

import asyncio

import pytest

from kit.session_states import standings, state_after
from saratoga_client.session.state import SessionState
from saratoga_client.session.state_store import StateStore, StateStoreClosed

FIRST, SECOND = state_after(), state_after(standings("a5 y3 r1"))


async def test_a_waiter_continues_when_the_condition_holds() -> None:
    store = StateStore()
    waiting = asyncio.create_task(store.until(lambda: store.state is SECOND))
    for state in (FIRST, FIRST, SECOND):
        store.replace(state)
        await asyncio.sleep(0)
    await waiting
    assert store.own is SECOND.own


def test_an_observer_is_called_once_per_change_until_it_unsubscribes() -> None:
    store = StateStore()
    seen: list[SessionState] = []
    unsubscribe = store.subscribe(seen.append)
    for state in (FIRST, FIRST, SECOND):
        store.replace(state)
    unsubscribe()
    store.replace(FIRST)
    assert seen == [FIRST, SECOND]


async def test_closing_the_store_ends_every_wait() -> None:
    store = StateStore()
    waiting = asyncio.create_task(store.until(lambda: False))
    await asyncio.sleep(0)
    store.close()
    with pytest.raises(StateStoreClosed):
        await waiting
    with pytest.raises(StateStoreClosed):
        await store.until(lambda: False)
