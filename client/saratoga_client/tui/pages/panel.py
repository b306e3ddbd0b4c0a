"""The panel beside the board of a race: standings, the player's own result, a chart, events. Pure.

From the top: one or two lines per racer (only the first and the player's neighbours if not all fit),
the player's standing, a chart of banked cards on large panels, and recent events. The panel names
no card.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple, Protocol

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role, money_role
from saratoga_client.board_view.symbols import Symbols, symbols_for
from saratoga_client.net.errors import LinkState
from saratoga_client.session.news import Kind, News
from saratoga_client.session.result_text import against_best, gap, last_board, own_result
from saratoga_client.session.state import (
    SessionState,
    disconnected_players,
    race_clock,
)
from saratoga_client.session.table_view import Row, rows
from saratoga_client.text import cells_of, fitted, fitted_name, wrapped
from saratoga_client.tui.pages.live_chart import draw_chart, row_role
from saratoga_client.wording import (
    MoneyMeter,
    dollars,
    minutes_and_seconds,
    money_meter,
    shown_name,
)
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES


class BarSymbols(Protocol):
    """The symbols of a bar, one cell each."""

    @property
    def filled(self) -> str: ...
    @property
    def rest(self) -> str: ...
    @property
    def tick(self) -> str: ...


def draw_meter(
    canvas: Canvas, x: int, y: int, width: int, money: MoneyMeter, symbols: BarSymbols
) -> int:
    """Draw the count, the bar and the tick in three rows; return the row after them."""
    canvas.put(x, y, f"banked {money.banked}/{money.goal}", Role.LABEL)
    tick = draw_bar(canvas, x, y + 1, width, money, symbols)
    canvas.put(tick, y + 2, f"{symbols.tick}{money.even} = {money.even_word}", Role.TICK)
    return y + 3


def draw_amounts(canvas: Canvas, x: int, y: int, money: MoneyMeter) -> int:
    """Draw the price, the winnings and the net in three rows; return the row after them."""
    for label, amount in (("paid", money.paid), ("won", money.won), ("net", money.net)):
        canvas.put(x, y, f"{label:<5}", Role.LABEL)
        canvas.put(x + 5, y, f"{dollars(amount):>5}", money_role(amount))
        y += 1
    return y


def draw_bar(
    canvas: Canvas, x: int, y: int, width: int, money: MoneyMeter, symbols: BarSymbols
) -> int:
    """Draw the bar and its tick in one row; return the tick's column.

    Rounding never moves the bar's end to the wrong side of the tick, which marks the break-even count.
    A single banked card is visible, and so is a single missing card.
    """
    banked = money.banked
    at = round(width * money.even / money.goal)
    filled = min(width, round(width * banked / money.goal))
    filled = max(filled, 1) if banked else 0
    filled = min(filled, width - 1) if banked < money.goal else width
    if money.net < 0:
        filled = max(0, min(filled, at - 1))
    elif not money.net:
        filled = at
    else:
        filled = max(filled, at + 2)
    canvas.put(x, y, symbols.filled * filled, Role.BAR)
    canvas.put(x + filled, y, symbols.rest * (width - filled), Role.BAR_REST)
    canvas.put(x + at, y, symbols.tick, Role.TICK)
    return x + at


ROOMY: Final = 28
"""Minimum width inside the frame, in cells, for a racer's state after count and money."""

LEAST_EVENTS: Final = 3
"""Number of lines reserved for recent events, if at least `LEAST_RACERS` racers have a line."""

LEAST_RACERS: Final = 5
"""Number of racers whose lines take precedence over events."""

ALARM_LINES: Final = 2
"""Maximum number of lines of an alarm from before the race, so that the standings keep their room."""

CHART_HEIGHT: Final = 9
CHART_FROM: Final = 31
"""Minimum height of a panel with the chart, in lines."""

