"""The panel beside the board of a race: the racers, the news, and the player's own money. Pure.

It has one layout at every size. From the top: place, name, count and bar of each racer, or a word
where a board has ended; a chart on large panels; the news, the newest last; and in rows that never
move the break-even count, the player's bar, money, and the distance to a rival or a warning. The
panel names no card.
"""

from collections.abc import Sequence
from typing import Final

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role, Symbols, racer_roles
from saratoga_client.net.errors import LinkState
from saratoga_client.review.boards import live_climb
from saratoga_client.session.result_text import against_best, gap, name_of
from saratoga_client.session.state import Kind, News, SessionState, disconnected_players, race_clock
from saratoga_client.session.table_view import Row, rows
from saratoga_client.text import cells_of, fitted, wrapped
from saratoga_client.tui.chart import Line, draw_chart
from saratoga_client.wording import (
    MoneyMeter,
    counted,
    dollars,
    minutes_and_seconds,
    money_meter,
    shown_name,
)
from saratoga_rules.games import GAMES

BAR: Final = 6
"""Width of a racer's bar, and of the word for an ended board, in cells."""

ROOMY: Final = 32
"""Minimum width of a panel with both a bar and a word for each racer, in cells."""

MOST_NAME: Final = 24
"""Maximum width of a name in cells."""

TICKER_NAME: Final = 12
"""Maximum width of a name in the line of a small screen, in cells."""

LEAST_NEWS: Final = 1
"""Number of rows that the racers leave for news."""

CHART_HEIGHT: Final = 9
CHART_FROM: Final = 31
"""Minimum height of a panel with the chart, in rows."""

WORDS: Final = {
    "won": "won",
    "cash-out": "cashed",
    "stuck": "stuck",
    "out-of-time": "time",
    "left": "left",
    "idle": "idle",
}
"""The words for ended boards, by state; any other board has `ended`."""

ROLES: Final = {
    Kind.LEAD: Role.TEXT,
    Kind.WON: Role.LEADER,
    Kind.EVEN: Role.MONEY_UP,
    Kind.LAST_MINUTE: Role.WARNING,
    Kind.REPORT: Role.WARNING,
    Kind.ALARM: Role.ALARM,
    Kind.ENDING: Role.TEXT,
    **dict.fromkeys(
        (Kind.PASS, Kind.MILESTONE, Kind.SEAT, Kind.JOINED, Kind.HOST, Kind.NOTICE), Role.DIM
    ),
}
"""The roles of the news that the panel lists."""


def panel(state: SessionState, width: int, height: int, now: int, symbols: Symbols) -> Canvas:
    """Draw the panel; `now` is the server's time in milliseconds since 1970."""
    canvas, found = Canvas(max(0, width), height), rows(state.table_view)
    end = _own_rows(canvas, state, now, symbols)
    shown = shown_rows(found, state.player, end - LEAST_NEWS)
    roles = racer_roles([row.player for row in found], state.player)
    lead, even = max((row.banked for row in found), default=0), money_of(state).even
    for y, row in enumerate(shown):
        bar = lead_bar(row.banked, lead, even, symbols)
        _racer(canvas, y, row, state, symbols, roles[row.player], bar)
    y = len(shown)
    if left := len(found) - len(shown):
        canvas.put(3, y, f"{left} more", Role.DIM)
        y += 1
    if found and width >= ROOMY and height >= CHART_FROM:
        box = (0, y + 1, width, CHART_HEIGHT)
        draw_chart(canvas, box, live_lines(state, now, symbols), money_of(state), symbols)
        y += CHART_HEIGHT + 1
    _news(canvas, state, y, end)
    return canvas


def live_lines(
    state: SessionState, now: int, symbols: Symbols, *, named: bool = False
) -> list[Line]:
    """Return the lines of the running race for a chart, labelled by place, or by name and count."""
    found = rows(state.table_view)
    roles = racer_roles([row.player for row in found], state.player)
    # after the end of a race, the time of the last change of a count
    end = race_clock(state, now).elapsed or max(
        (moments[-1][0] for moments in state.history.values() if moments), default=0
    )
    return [
        Line(
            row.place,
            f"{_name(row, state, symbols)} {row.banked}" if named else f"{row.place}",
            live_climb(state, row, end),
            roles[row.player],
        )
        for row in found
    ]


def ticker(state: SessionState, width: int, symbols: Symbols) -> Canvas:
    """Draw the standings in one line, for screens that are too small for the panel."""
    canvas, found = Canvas(width, 1), rows(state.table_view)
    roles = racer_roles([row.player for row in found], state.player)
    x = 1
    for row in shown_rows(found, state.player, 5):
        name = fitted(_name(row, state, symbols), TICKER_NAME, symbols.dots).rstrip()
        text = f"{row.place} {name} {row.banked}"
        if x + cells_of(text) > width:
            break
        x = canvas.put(x, 0, text, roles[row.player]) + 2
    return canvas


# The racers


def shown_rows(found: Sequence[Row], you: str, lines: int) -> list[Row]:
    """Return the racers to show in at most `lines` lines: the player, the first, and the player's neighbours.

    If some are left out, the last line is free for their number.
    """
    if len(found) <= lines:
        return list(found)
    at = next((at for at, row in enumerate(found) if row.player == you), 0)
    order = sorted(range(len(found)), key=lambda each: (each != at, each != 0, abs(each - at)))
    return [found[each] for each in sorted(order[: max(1, lines - 1)])]


