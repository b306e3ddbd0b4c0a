"""A race against bots with one key: bring them, get ready and start."""

import asyncio
from contextlib import suppress
from typing import Final

from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_protocol.commands import AddBot, Start
from saratoga_protocol.events import TableSettings

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
    await session.ready()
    await session.until(_is_complete)
    await session.send(Start)


def _may_ask(state: SessionState) -> bool:
    """Test whether bots can be added, or never can: at the player's own server they come a little later."""
    is_owner = state.seat is not None and state.seat.owner
    return bool(state.table.bots) or not is_owner


def _is_complete(state: SessionState) -> bool:
    """Test whether the bots and the player are ready."""
    seats = state.table.seats
    return len(seats) > len(QUICK_BOTS) and all(seat.ready for seat in seats)