ROLES: Final = {
    Kind.LEAD: Role.LEADER,
    Kind.WON: Role.LEADER,
    Kind.EVEN: Role.MONEY_UP,
    Kind.LAST_MINUTE: Role.WARNING,
    Kind.REPORT: Role.WARNING,
    Kind.ALARM: Role.ALARM,
    Kind.ENDING: Role.TEXT,
    Kind.PASS: Role.DIM,
    Kind.MILESTONE: Role.DIM,
    Kind.SEAT: Role.DIM,
    Kind.JOINED: Role.DIM,
    Kind.HOST: Role.DIM,
    Kind.NOTICE: Role.DIM,
}
"""The roles of the news that the panel lists."""


class _PanelLine(NamedTuple):
    text: str
    role: Role


def panel(
    state: SessionState, width: int, height: int, now: int, *, ascii_only: bool = False
) -> Canvas:
    """Draw the panel; `now` is the server's time in milliseconds since 1970."""
    canvas = Canvas(width, height)
    symbols = symbols_for(ascii_only)
    _frame(canvas, symbols)
    inner = width - 2
    if inner < 10 or height < 4:
        return canvas
    found = rows(state.table_view)
    own_lines = list(_own_lines(state, now, inner))
    with_chart = has_chart(state, width, height)
    below = LEAST_EVENTS + 1 + (CHART_HEIGHT + 1 if with_chart else 0)
    room = height - 2 - len(own_lines) - 1
    room = max(room - below, min(len(found), LEAST_RACERS, room))
    if found:
        y = _racers(canvas, state, found, max(1, room), symbols)
    else:
        y = _gathered(canvas, state, max(1, room), symbols)
    y = _section(canvas, y, "you", own_lines, symbols) if own_lines else y
    if with_chart:
        _across(canvas, y, "banked over time", symbols)
        draw_chart(canvas, state, now, 1, y + 1, width - 2, CHART_HEIGHT)
        y += CHART_HEIGHT + 1
    if y < height - 2:
        _across(canvas, y, "news", symbols)
        _events(canvas, state.news, y + 1)
    return canvas


def has_chart(state: SessionState, width: int, height: int) -> bool:
    """Return whether a panel of this size shows the chart."""
    return height >= CHART_FROM and width - 2 >= ROOMY and bool(rows(state.table_view))


def ticker(state: SessionState, width: int, now: int, *, ascii_only: bool = False) -> Canvas:
    """Draw the standings in one line, for screens that are too small for the panel."""
    canvas = Canvas(width, 1)
    time = race_clock(state, now)
    end = minutes_and_seconds(time.elapsed if time.left is None else time.left)
    x = 0
    for row in _shown_rows(rows(state.table_view), state.player, 4):
        if row is None:
            x = canvas.put(x, 0, f"{symbols_for(ascii_only).dots} ", Role.DIM)
            continue
        text = f"{row.place} {_name(row, state)} {row.banked} {dollars(row.net)}"
        if x + cells_of(text) + 2 > width - len(end):
            break
        x = canvas.put(x, 0, text, row_role(row, state)) + 2
    canvas.put(width - len(end), 0, end, Role.TITLE)
    return canvas


def meter(game: Game, banked: int, width: int, *, ascii_only: bool = False) -> Canvas:
    """Draw the money meter of the player's board in six rows."""
    canvas = Canvas(width, 6)
    money = money_meter(game, banked)
    y = draw_meter(canvas, 0, 0, width, money, symbols_for(ascii_only))
    draw_amounts(canvas, 0, y, money)
    return canvas


# The frame


def _frame(canvas: Canvas, symbols: Symbols) -> None:
    width, height, corners = canvas.width, canvas.height, symbols.corners
    across = symbols.across * max(0, width - 2)
    canvas.put(0, 0, f"{corners[0]}{across}{corners[1]}", Role.FRAME)
    for y in range(1, height - 1):
        canvas.put(0, y, symbols.upright, Role.FRAME)
        canvas.put(width - 1, y, symbols.upright, Role.FRAME)
    canvas.put(0, height - 1, f"{corners[2]}{across}{corners[3]}", Role.FRAME)
    canvas.put(1, 0, " RACE ", Role.TITLE)


