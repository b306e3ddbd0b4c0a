"""The host's place: passed on from a host who is away, so that nobody waits for one in vain.

A host whose board ended as idle passes it on when the race is over. Between races, a host who gives
no sign of activity for `IDLE_MILLIS` does, as soon as another person who is connected has given one
since. Signs are commands, and heartbeats with `active`. A bot gives none, so a bot stays host.
"""

from collections.abc import Collection

from msgspec.structs import replace

from saratoga_rules.records.standing import IDLE_MILLIS
from saratoga_server.domain.tables.phases import BETWEEN_RACES
from saratoga_server.domain.tables.state import Change, TablePhase, TableSeat, TableState
from saratoga_server.ports import Millis


def active(table: TableState, player: str, at: Millis, *, now: Millis) -> Change | None:
    """Return the change that notes a sign of activity between races; `None`: not needed."""
    seat, at = table.seat(player), min(at, now)
    if table.phase not in BETWEEN_RACES or seat is None or seat.bot or at <= seat.active_at:
        return None
    return Change(table.with_seat(replace(seat, active_at=at)))


def with_host(table: TableState, host: TableSeat, notice: str, now: Millis) -> TableState:
    """Return the table with another host. Between races, the new host's silence counts from now."""
    served_since = table.served_since if table.phase is TablePhase.RUNNING else now
    return replace(table, host=host.player, notice=notice, served_since=served_since)


def with_present_host(table: TableState, away: Collection[str], now: Millis) -> TableState:
    """Return the table with the next connected person as host if the host is away."""
    host = table.seat(table.host)
    if host is None or host.player not in away:
        return table
    place = table.seats.index(host)
    around = table.seats[place + 1 :] + table.seats[:place]
    following = next((s for s in around if _is_present(s) and s.player not in away), None)
    if following is None:
        return table
    notice = f"{host.name} has been away for three minutes; {following.name} is host now."
    return with_host(table, following, notice, now)


def host_due(table: TableState) -> Millis | None:
    """Return when a silent host's place is passed on; `None` if nobody waits."""
    since = silent_since(table)
    if since is None:
        return None
    signs = [s.active_at for s in table.seats if _is_present(s) and s.active_at > since]
    return max(Millis(since + IDLE_MILLIS), min(signs)) if signs else None


def host_elapsed(table: TableState, now: Millis) -> TableState:
    """Return the table after its host was silent for too long, or the same table."""
    at, since = host_due(table), silent_since(table)
    if at is None or since is None or now < at:
        return table
    away = {seat.player for seat in table.seats if seat.active_at <= since}
    return with_present_host(table, away, now)


def silent_since(table: TableState) -> Millis | None:
    """Return the time of the host's last sign; `None` in a race, and if the host is no person."""
    host = table.seat(table.host)
    if host is None or host.bot or table.phase not in BETWEEN_RACES:
        return None
    return max(host.active_at, table.served_since)


def _is_present(seat: TableSeat) -> bool:
    return seat.is_connected and not seat.bot
