"""Join a table: claim a name, give up the seat at another table, and sit down."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import CommandRefused, RequestTimedOut, ServerClosed, Unreachable
from saratoga_client.output import say
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.table_view import is_call
from saratoga_protocol import events
from saratoga_protocol.commands import ClaimName, LeaveTable, UnwatchTable, WatchTable

NAME_REFUSALS: Final = frozenset({"name_taken", "bad_name"})
"""Refusals of a name after which another name may be accepted."""

LONGEST_NAME: Final = 64
"""The most characters of a name that a command may carry; longer names are cut. The server accepts fewer."""

UNWATCH_TIMEOUT: Final = 2.0
"""Seconds to wait for the answer to `UnwatchTable`."""

OTHERS_TIMEOUT: Final = 10.0
"""Seconds to wait for the names at a table; longer than a lost connection stays unnoticed."""

RACING: Final = frozenset({"countdown", "running"})
"""Phases in which a player keeps a seat and returns to it."""

Report = Callable[[str], None]
"""A function that shows a sentence to the player."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWanted:
    """The settings of a table to create."""

    game: str
    cap: int
    """The time limit in minutes; 0 for none."""
    seats: int
    public: bool


async def claim_name(connection: Connection, name: str) -> str:
    """Claim a name and return it in the server's spelling; raises `CommandRefused`."""
    claim = partial(ClaimName, name=name[:LONGEST_NAME])
    return (await connection.ask(claim, events.NameClaimed)).name


async def take_seat(
    connection: Connection, table: str | TableWanted, report: Report = say
) -> tuple[TableSession, events.Table]:
    """Join the table of a code, or create a table; return the session and the table.

    If the player is in a race at another table, return there instead. Raises `Problem`,
    `CommandRefused`.
    """
    code = table if isinstance(table, str) else ""
    session = TableSession(connection)
    if racing_at := await release_other_seat(connection, code, report):
        report(f"You are in a race at {racing_at}, so you return there.")
        return session, await session.sit_down(racing_at)
    if isinstance(table, str):
        return session, await session.sit_down(table)
    return session, await session.open_table(
        table.game, cap=table.cap, seats=table.seats, public=table.public
    )


async def release_other_seat(connection: Connection, wanted: str = "", report: Report = say) -> str:
    """Give up the seat at any other table than `wanted`, unless the player is in a race there.

    Return the code of the table where the player races; empty if there is none.
    """
    code = connection.seat or connection.welcome.table
    if code is None or code == wanted:
        return ""
    table = await _look_at(connection, code)
    if table is None:
        # the table was closed, or the seat was given up on another device
        return ""
    if is_racing_at(table, connection.welcome.player):
        return code
    try:
        await connection.request(partial(LeaveTable, table=code))
    except CommandRefused:
        await stop_watching(connection, code)
    else:
        report(f"You have given up your seat at {code}.")
    return ""


def is_racing_at(table: events.Table, player: str) -> bool:
    """Test whether a player has a seat at the table and is in its race, which may not have begun.

    A player who has left the table is still among its racers. In the call, everyone who is ready will race.
    """
    seat = next((seat for seat in table.seats if seat.player == player), None)
    if seat is None or table.phase not in RACING:
        return False
    return seat.ready if is_call(table) else player in table.racers


async def others_at(connection: Connection, code: str) -> tuple[str, ...]:
    """Return the names of the other people who are connected to the table, without bots.

    Return no names if the server does not answer: it no longer keeps anybody at the table.
    """
    if connection.state is not LinkState.CONNECTED:
        return ()
    try:
        table = await _look_at(connection, code, OTHERS_TIMEOUT)
    except (RequestTimedOut, ServerClosed, Unreachable):
        return ()
    if table is None:
        return ()
    await stop_watching(connection, code)
    if table.phase == "closed":
        return ()
    return tuple(
        seat.name
        for seat in table.seats
        if seat.connected and not seat.bot and seat.player != connection.welcome.player
    )


async def _look_at(
    connection: Connection, code: str, within: float | None = None
) -> events.Table | None:
    """Watch a table and return its state; `None` if there is no such table."""
    try:
        watch = partial(WatchTable, table=code)
        return (await connection.ask(watch, events.Snapshot, within)).table
    except CommandRefused:
        return None


async def give_up(connection: Connection, code: str) -> None:
    """Give up the seat at a table, or stop watching it; raises `CommandRefused`."""
    if connection.seat == code:
        await connection.request(partial(LeaveTable, table=code))
    else:
        await stop_watching(connection, code)


async def stop_watching(connection: Connection, code: str) -> None:
    """Send `UnwatchTable`; ignore every failure."""
    if connection.state is LinkState.CONNECTED:
        with suppress(CommandRefused, RequestTimedOut, ServerClosed, Unreachable):
            await connection.request(partial(UnwatchTable, table=code), within=UNWATCH_TIMEOUT)