def _across(canvas: Canvas, y: int, title: str, symbols: Symbols) -> None:
    line = symbols.across * max(0, canvas.width - 2)
    canvas.put(0, y, f"{symbols.corners[4]}{line}{symbols.corners[5]}", Role.FRAME)
    canvas.put(1, y, f" {title} ", Role.LABEL)


def _section(
    canvas: Canvas, y: int, title: str, lines: Sequence[_PanelLine], symbols: Symbols
) -> int:
    _across(canvas, y, title, symbols)
    for line in lines:
        y += 1
        if y < canvas.height - 1:
            canvas.put(1, y, line.text, line.role)
    return y + 1


# The racers


def _racers(
    canvas: Canvas, state: SessionState, found: Sequence[Row], room: int, symbols: Symbols
) -> int:
    """Draw the racers; return the row after them."""
    with_bars = 2 * len(found) <= room
    lines = room // 2 if with_bars else room
    y = 1
    for row in _shown_rows(found, state.player, lines):
        if row is None:
            canvas.put(1, y, f"   {symbols.dots}", Role.DIM)
            y += 1
            continue
        _racer(canvas, state, row, y, symbols, with_net=not with_bars)
        y += 1
        if with_bars:
            _racers_bar(canvas, state, row, y, symbols)
            y += 1
    return y


