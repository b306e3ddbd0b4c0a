"""The timers of a table. They are not owned by a node: any node may apply them.

`due` returns when the next timer runs out, and `elapse` applies all timers that have run out. Both
depend only on the table and the time, so applying a timer twice or on two nodes has the same
result.

Some node applies every timer within a second or two, unless no node can write the table: then the
players could not be served either. So an absence whose end is found `UNSERVED_MILLIS` late counts
anew from now. The race's time limit does not change.
"""

from collections.abc import Collection
from typing import Final

from msgspec.structs import replace

from saratoga_server.domain.tables.countdown import (
    COUNTDOWN_MILLIS,
    RankedTables,
    begun,
    begun_again,
    call_ended,
    replanned,
    voided_for_missing,
)
from saratoga_server.domain.tables.lifecycle import close
from saratoga_server.domain.tables.phases import BETWEEN_RACES
from saratoga_server.domain.tables.seating import vacated
from saratoga_server.domain.tables.state import (
    NO_TIME,
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


def due(table: TableState) -> Millis | None:
    """Return when the next timer of any kind runs out; `None` at a closed table."""
    if table.phase is TablePhase.CLOSED:
        return None
    timers = (_phase_due(table), _absence_due(table), _close_due(table))
    return min((at for at in timers if at is not None), default=None)


def elapse(
    table: TableState,
    now: Millis,
    fresh_seed: bytes,
    dead_nodes: Collection[str] = (),
    since: Millis = NO_TIME,
    ranked_tables: RankedTables = RankedTables.ALL,
) -> TableState:
    """Return the table after all timers that have run out; the same table if there are none.

    Players connected to dead nodes are absent from now on. Absence counts from `since` at the
    earliest, when the store was last away: nobody could come back before. `ranked_tables` decides
    whether a starting race counts. Boards that are out of time end apart from the table, whose
    timer stays until the race is over.
    """
    if table.phase is TablePhase.CLOSED:
        return table
    after = _excused(_with_absent(table, now, dead_nodes), now, since)
    if is_too_long(after, now):
        after = replanned(after, now)
    after = _phase_elapsed(after, now, fresh_seed, ranked_tables)
    if after.phase is not table.phase:
        after = replace(after, touched=now)
    while (absent := _longest_absent(after, now)) is not None:
        reason = f"{absent.name} was disconnected for too long and has lost the seat."
        after = vacated(after, absent.player, reason, now, fresh_seed)
    close_at = _close_due(after)
    if close_at is not None and now >= close_at:
        why = "after two hours without activity" if after.seats else "because it was empty"
        after = close(after, f"The table was closed {why}.", now=now, fresh_seed=fresh_seed)
    return after


def is_too_long(table: TableState, now: Millis) -> bool:
    """Return whether a countdown lasts too long, because the clock was set back."""
    is_counting = table.phase in (TablePhase.CALL, TablePhase.COUNTDOWN)
    return is_counting and table.start_at > now + COUNTDOWN_MILLIS + AHEAD_MILLIS


def _phase_due(table: TableState) -> Millis | None:
    if table.phase is TablePhase.CALL:
        return table.call_until
    if table.phase is TablePhase.COUNTDOWN:
        return table.start_at if table.deal_key else table.reveal_by
    if table.phase is TablePhase.RUNNING and table.deadline:
        return table.deadline
    return None


def _phase_elapsed(
    table: TableState, now: Millis, fresh_seed: bytes, ranked_tables: RankedTables
) -> TableState:
    at = _phase_due(table)
    if at is None or now < at or table.phase is TablePhase.RUNNING:
        return table
    if table.phase is TablePhase.CALL:
        return call_ended(table, now)
    if table.deal_key:
        return begun(table, now, ranked_tables)
    again = begun_again(table, now)
    return voided_for_missing(table, now, fresh_seed) if again is None else again


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
    """Return the table without the absences and the idle time in which no node could serve it."""
    at = _absence_due(table)
    if at is not None and at <= now:
        since = now if now - at > UNSERVED_MILLIS else since
        seats = (
            seat
            if seat.is_connected or seat.absent_since >= since
            else replace(seat, absent_since=since)
            for seat in table.seats
        )
        table = replace(table, seats=tuple(seats))
    close_at = _close_due(table)
    if close_at is not None and now - close_at > UNSERVED_MILLIS:
        table = replace(table, touched=now)
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
