"""Join a table: claim a name, give up the seat at another table, and sit down."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from secrets import randbelow
from typing import Final

from msgspec.structs import asdict

from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import CommandRefused, RequestTimedOut, ServerClosed, Unreachable
from saratoga_client.output import say
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.table_view import RACE_PHASES, is_call
from saratoga_protocol import events
from saratoga_protocol.commands import ClaimName, JoinTable, LeaveTable
from saratoga_protocol.events import TableSettings

NAME_REFUSALS: Final = frozenset({"name_taken", "bad_name"})
"""Refusals of a name after which another name may be accepted."""

LONGEST_NAME: Final = 64
"""The most characters of a name that a command may carry; longer names are cut. The server accepts fewer."""

STOP_WATCHING_TIMEOUT: Final = 2.0
"""Seconds to wait for the answer to the command that stops watching a table."""

GUESTS: Final = 5
"""The number of guest's names of three digits that are tried."""

Report = Callable[[str], None]
"""A function that shows a sentence to the player."""


async def claim_name(connection: Connection, name: str) -> str:
    """Claim a name and return it in the server's spelling; raises `CommandRefused`."""
    claim = partial(ClaimName, name=name[:LONGEST_NAME])
    return (await connection.ask(claim, events.NameClaimed)).name


async def claim_guest_name(connection: Connection, wanted: str) -> str:
    """Claim the `wanted` name if there is one and it is free, or else a guest's; raises `CommandRefused`."""
    names = (wanted, *(f"Guest {100 + randbelow(900)}" for _ in range(GUESTS)))
    for name in filter(None, names):
        try:
            return await claim_name(connection, name)
        except CommandRefused as refusal:
            if refusal.code not in NAME_REFUSALS:
                raise
    return await claim_name(connection, f"Guest {10_000 + randbelow(90_000)}")


async def take_seat(
    connection: Connection, table: str | TableSettings, report: Report = say
) -> tuple[TableSession, events.Table]:
    """Join the table of a code, or create a table; return the session and the table.

    If the player is in a race at another table, return there instead. Raises `Problem`,
    `CommandRefused`.
    """
    session = TableSession(connection)
    code = table if isinstance(table, str) else ""
    if racing_at := await release_other_seat(connection, code, report):
        report(f"You are in a race at {racing_at}, so you return there.")
        table = racing_at
    if isinstance(table, str):
        return session, await session.sit_down(table)
    return session, await session.open_table(**asdict(table))


async def release_other_seat(connection: Connection, wanted: str = "", report: Report = say) -> str:
    """Give up the seat at any other table than `wanted`, unless the player is in a race there.

    Return the code of the table where the player races; empty if there is none.
    """
    code = connection.seat or connection.welcome.table
    if code is None or code == wanted:
        return ""
    try:
        table = await look_at(connection, code)
    except CommandRefused:
        return ""  # it was closed, or the seat was given up on another device
    if is_racing_at(table, connection.player):
        return code
    if is_seated_at(table, connection.player):
        await give_up_seat(connection, code)
        report(f"You have given up your seat at {code}.")
    return ""


async def give_up_seat(connection: Connection, code: str) -> None:
    """Give up the player's seat at a table, also if another connection holds it; raises `CommandRefused`."""
    await connection.request(partial(JoinTable, table=code))
    await connection.request(partial(LeaveTable, table=code))


def is_racing_at(table: events.Table, player: str) -> bool:
    """Test whether a player has a seat at the table and is in its race, which may not have begun.

    A player who has left the table is still among its racers. In the call, everyone who is ready
    will race.
    """
    seat = next((seat for seat in table.seats if seat.player == player), None)
    if seat is None or table.phase not in RACE_PHASES:
        return False
    return seat.ready if is_call(table) else table.racer(player) is not None


def is_seated_at(table: events.Table, player: str) -> bool:
    """Test whether a player has a seat at the table."""
    return any(seat.player == player for seat in table.seats)


def others_at(table: events.Table, player: str) -> list[str]:
    """Return the names of the other people at the table."""
    return [seat.name for seat in table.seats if not seat.bot and seat.player != player]


async def way_back(connection: Connection, last_table: str) -> events.Table | None:
    """Return the table where the player has a seat, or else `last_table` if it is open; `None` for neither."""
    codes = dict.fromkeys((connection.seat, connection.welcome.table, last_table))
    for code in filter(None, codes):
        with suppress(CommandRefused):
            table = await look_at(connection, code)
            is_way = code == last_table or is_seated_at(table, connection.player)
            if is_way and table.phase != "closed":
                return table
    return None


async def kept_table(connection: Connection, last_table: str) -> events.Table | None:
    """Return the player's table if the player has a seat there or others wait there.

    `None` also if the player is in its race, because `take_seat` returns there. The others may
    still be reconnecting.
    """
    table, player = await way_back(connection, last_table), connection.player
    if table is None or is_racing_at(table, player):
        return None
    return table if is_seated_at(table, player) or others_at(table, player) else None


async def look_at(connection: Connection, code: str) -> events.Table:
    """Return a table as it is now, without following it; raises `CommandRefused`."""
    watch = partial(JoinTable, table=code, seat=False)
    table = (await connection.ask(watch, events.Snapshot)).table
    await stop_watching(connection, code)
    return table


async def stop_watching(connection: Connection, code: str) -> None:
    """Stop watching a table, unless the player has asked for a seat there; ignore every failure."""
    if connection.state is LinkState.CONNECTED and connection.watches(code):
        with suppress(CommandRefused, RequestTimedOut, ServerClosed, Unreachable):
            await connection.request(partial(LeaveTable, table=code), within=STOP_WATCHING_TIMEOUT)
