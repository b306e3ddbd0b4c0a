"""A player at the race screen, in a race of three that has begun, and what the screen says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from msgspec import structs

from kit.positions import draw
from kit.session_states import START, board, player, snapshot, state_after, table
from kit.table_screens import TablePlayer, table_player
from saratoga_client.session.state import SessionState
from saratoga_client.tui.screens.race import RaceScreen
from saratoga_protocol import events
from saratoga_rules.games import GAMES
from saratoga_rules.position import Position

CANFIELD: Final = GAMES["canfield"]
PICTURE: Final = """
t1: QS
t2: KH
t3: 9D 8S
t4: 6C
reserve: 4H
waste: 5D
stock: 2S 3S 4S 5S 6S 7S
up: D4
base: A
"""
POSITION: Final = draw(CANFIELD, PICTURE)
"""A position in which QS goes on KH, 5D goes on 6C or to its foundation, and 4H goes nowhere."""


def racing(
    position: Position = POSITION, shorthand: str = "y4 a3 r2", game: str = "canfield"
) -> SessionState:
    return state_after(first=snapshot(shorthand, board(position, game=game), table(game=game)))


@asynccontextmanager
async def race(
    position: Position = POSITION, size: tuple[int, int] = (80, 24), shorthand: str = "y4 a3 r2"
) -> AsyncIterator[TablePlayer]:
    async with table_player(racing(position, shorthand), position=position, size=size) as at_table:
        assert isinstance(at_table.screen, RaceScreen)
        yield at_table


def said(at_table: TablePlayer) -> str:
    """Return the message line of an 80x24 screen; the message must fit on one line."""
    return at_table.rows[-2].strip()


def last_racer(letter: str, host: str = "y") -> events.TableChanged:
    """Return the event that names the last racer; from then on the host may end the race in 5 s."""
    shown = structs.replace(
        table(host=host, version=9), last_racer=player(letter), end_from=START + 70_000
    )
    return events.TableChanged(table=shown, now=START)
