"""The host between races: a host who is silent for three minutes passes the place on to somebody present.

What shows that a player is there is known to the node of the player's connection only.
"""

from collections.abc import Collection

from msgspec.structs import replace

from saratoga_server.domain.tables.phases import BETWEEN_RACES
from saratoga_server.domain.tables.state import TablePhase, TableSeat, TableState
from saratoga_server.ports import Millis


def with_host(table: TableState, host: TableSeat, notice: str, now: Millis) -> TableState:
    """Return the table with another host. Between races, the new host's silence counts from now."""
    since = table.waited_since if table.phase is TablePhase.RUNNING else now
    return replace(table, host=host.player, notice=notice, waited_since=since)


def with_present_host(table: TableState, away: Collection[str], now: Millis) -> TableState:
    """Return the table with the next connected person as host if the host is away, else the same table."""
    host = table.seat(table.host)
    if host is None or host.player not in away:
        return table
    place = table.seats.index(host)
    around = table.seats[place + 1 :] + table.seats[:place]
    present = (seat for seat in around if seat.is_connected and not seat.bot)
    following = next((seat for seat in present if seat.player not in away), None)
    if following is None:
        return table
    notice = f"{host.name} has been away for three minutes; {following.name} is host now."
    return with_host(table, following, notice, now)


def host_passed_on(table: TableState, away: Collection[str], now: Millis) -> TableState:
    """Return the table after its host was silent for too long, or the same table."""
    return with_present_host(table, away, now) if table.phase in BETWEEN_RACES else table
