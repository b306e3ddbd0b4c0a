"""A race in lines of text: what changed between two pictures of a table.

For pipes, logs and screen readers. Pure; the words are those of the wire.
"""

from collections.abc import Iterator
from typing import Final

from saratoga_client.session.table_view import Row, TableView, rows
from saratoga_client.wording import cap_words, dollars, shown_name
from saratoga_protocol.events import Seat


def opening(picture: TableView) -> Iterator[str]:
    """The lines for whoever just came."""
    table = picture.table
    yield f"table {table.code}: {table.settings.game}, {cap_words(table.settings.cap)}, {len(table.seats)} seated"
    yield f"race {table.race}: {table.phase}"
    for row in rows(picture):
        yield standing_line(row)


def changes(before: TableView, after: TableView) -> Iterator[str]:
    """A line for everything that is new, in the order in which a reader wants it."""
    yield from seat_lines(before, after)
    if (before.table.race, before.table.phase) != (after.table.race, after.table.phase):
        yield f"race {after.table.race}: {after.table.phase}"
    if after.table.notice and after.table.notice != before.table.notice:
        yield f"notice: {after.table.notice}"
    if after.outcome is not None:
        if before.outcome is None or before.outcome.race != after.outcome.race:
            yield from result_lines(after)
        return
    known = {row.player: (row.banked, row.state) for row in rows(before)}
    for row in rows(after):
        if known.get(row.player) != (row.banked, row.state):
            yield standing_line(row)


def standing_line(row: Row) -> str:
    """Where a racer stands, such as `2. Otto [bot]: 14 banked, +$20, racing, $15 behind`."""
    gap = f", ${row.gap} behind" if row.gap else ""
    tie = f" ({row.tie})" if row.tie else ""
    return (
        f"{row.place}. {shown_name(row.name, row.bot)}: {row.banked} banked, "
        f"{dollars(row.net)}, {row.state}{gap}{tie}"
    )


def result_lines(picture: TableView) -> Iterator[str]:
    """How the race ended."""
    if picture.outcome is None:
        return
    ranked = "ranked" if picture.outcome.ranked else "unranked"
    yield f"race {picture.outcome.race} is over ({picture.outcome.game}, {ranked})"
    for row in rows(picture):
        yield standing_line(row)
    yield f"digest {picture.outcome.digest}"


def seat_lines(before: TableView, after: TableView) -> Iterator[str]:
    """Who came, went, came back, or said ready."""
    for seat, deed in seat_news(before, after):
        yield f"{shown_name(seat.name, seat.bot)} {deed}"


READY: Final = "is ready"
LEFT: Final = "left the table"


def seat_news(before: TableView, after: TableView) -> Iterator[tuple[Seat, str]]:
    """The same, by seat and deed."""
    old = {seat.player: seat for seat in before.table.seats}
    new = {seat.player: seat for seat in after.table.seats}
    for player, seat in new.items():
        if player not in old:
            yield seat, "sat down"
        elif seat.connected != old[player].connected:
            yield seat, "is back" if seat.connected else "lost the connection"
        elif seat.ready and not old[player].ready:
            yield seat, READY
    for player, seat in old.items():
        if player not in new:
            yield seat, LEFT