def _racer(
    canvas: Canvas, y: int, row: Row, state: SessionState, symbols: Symbols, role: Role, bar: str
) -> None:
    """Draw a racer's place, name, count, and bar or word."""
    is_away = row.state == "racing" and row.player in disconnected_players(state.table)
    word = "away" if is_away else "" if row.state == "racing" else WORDS.get(row.state, "ended")
    is_roomy = canvas.width >= ROOMY
    room = min(canvas.width - BAR - 8 - (BAR + 1 if is_roomy else 0), MOST_NAME)
    x = canvas.put(0, y, f"{row.place:>2} ", role)
    x = canvas.put(x, y, fitted(_name(row, state, symbols), room, symbols.dots), role)
    x = canvas.put(x, y, f"{row.banked:>4} ", role)
    if is_roomy or not word:
        canvas.put(x, y, bar, role)
        x += BAR + 1 if is_roomy else 0
    canvas.put(x, y, word, Role.WARNING if is_away else Role.DIM)


def _name(row: Row, state: SessionState, symbols: Symbols) -> str:
    return "YOU" if row.player == state.player else shown_name(row.name, row.bot, symbols.bot)


def lead_bar(banked: int, leader: int, even: int, symbols: Symbols) -> str:
    """Return a racer's bar, in which one card is at least one step.

    A full bar is the leader's count, or twice the break-even count; beyond that its steps are the
    last cards before the leader.
    """
    steps = BAR * symbols.steps
    top = max(leader, min(2 * even, steps))
    return bar(round(steps * banked / top) if top <= steps else steps - leader + banked, symbols)


def bar(steps: int, symbols: Symbols) -> str:
    """Return a bar of so many steps; a cell has `symbols.steps` of them."""
    full, part = divmod(max(0, steps), symbols.steps)
    return symbols.filled * full + symbols.parts[part - 1 : part] * bool(part)


# The player's own rows


def draw_meter(
    canvas: Canvas, x: int, y: int, width: int, money: MoneyMeter, symbols: Symbols
) -> int:
    """Draw the break-even mark with the count, and the bar; return the row after them.

    The bar covers the mark exactly when the board has broken even.
    """
    steps, at = width * symbols.steps, width * money.even // money.goal
    count = f"{money.banked}/{money.goal}"
    canvas.put(x + at, y, f"{symbols.tick}{money.even} = {money.even_word}", Role.TICK)
    canvas.put(x + width - len(count), y, count, Role.COUNT)
    canvas.put(x, y + 1, symbols.rest * width, Role.BAR_REST)
    canvas.put(x + at, y + 1, symbols.tick, Role.TICK)
    filled, edge = round(steps * money.banked / money.goal), at * symbols.steps
    filled = max(filled, edge + 1) if money.net >= 0 else min(filled, edge)
    canvas.put(x, y + 1, bar(filled, symbols), Role.BAR)
    return y + 2


def money_line(money: MoneyMeter) -> tuple[str, Role]:
    """Return the money in words that are positive until the end."""
    if money.net < 0:
        return f"{counted(money.even - money.banked)} to break even", Role.TEXT
    return f"${money.won} of ${-money.paid}: {dollars(money.net)}", Role.MONEY_UP


def _own_rows(canvas: Canvas, state: SessionState, now: int, symbols: Symbols) -> int:
    """Draw the player's rows at the bottom; return the first of them."""
    if state.own is None:
        return canvas.height
    best = against_best(state, race_clock(state, now).elapsed)
    first = y = canvas.height - (5 if best else 4)
    if best:
        canvas.put(0, y, best, Role.DIM)
        y += 1
    money = money_meter(state.own.game, state.own.banked)
    y = draw_meter(canvas, 0, y, canvas.width, money, symbols)
    canvas.put(0, y, *money_line(money))
    text, role = _last_row(state, now, canvas.width)
    canvas.put(0, y + 1, fitted(text, canvas.width, symbols.dots) if text else "", role)
    return first


def _last_row(state: SessionState, now: int, width: int) -> tuple[str, Role]:
    """Return the row to race by: a warning, who races alone, or the distance to a rival."""
    if warning := idle_warning(state, now):
        text, time = warning
        return f"{text}{time:>{width - cells_of(text)}}", Role.ALERT
    if state.link is LinkState.RECONNECTING:
        return "connection lost: trying", Role.WARNING
    last, left = state.table.last_racer, race_clock(state, now).left
    if last and state.phase == "running":
        name = "you race" if last == state.player else f"{name_of(state, last)} races"
        until = "" if left is None else f": {minutes_and_seconds(left)}"
        return f"only {name}{until}", Role.WARNING
    return (gap(state) if state.own is not None and state.own.is_racing else ""), Role.TEXT


def idle_warning(state: SessionState, now: int) -> tuple[str, str] | None:
    """Return the warning to an idle player and the time left; `None` without one."""
    if not state.idle_left:
        return None
    return "! press any key:", minutes_and_seconds(max(0, state.idle_until - now))


def money_of(state: SessionState) -> MoneyMeter:
    """Return the money of the race's deal; assume one pack for a game unknown to this version."""
    return money_meter(state.game or GAMES["canfield"], 0)


# The news


def _news(canvas: Canvas, state: SessionState, top: int, end: int) -> None:
    """Draw the news of the race above the row `end`, newest last, and an alarm after them; omit those without room."""
    shown = [each for each in state.news if each.at is not None and each.kind in ROLES]
    if state.alarms:
        shown = [each for each in shown if each.kind is not Kind.ALARM]
        shown.append(News(Kind.ALARM, state.alarms[-1]))
    y = end
    for each in reversed(shown):
        at = "" if each.at is None else f"{minutes_and_seconds(each.at)} "
        lines = wrapped(f"{at}{each.text}", canvas.width, indent=len(at))
        if each.kind is Kind.ALARM:
            # a part of a long alarm is better than none
            lines = lines[: y - top]
        y -= len(lines)
        if y < top:
            return
        for row, text in enumerate(lines, y):
            canvas.put(0, row, text, ROLES[each.kind])
