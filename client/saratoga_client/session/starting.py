"""The start of a race: the question before it, and a race against bots with one key."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, TypeAlias

from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.wording import listed
from saratoga_protocol.commands import AddBot, Start
from saratoga_protocol.events import Table, TableSettings


def left_behind(table: Table) -> tuple[str, ...]:
    """Return the names of the host's friends who are here and not ready, and would miss a race started now.

    Bots get ready by themselves. A disconnected or blocked player cannot get ready.
    """
    return tuple(
        seat.name
        for seat in table.seats
        if seat.connected
        and seat.player != table.host
        and not (seat.ready or seat.blocked or seat.bot)
    )


def start_question(names: tuple[str, ...]) -> str:
    """Return whether to start without these players, as a question.

    >>> start_question(("Ben",)), start_question(("Ben", "Mei"))
    ("Ben isn't ready. Start without Ben?", "Ben and Mei aren't ready. Start without them?")
    """
    if len(names) == 1:
        return f"{names[0]} isn't ready. Start without {names[0]}?"
    if len(names) == 2:
        return f"{listed(names)} aren't ready. Start without them?"
    return f"{len(names)} players aren't ready. Start without them?"


Begin: TypeAlias = Callable[[TableSession], Coroutine[Any, Any, None]]
"""Commands that are given as soon as the player is at a table, beside the player's own."""

QUICK_TABLE: Final = TableSettings(game="klondike", cap=10, seats=16, public=False, races=1)
QUICK_BOTS: Final = ("weak", "even")
"""The strengths of the bots."""
BOTS_OFFERED_WITHIN: Final = 15.0
"""Seconds within which the bots of a server that was just started can be added."""


async def race_bots(session: TableSession) -> None:
    """Start a race against bots at a table that the player has just opened. Raises `Problem`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(BOTS_OFFERED_WITHIN):
            await session.until(_may_ask)
    for strength in QUICK_BOTS:
        await session.send(AddBot, level=strength)
    await session.until(_has_bots)
    await race_again(session)


async def race_again(session: TableSession) -> None:
    """Get ready for the next race, and start it when everyone is ready if only bots are here. Raises `Problem`."""
    await session.ready()
    if is_alone_with_bots(session.state):
        await session.until(_are_ready)
        await session.send(Start)


def is_alone_with_bots(state: SessionState | None) -> bool:
    """Test whether the player is the host of a table with bots and no other people."""
    if state is None or not state.is_host or len(state.table.seats) < 2:
        return False
    return all(seat.bot or seat.player == state.player for seat in state.table.seats)


def _may_ask(state: SessionState) -> bool:
    """Test whether bots can be added, or never can: at the player's own server they come a little later."""
    is_owner = state.seat is not None and state.seat.owner
    return bool(state.table.bots) or not is_owner


def _has_bots(state: SessionState) -> bool:
    return len(state.table.seats) > len(QUICK_BOTS)


def _are_ready(state: SessionState) -> bool:
    return all(seat.ready for seat in state.table.seats)
