"""A table after the store's clock was stepped back: times that lie too far ahead are moved.

The clock times everything at a table. If it goes back by an hour, a countdown of five seconds would last an
hour, and so would the time until the boards are checked, or an absent player's seat is given up. After a step
forward, timers run out at once, and `timers` counts absence and idleness anew.

A running race keeps its start and its deadline, which its boards and its players know: a step back makes the
race longer for all its racers alike, a step forward shorter.
"""

from typing import Final

from msgspec.structs import replace

from saratoga_rules.records.standing import LAST_BOARD_MILLIS
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS, replanned
from saratoga_server.domain.tables.state import TablePhase, TableSeat, TableState
from saratoga_server.ports import Millis

AHEAD_MILLIS: Final = 2_000
"""Milliseconds by which a time may lie ahead, because two nodes estimate the store's clock."""


def corrected(table: TableState, now: Millis) -> TableState:
    """Return the table with no time further ahead than it can be; the same table if there is none."""
    latest = Millis(now + AHEAD_MILLIS)
    is_counting = table.phase in (TablePhase.CALL, TablePhase.COUNTDOWN)
    if is_counting and table.start_at > latest + COUNTDOWN_MILLIS:
        table = replanned(table, now)
    if any(max(seat.absent_since, seat.active_at) > latest for seat in table.seats):
        table = replace(table, seats=tuple(_not_ahead(seat, now) for seat in table.seats))
    if max(table.touched, table.looked, table.served_since) > latest:
        table = replace(
            table,
            touched=min(table.touched, now),
            looked=min(table.looked, now),
            served_since=min(table.served_since, now),
        )
    if table.end_from > latest + LAST_BOARD_MILLIS:
        table = replace(table, end_from=Millis(now + LAST_BOARD_MILLIS))
    return table


def _not_ahead(seat: TableSeat, now: Millis) -> TableSeat:
    absent_since, active_at = min(seat.absent_since, now), min(seat.active_at, now)
    return replace(seat, absent_since=absent_since, active_at=active_at)
