"""The timers of a table. They are not owned by a node: any node may apply them.

`due` returns when the next timer runs out, and `elapse` applies all timers that have run out. Both depend
only on the table and the time, so applying a timer twice or on two nodes has the same result.

Some node applies every timer within a second or two, unless no node can write the table: the store
is away, refuses writes or has no replica in sync, no server runs, or its nodes are overloaded. No
change moves a timer into the past: when a second player joins, the absence of the first counts from
then. So a timer that is `UNSERVED_MILLIS` late shows that the players could not be served either.
Then absence and idleness, of racers and of the host, count anew from now. The race's time limit
does not change.
"""

from collections.abc import Collection
from typing import Final

from msgspec.structs import replace

from saratoga_server.domain.tables.closing import close
from saratoga_server.domain.tables.countdown import (
    COUNTDOWN_MILLIS,
    begun,
    begun_again,
    call_ended,
    replanned,
    voided_for_missing,
)
from saratoga_server.domain.tables.hosts import host_due, host_elapsed
from saratoga_server.domain.tables.phases import BETWEEN_RACES
from saratoga_server.domain.tables.ranked import RankedTables
from saratoga_server.domain.tables.seating import vacated
from saratoga_server.domain.tables.state import (
    NO_TIME,
    BoardsDue,
    Change,
    SeatVacated,
    TablePhase,
    TableSeat,
    TableState,
)
from saratoga_server.ports import Millis

UNSERVED_MILLIS: Final = 5_000
"""Milliseconds by which a timer is late if no node could serve the table meanwhile."""

AHEAD_MILLIS: Final = 2_000
"""Milliseconds by which a time may lie ahead, because two nodes estimate the store's clock."""

ABSENCE_MILLIS: Final = 60_000
"""Milliseconds for which a disconnected player's seat is kept beside others."""

ALONE_MILLIS: Final = 2 * 3_600_000
"""Milliseconds for which the seat of a disconnected player is kept, if the player was alone."""

EMPTY_MILLIS: Final = 30 * 60_000
"""Milliseconds for which a table without players stays open."""

UNUSED_MILLIS: Final = 2 * 3_600_000
"""Milliseconds for which a table stays open between races without a command."""

LOOK_MILLIS: Final = 15_000
"""Milliseconds between two checks of running boards: out of time, idle, or left."""

LATE_MILLIS: Final = 500
"""Milliseconds between two checks after the deadline, for boards that still run."""


def due(table: TableState) -> Millis | None:
    """Return when the next timer of any kind runs out; `None` at a closed table."""
    if table.phase is TablePhase.CLOSED:
        return None
    timers = (_phase_due(table), _absence_due(table), host_due(table), _close_due(table))
    return min((at for at in timers if at is not None), default=None)


def elapse(
    table: TableState,
    now: Millis,
    fresh_seed: bytes,
    dead_nodes: Collection[str] = (),
    since: Millis = NO_TIME,
    ranked_tables: RankedTables = RankedTables.ALL,
) -> Change | None:
    """Return the change by all timers that have run out; `None` if there are none.

    Players connected to dead nodes are absent from now on. Absence and idleness count from `since` at the
    earliest, the time at which the server started or reached its store again; and from now, if the table could not be served until now. `ranked_tables` decides whether a starting race counts.
    """
    at = due(table)
    if table.phase is TablePhase.CLOSED or at is None:
        return None
    after = _with_absent(table, now, dead_nodes)
    if is_too_long(after, now):
        after = replanned(after, now)
    if now - at > UNSERVED_MILLIS:
        after, since = replace(after, served_since=now), now
    change = Change(_excused(after, now, since))
    before = change.table.phase
    change = change.then(_phase_elapsed(change.table, now, fresh_seed, ranked_tables))
    if change.table.phase is not before:
        change = change.then(Change(replace(change.table, touched=now)))
    while (absent := _longest_absent(change.table, now)) is not None:
        change = change.then(_taken_for_gone(change.table, absent, now, fresh_seed))
    change = change.then(Change(host_elapsed(change.table, now)))
    close_at = _close_due(change.table)
    if close_at is not None and now >= close_at:
        change = change.then(
            close(change.table, _close_reason(change.table), now=now, fresh_seed=fresh_seed)
        )
    return None if change.table is table else change


