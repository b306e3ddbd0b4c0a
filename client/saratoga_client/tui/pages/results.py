"""The page after a race: the order and why it is so, one's own best, the evening so far."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.text_width import fitted, wrapped
from saratoga_client.sanitised import sanitised
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import Row, dollars, rows, shown_name
from saratoga_client.tui.pages.figures import minutes
from saratoga_client.tui.pages.findings import Findings, lettered
from saratoga_client.tui.pages.gathering import money_role
from saratoga_client.tui.pages.symbols import LETTERS, Signs

NAME: Final = 26
LINE: Final = 78
"""Cells of the table of places."""

CHART: Final = 7
"""Rows of the chart at least; where there is room, up to twice as many."""

MOST: Final = 80
"""Rows that a page takes with sixteen racers and everything that can be said of them."""

Note: TypeAlias = tuple[str, Role]


def results_page(
    evening: SessionState, findings: Findings | None, signs: Signs, width: int, height: int
) -> Canvas:
    """Draw the page, higher than asked for if it must be; `findings` come with the race's record."""
    canvas = Canvas(width, height + MOST)
    y = _places(canvas, 1, evening, signs)
    notes = [*_ties(evening), *_best(evening), *_checked(evening), *_found(findings, signs)]
    for text, role in notes:
        for part in wrapped(text, width - 2):
            canvas.put(1, y, part, role)
            y += 1
    y = _totals(canvas, y + 1, evening)
    if findings is not None:
        y = _chart(canvas, y, findings, height - y)
    page = Canvas(width, max(height, y))
    page.paste(canvas, 0, 0)
    return page


def _found(findings: Findings | None, signs: Signs) -> Iterator[Note]:
    if findings is None:
        return
    is_ascii = signs.filled == LETTERS.filled
    if findings.parting:
        yield "Where you first parted from the winner:", Role.LABEL
        for line in findings.parting:
            yield f"  {lettered(line, is_ascii)}", Role.TEXT
    if findings.pause:
        yield findings.pause, Role.TEXT


def _chart(canvas: Canvas, y: int, findings: Findings, room: int) -> int:
    canvas.put(1, y, "CARDS BANKED OVER TIME, a line a place", Role.LABEL)
    lines = max(CHART, min(room - 1, 2 * CHART))
    rows = findings.chart(min(canvas.width - 2, LINE), lines)
    for row, text in enumerate(rows, y + 1):
        canvas.put(1, row, text, Role.TEXT)
    return y + 1 + len(rows)


def _places(canvas: Canvas, y: int, evening: SessionState, signs: Signs) -> int:
    reached = {} if evening.table_view.outcome is None else _reached(evening)
    head = f"   {'RACER':<{NAME}} {'BANKED':>6} {'NET':>6}  {'REACHED':>7}  "
    canvas.put(1, y, head, Role.LABEL)
    for line, row in enumerate(rows(evening.table_view), y + 1):
        is_you = row.player == evening.player
        role = Role.YOU if is_you else Role.LEADER if row.place == 1 else Role.TEXT
        if is_you:
            canvas.put(0, line, signs.mark, Role.YOU)
        canvas.put(1, line, f"{row.place:>2}", role)
        canvas.put(4, line, fitted(sanitised(shown_name(row.name, row.bot)), NAME), role)
        canvas.put(5 + NAME, line, f"{row.banked:>6}", Role.COUNT)
        canvas.put(12 + NAME, line, f"{dollars(row.net):>6}", money_role(row.net))
        canvas.put(20 + NAME, line, f"{reached.get(row.player, ''):>7}", Role.TEXT)
        canvas.put(29 + NAME, line, sanitised(row.state), Role.DIM)
    return y + len(rows(evening.table_view)) + 2


def _reached(evening: SessionState) -> dict[str, str]:
    outcome = evening.table_view.outcome
    assert outcome is not None, "a race that is over has an outcome"
    return {
        each.player: "" if each.reached is None else minutes(each.reached)
        for each in outcome.results
    }


def _ties(evening: SessionState) -> Iterator[Note]:
    for row in rows(evening.table_view):
        if row.tie:
            yield f"{_who(row, evening.player)}: {sanitised(row.tie)}", Role.TEXT


def _who(row: Row, player: str) -> str:
    return "you" if row.player == player else sanitised(shown_name(row.name, row.bot))


def _best(evening: SessionState) -> Iterator[Note]:
    best = evening.best
    if best is None:
        return
    if evening.is_new_best:
        yield f"Your best yet: {best.banked} banked, {dollars(best.net)}.", Role.MONEY_UP
    else:
        yield f"Your best here is {best.banked} banked, {dollars(best.net)}.", Role.TEXT


def _checked(evening: SessionState) -> Iterator[Note]:
    outcome = evening.table_view.outcome
    if outcome is None:
        return
    if not outcome.ranked:
        yield "Unranked: a race counts on the leaderboards when two people moved in it.", Role.DIM
    found = evening.verifications.get(outcome.race)
    if found is not None:
        yield found.sentence, Role.TEXT if found.ok else Role.ALARM
    for alarm in evening.alarms:
        yield alarm, Role.ALARM


def _totals(canvas: Canvas, y: int, evening: SessionState) -> int:
    """The table's totals over the evening, the richest first; returns the row after them."""
    seats = sorted(
        (seat for seat in evening.table.seats if seat.races),
        key=lambda seat: (-seat.net, seat.name),
    )
    if len(seats) < 2 or max(seat.races for seat in seats) < 2:
        return y
    canvas.put(1, y, "THE EVENING SO FAR", Role.LABEL)
    canvas.put(5 + NAME, y, f"{'WON':>6} {'NET':>6}", Role.LABEL)
    for row, seat in enumerate(seats, y + 1):
        role = Role.YOU if seat.player == evening.player else Role.TEXT
        canvas.put(4, row, fitted(sanitised(shown_name(seat.name, seat.bot)), NAME), role)
        canvas.put(5 + NAME, row, f"{f'{seat.wins}/{seat.races}':>6}", Role.COUNT)
        canvas.put(12 + NAME, row, f"{dollars(seat.net):>6}", money_role(seat.net))
    return y + len(seats) + 2
