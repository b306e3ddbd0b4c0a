"""The evening as it is now, and who waits for it to change."""

import asyncio

import pytest

from kit.evenings import evening, standings
from saratoga_client.session.state import SessionState
from saratoga_client.session.state_store import StateStore, StateStoreClosed

FIRST, SECOND = evening(), evening(standings("a5 y3 r1"))


async def test_whoever_waits_goes_on_when_it_has_become_so() -> None:
    seen: list[SessionState] = []
    desk = StateStore(seen.append)
    waiting = asyncio.create_task(desk.until(lambda: desk.evening is SECOND))
    for present in (FIRST, FIRST, SECOND):
        desk.lay(present)
        await asyncio.sleep(0)
    await waiting
    assert seen == [FIRST, SECOND]
    assert desk.own is SECOND.own


async def test_what_is_so_already_is_not_waited_for() -> None:
    await StateStore(lambda present: None).until(lambda: True)


async def test_nobody_waits_at_a_closed_desk() -> None:
    desk = StateStore(lambda present: None)
    waiting = asyncio.create_task(desk.until(lambda: False))
    await asyncio.sleep(0)
    desk.close()
    with pytest.raises(StateStoreClosed):
        await waiting
    with pytest.raises(StateStoreClosed):
        await desk.until(lambda: False)
