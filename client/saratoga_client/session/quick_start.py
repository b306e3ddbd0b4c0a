"""A race against bots with one key: bring them, get ready and start."""

from typing import Final

from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_protocol.commands import AddBot, Start
from saratoga_protocol.events import TableSettings

QUICK_TABLE: Final = TableSettings(game="klondike", cap=10, seats=16, public=False, races=1)
QUICK_BOTS: Final = ("weak", "even")
"""The strengths of the bots."""


async def race_bots(session: TableSession) -> None:
    """Start a race against bots at a table that the player has just opened. Raises `Problem`."""
    for strength in QUICK_BOTS:
        await session.send(AddBot, level=strength)
    await session.ready()
    await session.until(_is_complete)
    await session.send(Start)


def _is_complete(state: SessionState) -> bool:
    """Test whether the bots and the player are ready."""
    seats = state.table.seats
    return len(seats) > len(QUICK_BOTS) and all(seat.ready for seat in seats)