def _shown_rows(found: Sequence[Row], you: str, lines: int) -> list[Row | None]:
    """Return the racers to show in at most `lines` lines: the first, the player, and the player's neighbours.

    `None` is a line in place of omitted racers.
    """
    if len(found) <= lines:
        return list(found)
    if lines < 4:
        own = [row for row in found if row.player == you]
        others = [row for row in found if row.player != you]
        chosen = [*others[: lines - len(own)], *own]
        return sorted(chosen, key=found.index)
    at = next((at for at, row in enumerate(found) if row.player == you), 0)
    if at <= lines - 3:
        # The first racers, the player included, and one line for the others.
        return [*found[: lines - 1], None]
    # The places are numbered, so the gap after the first needs a line only if there is room for it.
    gap = [None] if lines > 4 else []
    room = lines - 1 - len(gap)
    start = min(at - (room - 1) // 2, len(found) - room)
    return [found[0], *gap, *found[start : start + room]]


def _racer(
    canvas: Canvas,
    state: SessionState,
    row: Row,
    y: int,
    symbols: Symbols,
    with_net: bool,
) -> None:
    """Draw a racer's place, name, count, state, and with `with_net` the money."""
    inner = canvas.width - 2
    if with_net and inner < ROOMY:
        _narrow_racer(canvas, state, row, y, symbols)
        return
    net = f"{dollars(row.net):>6}" if inner >= ROOMY else ""
    end = f"{row.banked:>4}{net} {_mark(state, row, symbols)}"
    role = row_role(row, state)
    x = canvas.put(1, y, f"{row.place:>2} ", role)
    room = inner - 3 - len(end) - 1
    text = _fitted_name(row, state, room, symbols)
    x = canvas.put(x, y, text, role)
    x = canvas.put(canvas.width - 2 - len(end), y, f"{row.banked:>4}", role)
    if net:
        x = canvas.put(x, y, net, money_role(row.net))
    canvas.put(x + 1, y, _mark(state, row, symbols), _mark_role(row, state))


def _narrow_racer(canvas: Canvas, state: SessionState, row: Row, y: int, symbols: Symbols) -> None:
    """Draw a racer's place, state, name, count and money; the state stands next to the place."""
    inner, role = canvas.width - 2, row_role(row, state)
    count, net = f" {row.banked:>2}", f"{dollars(row.net):>6}"
    x = canvas.put(1, y, f"{row.place:>2}", role)
    x = canvas.put(x, y, _mark(state, row, symbols), _mark_role(row, state))
    room = inner - 3 - len(count) - len(net)
    x = canvas.put(x, y, _fitted_name(row, state, room, symbols), role)
    x = canvas.put(x, y, count, role)
    canvas.put(x, y, net, money_role(row.net))


def _fitted_name(row: Row, state: SessionState, cells: int, symbols: Symbols) -> str:
    if row.player == state.player:
        return fitted("YOU", cells, symbols.dots)
    return fitted_name(row.name, row.bot, row.level, cells, symbols.dots)


def _racers_bar(canvas: Canvas, state: SessionState, row: Row, y: int, symbols: Symbols) -> None:
    inner = canvas.width - 2
    net = "" if inner >= ROOMY else f" {dollars(row.net):>5}"
    width = inner - 3 - len(net) - 2
    draw_bar(canvas, 4, y, width, _money(state, row.banked), symbols)
    if net:
        canvas.put(4 + width, y, net, money_role(row.net))


def _money(state: SessionState, banked: int) -> MoneyMeter:
    """Return the money of a board; assume one pack for a game unknown to this version."""
    return money_meter(state.game or GAMES["canfield"], banked)


def _mark(state: SessionState, row: Row, symbols: Symbols) -> str:
    is_away = row.state == "racing" and row.player in disconnected_players(state.table)
    return symbols.away if is_away else symbols.states.get(row.state, "-")


def _mark_role(row: Row, state: SessionState) -> Role:
    if row.player in disconnected_players(state.table):
        return Role.WARNING
    return row_role(row, state)


def _name(row: Row, state: SessionState) -> str:
    return "YOU" if row.player == state.player else shown_name(row.name, row.bot, row.level)


def _gathered(canvas: Canvas, state: SessionState, room: int, symbols: Symbols) -> int:
    """Draw the seats of a table before the race; return the row after them."""
    seats = state.table.seats
    y = 1
    for seat in seats[:room] if len(seats) <= room else seats[: room - 1]:
        role = Role.YOU if seat.player == state.player else Role.TEXT
        canvas.put(
            2, y, fitted_name(seat.name, seat.bot, seat.level, canvas.width - 4, symbols.dots), role
        )
        y += 1
    if len(seats) > room:
        canvas.put(2, y, f"and {len(seats) - room + 1} more", Role.DIM)
        y += 1
    return y


# The player, the chart, the events


def _own_lines(state: SessionState, now: int, inner: int) -> Iterator[_PanelLine]:
    """Return the lines about the player: warnings, the standing, or the result."""
    if state.link is LinkState.RECONNECTING:
        yield from _lines("connection lost; trying again", Role.WARNING, inner)
    if state.alarms and all(each.kind is not Kind.ALARM or each.at is None for each in state.news):
        # from before the race: an alarm of this race is among the news
        yield from islice(_lines(state.alarms[-1], Role.ALARM, inner), ALARM_LINES)
    if state.table_view.outcome is not None:
        yield from _lines(own_result(state), Role.YOU, inner)
        if state.is_new_best:
            yield from _lines("your best so far!", Role.MONEY_UP, inner)
        return
    yield from _lines(last_board(state, now), Role.WARNING, inner)
    if state.own is None or state.own.is_racing:
        # the distance calls on the player to race on
        yield from _lines(gap(state), Role.TEXT, inner)
    elapsed = race_clock(state, now).elapsed
    yield from _lines(against_best(state, elapsed), Role.DIM, inner)


def _lines(text: str, role: Role, inner: int) -> Iterator[_PanelLine]:
    for line in wrapped(text, inner):
        yield _PanelLine(line, role)


def _events(canvas: Canvas, news: Sequence[News], y: int) -> None:
    """Draw the news of the race, newest first; omit those that do not fit completely."""
    for each in reversed(news):
        if each.at is None or each.kind not in ROLES:
            continue
        lines = wrapped(f"{minutes_and_seconds(each.at)} {each.text}", canvas.width - 2, indent=5)
        if each.kind is Kind.ALARM:
            # a part of a long alarm is better than none
            lines = lines[: max(LEAST_EVENTS, canvas.height - 1 - y)]
        if y + len(lines) > canvas.height - 1:
            return
        for text in lines:
            canvas.put(1, y, text, ROLES[each.kind])
            y += 1