def is_too_long(table: TableState, now: Millis) -> bool:
    """Return whether a countdown lasts too long, because the clock was set back."""
    is_counting = table.phase in (TablePhase.CALL, TablePhase.COUNTDOWN)
    return is_counting and table.start_at > now + COUNTDOWN_MILLIS + AHEAD_MILLIS


def _phase_due(table: TableState) -> Millis | None:
    if table.phase is TablePhase.CALL:
        return table.call_until
    if table.phase is TablePhase.COUNTDOWN:
        return table.start_at if table.deal_key else table.reveal_by
    if table.phase is TablePhase.RUNNING:
        if table.looked < table.deadline:
            return min(Millis(table.looked + LOOK_MILLIS), table.deadline)
        return Millis(table.looked + (LATE_MILLIS if table.deadline else LOOK_MILLIS))
    return None


def _phase_elapsed(
    table: TableState, now: Millis, fresh_seed: bytes, ranked_tables: RankedTables
) -> Change:
    at = _phase_due(table)
    if at is None or now < at:
        return Change(table)
    if table.phase is TablePhase.RUNNING:
        return Change(replace(table, looked=now), (BoardsDue(),))
    if table.phase is TablePhase.CALL:
        return call_ended(table, now)
    if table.deal_key:
        return begun(table, now, ranked_tables)
    again = begun_again(table, now)
    return voided_for_missing(table, now, fresh_seed) if again is None else Change(again)


def _absence_due(table: TableState) -> Millis | None:
    ends = [
        seat.absent_since + (ABSENCE_MILLIS if table.has_others(seat.player) else ALONE_MILLIS)
        for seat in table.seats
        if not seat.is_connected
    ]
    return Millis(min(ends)) if ends else None


def _longest_absent(table: TableState, now: Millis) -> TableSeat | None:
    """Return the seat that has been disconnected longest, if that is too long; else `None`."""
    at = _absence_due(table)
    if at is None or now < at:
        return None
    absent = (seat for seat in table.seats if not seat.is_connected)
    return min(absent, key=lambda seat: seat.absent_since)


def _taken_for_gone(table: TableState, seat: TableSeat, now: Millis, fresh_seed: bytes) -> Change:
    reason = f"{seat.name} was disconnected for too long and has lost the seat."
    change = vacated(table, seat.player, reason, now, fresh_seed)
    lost = SeatVacated(
        seat.player, "You were disconnected for too long, so your seat was given up."
    )
    return Change(change.table, (*change.effects, lost))


def _with_absent(table: TableState, now: Millis, dead_nodes: Collection[str]) -> TableState:
    absent = {seat.player for seat in table.seats if seat.node and seat.node in dead_nodes}
    if not absent:
        return table
    return replace(
        table,
        lost_node=table.lost_node or not absent.isdisjoint(table.missing),
        seats=tuple(
            replace(seat, node="", absent_since=now) if seat.player in absent else seat
            for seat in table.seats
        ),
    )


def _excused(table: TableState, now: Millis, since: Millis) -> TableState:
    """Return the table with absence and idleness counted from `since`, if it matters."""
    if _longest_absent(table, now) is not None:
        seats = (
            seat
            if seat.is_connected or seat.absent_since >= since
            else replace(seat, absent_since=since)
            for seat in table.seats
        )
        table = replace(table, seats=tuple(seats))
    host_at = host_due(table)
    if host_at is not None and host_at <= now and table.served_since < since:
        table = replace(table, served_since=since)
    close_at = _close_due(table)
    if close_at is not None and close_at <= now and table.touched < since:
        table = replace(table, touched=since)
    return table


def _close_due(table: TableState) -> Millis | None:
    """Return when the table closes by itself; `None` while racers are listed."""
    if table.phase in (TablePhase.COUNTDOWN, TablePhase.RUNNING):
        return None
    if not table.seats:
        return Millis(table.touched + EMPTY_MILLIS)
    if table.phase in BETWEEN_RACES:
        return Millis(table.touched + UNUSED_MILLIS)
    return None


def _close_reason(table: TableState) -> str:
    if not table.seats:
        return "The table was closed because it was empty."
    return "The table was closed after two hours without activity."
