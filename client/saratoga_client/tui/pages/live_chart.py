"""The chart of a race that runs: every racer's banked cards over time, from the standings. Pure.

It shows public facts only: places, names, counts, money and states.
"""

from collections.abc import Sequence
from typing import Final

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role, money_role
from saratoga_client.board_view.symbols import symbols_for
from saratoga_client.review.chart import Climb, chart, live_climb, mark_of
from saratoga_client.session.state import SessionState, race_clock
from saratoga_client.session.table_view import Row, rows
from saratoga_client.text import fitted, fitted_name
from saratoga_client.wording import dollars, money_meter
from saratoga_rules.games import GAMES

STANDINGS: Final = 34
"""Width of the standings beside the chart, in cells."""


def live_lines(state: SessionState, end: int) -> list[tuple[int, Climb]]:
    """Return the racers' lines until `end`, in milliseconds from the start, by place."""
    return [(row.place, live_climb(state, row, end)) for row in rows(state.table_view)]


def elapsed(state: SessionState, now: int) -> int:
    """Return the time of the race so far; after its end, the time of the last change of a count."""
    return race_clock(state, now).elapsed or max(
        (moments[-1].at for moments in state.history.values() if moments), default=0
    )


def draw_chart(
    canvas: Canvas, state: SessionState, now: int, x: int, y: int, width: int, height: int
) -> None:
    """Draw the chart with its time axis; every racer's line has the mark of the place."""
    found = rows(state.table_view)
    # a game unknown to this version counts as one with one pack
    even = money_meter(state.game or GAMES["canfield"], 0).even
    roles = [row_role(row, state) for row in found]
    drawn = chart(live_lines(state, elapsed(state, now)), even, width, height)
    for line, text in enumerate(drawn.rows):
        for column, sign in enumerate(text):
            if sign != " ":
                racer = drawn.line_at.get((column, line))
                role = Role.DIM if racer is None else roles[racer]
                canvas.put(x + column, y + line, sign, role)


def row_role(row: Row, state: SessionState) -> Role:
    """Return the role of a racer's row."""
    if row.player == state.player:
        return Role.YOU
    if row.state not in ("racing", "won"):
        return Role.DIM
    return Role.LEADER if row.place == 1 else Role.TEXT


def live_chart(
    state: SessionState, width: int, height: int, now: int, *, ascii_only: bool = False
) -> Canvas:
    """Draw the standings at the left, and the chart beside them."""
    canvas = Canvas(width, height)
    found = rows(state.table_view)
    canvas.put(1, 0, "RACER", Role.LABEL)
    canvas.put(STANDINGS - 16, 0, "CARDS    NET", Role.LABEL)
    canvas.put(STANDINGS + 1, 0, "BANKED OVER TIME", Role.LABEL)
    _standings(canvas, state, found, ascii_only)
    draw_chart(canvas, state, now, STANDINGS + 1, 1, width - STANDINGS - 2, height - 1)
    return canvas


def _standings(canvas: Canvas, state: SessionState, found: Sequence[Row], ascii_only: bool) -> None:
    symbols = symbols_for(ascii_only)
    for y, row in enumerate(found, start=1):
        role = row_role(row, state)
        is_you = row.player == state.player
        room = STANDINGS - 16 - 3
        name = (
            fitted("YOU", room, symbols.dots)
            if is_you
            else fitted_name(row.name, row.bot, row.level, room, symbols.dots)
        )
        canvas.put(1, y, f"{mark_of(row.place)} {name}", role)
        canvas.put(STANDINGS - 16, y, f"{row.banked:>5}", role)
        canvas.put(STANDINGS - 11, y, f"{dollars(row.net):>7}", money_role(row.net))
        canvas.put(STANDINGS - 3, y, symbols.states.get(row.state, "-"), role)
