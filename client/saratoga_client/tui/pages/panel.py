"""The race beside the board: who is where, how one stands, what happened. Pure; no card is named.

From the top: a line or two for every racer (elided around oneself where there are too many), what
concerns oneself, on large panels the counts over time, and the news.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.text_width import (
    PanelSymbols,
    fitted,
    fitted_name,
    panel_symbols,
    wrapped,
)
from saratoga_client.net.link_state import LinkState
from saratoga_client.review.chart import MARKS, chart
from saratoga_client.review.climb import Climb
from saratoga_client.review.times import clock
from saratoga_client.sanitised import sanitised
from saratoga_client.session.feed import FeedLine, Tone
from saratoga_client.session.result_text import against_best, gap, own_result
from saratoga_client.session.state import RaceClock, SessionState, disconnected_players
from saratoga_client.session.state import race_clock as clock_of
from saratoga_client.session.table_view import Row, dollars, rows, shown_name
from saratoga_rules.cards import PACK
from saratoga_rules.money import CARD_PRIZE, PACK_PRICE

EVEN_PER_PACK: Final = PACK_PRICE // CARD_PRIZE
"""Cards with which the money is even."""

ROOMY: Final = 28
"""Cells inside the frame from which a racer's money stands beside the count."""

LEAST_NEWS: Final = 3
"""Lines that the racers leave for what happened."""

CHART_HEIGHT: Final = 9
CHART_FROM: Final = 31
"""Rows of the panel from which there is room for the chart."""

TONES: Final = {
    Tone.LEAD: Role.LEADER,
    Tone.ENDING: Role.TEXT,
    Tone.LINK: Role.WARNING,
}


class _PanelLine(NamedTuple):
    text: str
    role: Role


def panel(
    evening: SessionState, width: int, height: int, now: int, *, ascii_only: bool = False
) -> Canvas:
    """The panel at the house's time `now`."""
    canvas = Canvas(width, height)
    with_signs = panel_symbols(ascii_only)
    _frame(canvas, with_signs)
    inner = width - 2
    if inner < 10 or height < 4:
        return canvas
    found = rows(evening.table_view)
    time = clock_of(evening, now)
    concerns = list(_concerns(evening, time, inner))
    with_chart = height >= CHART_FROM and inner >= ROOMY and len(found) > 0
    news = LEAST_NEWS + 1 + (CHART_HEIGHT + 1 if with_chart else 0)
    room = height - 2 - len(concerns) - 1 - news
    if found:
        y = _racers(canvas, evening, found, max(1, room), with_signs)
    else:
        y = _gathered(canvas, evening, max(1, room), with_signs)
    y = _section(canvas, y, "you", concerns, with_signs) if concerns else y
    if with_chart:
        _across(canvas, y, "banked over time", with_signs)
        _chart(canvas, evening, found, y + 1, time)
        y += CHART_HEIGHT + 1
    if y < height - 2:
        _across(canvas, y, "news", with_signs)
        _news(canvas, evening.feed_lines, y + 1)
    return canvas


def ticker(evening: SessionState, width: int, now: int, *, ascii_only: bool = False) -> Canvas:
    """The race in one line, for screens without room for a panel."""
    canvas = Canvas(width, 1)
    time = clock_of(evening, now)
    end = clock(time.elapsed if time.left is None else time.left)
    x = 0
    for row in _around_oneself(rows(evening.table_view), evening.player, 4):
        if row is None:
            x = canvas.put(x, 0, f"{panel_symbols(ascii_only).dots} ", Role.DIM)
            continue
        text = f"{row.place} {_name(row, evening)} {row.banked} {dollars(row.net)}"
        if x + cell_len(text) + 2 > width - len(end):
            break
        x = canvas.put(x, 0, text, _role(row, evening)) + 2
    canvas.put(width - len(end), 0, end, Role.TITLE)
    return canvas


def meter(evening: SessionState, width: int, *, ascii_only: bool = False) -> Canvas:
    """What one has paid and won, six rows high; where nobody races, empty."""
    canvas = Canvas(width, 6)
    own, with_signs = evening.own, panel_symbols(ascii_only)
    if own is None:
        return canvas
    paid, won = PACK_PRICE * own.game.packs, CARD_PRIZE * own.banked
    even = EVEN_PER_PACK * own.game.packs
    canvas.put(0, 0, f"banked {own.banked}/{own.game.goal.cards}", Role.LABEL)
    tick = _bar(canvas, 0, 1, width, own.banked, own.game.goal.cards, even, with_signs)
    canvas.put(tick, 2, f"{with_signs.tick}{even} = even", Role.TICK)
    for y, (label, amount) in enumerate((("paid", -paid), ("won", won), ("net", own.net)), 3):
        canvas.put(0, y, f"{label:<5}", Role.LABEL)
        role = Role.MONEY_DOWN if amount < 0 else Role.MONEY_UP
        canvas.put(5, y, f"{dollars(amount):>5}", role)
    return canvas


# The frame


def _frame(canvas: Canvas, with_signs: PanelSymbols) -> None:
    width, height, corners = canvas.width, canvas.height, with_signs.corners
    across = with_signs.across * max(0, width - 2)
    canvas.put(0, 0, f"{corners[0]}{across}{corners[1]}", Role.FRAME)
    for y in range(1, height - 1):
        canvas.put(0, y, with_signs.upright, Role.FRAME)
        canvas.put(width - 1, y, with_signs.upright, Role.FRAME)
    canvas.put(0, height - 1, f"{corners[2]}{across}{corners[3]}", Role.FRAME)
    canvas.put(1, 0, " RACE ", Role.TITLE)


def _across(canvas: Canvas, y: int, title: str, with_signs: PanelSymbols) -> None:
    line = with_signs.across * max(0, canvas.width - 2)
    canvas.put(0, y, f"{with_signs.corners[4]}{line}{with_signs.corners[5]}", Role.FRAME)
    canvas.put(1, y, f" {title} ", Role.LABEL)


def _section(
    canvas: Canvas, y: int, title: str, lines: Sequence[_PanelLine], with_signs: PanelSymbols
) -> int:
    _across(canvas, y, title, with_signs)
    for line in lines:
        y += 1
        if y < canvas.height - 1:
            canvas.put(1, y, line.text, line.role)
    return y + 1


# The racers


def _racers(
    canvas: Canvas, evening: SessionState, found: Sequence[Row], room: int, with_signs: PanelSymbols
) -> int:
    """Draw the racers; return the row after them."""
    with_bars = 2 * len(found) <= room
    lines = room // 2 if with_bars else room
    y = 1
    for row in _around_oneself(found, evening.player, lines):
        if row is None:
            canvas.put(1, y, f"   {with_signs.dots}", Role.DIM)
            y += 1
            continue
        _racer(canvas, evening, row, y, with_signs, with_net=not with_bars)
        y += 1
        if with_bars:
            _racers_bar(canvas, evening, row, y, with_signs)
            y += 1
    return y


def _around_oneself(found: Sequence[Row], you: str, lines: int) -> list[Row | None]:
    """As many racers as there are lines for: the first, and those around oneself.

    `None` stands for those left out.
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
        # the first ones, oneself among them, and one line for the rest
        return [*found[: lines - 1], None]
    room = lines - 2
    if at >= len(found) - room:
        return [found[0], None, *found[-room:]]
    start = at - (room - 1) // 2
    return [found[0], None, *found[start : start + room - 1], None]


def _racer(
    canvas: Canvas,
    evening: SessionState,
    row: Row,
    y: int,
    with_signs: PanelSymbols,
    with_net: bool,
) -> None:
    """Place, name, count, money where there is room for it, and state."""
    inner = canvas.width - 2
    with_net = with_net or inner >= ROOMY
    net = f"{dollars(row.net):>6}" if with_net and inner >= ROOMY else ""
    end = f"{row.banked:>4}{net} {_mark(evening, row, with_signs)}"
    role = _role(row, evening)
    x = canvas.put(1, y, f"{row.place:>2} ", role)
    name = _name(row, evening)
    room = inner - 3 - len(end) - 1
    text = (
        fitted(name, room, with_signs.dots)
        if name == "YOU"
        else fitted_name(row.name, row.bot, room, with_signs.dots)
    )
    x = canvas.put(x, y, text, role)
    x = canvas.put(canvas.width - 2 - len(end), y, f"{row.banked:>4}", role)
    if net:
        x = canvas.put(x, y, net, Role.MONEY_DOWN if row.net < 0 else Role.MONEY_UP)
    mark = Role.WARNING if row.player in disconnected_players(evening.table) else role
    canvas.put(x + 1, y, _mark(evening, row, with_signs), mark)


def _racers_bar(
    canvas: Canvas, evening: SessionState, row: Row, y: int, with_signs: PanelSymbols
) -> None:
    inner = canvas.width - 2
    game = evening.game
    goal = game.goal.cards if game is not None else len(PACK)
    even = EVEN_PER_PACK * (game.packs if game is not None else 1)
    net = "" if inner >= ROOMY else f" {dollars(row.net):>5}"
    width = inner - 3 - len(net) - 2
    _bar(canvas, 4, y, width, row.banked, goal, even, with_signs)
    if net:
        role = Role.MONEY_DOWN if row.net < 0 else Role.MONEY_UP
        canvas.put(4 + width, y, net, role)


def _bar(
    canvas: Canvas,
    x: int,
    y: int,
    width: int,
    banked: int,
    goal: int,
    even: int,
    with_signs: PanelSymbols,
) -> int:
    """A bar with the tick where the money is even; returns the tick's column.

    However short the bar: it stops before the tick, at it or beyond it as the money does.
    """
    at = round(width * even / goal)
    filled = min(width, round(width * banked / goal))
    # a first card is seen, and the last one is missed
    filled = max(filled, 1) if banked else 0
    filled = min(filled, width - 1) if banked < goal else width
    if banked < even:
        filled = max(0, min(filled, at - 1))
    elif banked == even:
        filled = at
    else:
        filled = max(filled, at + 2)
    canvas.put(x, y, with_signs.filled * filled, Role.BAR)
    canvas.put(x + filled, y, with_signs.rest * (width - filled), Role.BAR_REST)
    canvas.put(x + at, y, with_signs.tick, Role.TICK)
    return x + at


def _mark(evening: SessionState, row: Row, with_signs: PanelSymbols) -> str:
    is_away = row.state == "racing" and row.player in disconnected_players(evening.table)
    return with_signs.away if is_away else with_signs.states.get(row.state, "?")


def _name(row: Row, evening: SessionState) -> str:
    return "YOU" if row.player == evening.player else sanitised(shown_name(row.name, row.bot))


def _role(row: Row, evening: SessionState) -> Role:
    if row.player == evening.player:
        return Role.YOU
    if row.state not in ("racing", "won"):
        return Role.DIM
    return Role.LEADER if row.place == 1 else Role.TEXT


def _gathered(canvas: Canvas, evening: SessionState, room: int, with_signs: PanelSymbols) -> int:
    """Before the race: who sits here."""
    seats = evening.table.seats
    y = 1
    for seat in seats[:room] if len(seats) <= room else seats[: room - 1]:
        role = Role.YOU if seat.player == evening.player else Role.TEXT
        canvas.put(2, y, fitted_name(seat.name, seat.bot, canvas.width - 4, with_signs.dots), role)
        y += 1
    if len(seats) > room:
        canvas.put(2, y, f"and {len(seats) - room + 1} more", Role.DIM)
        y += 1
    return y


# Oneself, the chart, the news


def _concerns(evening: SessionState, time: RaceClock, inner: int) -> Iterator[_PanelLine]:
    """What is said of the player: how the race stands for them, and what troubles."""
    if evening.link is LinkState.RECONNECTING:
        yield from _lines("connection lost; trying again", Role.WARNING, inner)
    for alarm in evening.alarms[-1:]:
        yield from _lines(alarm, Role.ALARM, inner)
    if evening.table_view.outcome is not None:
        yield from _lines(own_result(evening), Role.YOU, inner)
        if evening.is_new_best:
            yield from _lines("your best so far!", Role.MONEY_UP, inner)
        return
    yield from _lines(gap(evening), Role.TEXT, inner)
    yield from _lines(against_best(evening, time.elapsed), Role.DIM, inner)


def _lines(text: str, role: Role, inner: int) -> Iterator[_PanelLine]:
    for line in wrapped(text, inner):
        yield _PanelLine(line, role)


def _chart(
    canvas: Canvas, evening: SessionState, found: Sequence[Row], y: int, time: RaceClock
) -> None:
    end = time.elapsed or max(
        (moments[-1].at for moments in evening.history.values() if moments), default=0
    )
    game = evening.game
    even = EVEN_PER_PACK * (game.packs if game is not None else 1)
    climbs = []
    for row in found:
        moments = evening.history.get(row.player, ())
        start = moments[0].banked if moments else row.banked
        climbs.append(Climb(start, tuple(moments[1:]), end))
    roles = {mark: _role(row, evening) for mark, row in zip(MARKS, found, strict=False)}
    width = canvas.width - 2
    for line, text in enumerate(chart(climbs, even, width, CHART_HEIGHT)[:CHART_HEIGHT]):
        is_axis = line == CHART_HEIGHT - 1
        for column, sign in enumerate(text):
            if sign != " ":
                is_mark = column >= 4 and not is_axis and sign in roles
                canvas.put(1 + column, y + line, sign, roles[sign] if is_mark else Role.DIM)


def _news(canvas: Canvas, feed: Sequence[FeedLine], y: int) -> None:
    """The newest first, as many as there is room for; a line is shown whole or not at all."""
    for news in reversed(feed):
        lines = wrapped(f"{clock(news.at)} {news.text}", canvas.width - 2, indent=5)
        if y + len(lines) > canvas.height - 1:
            return
        for text in lines:
            canvas.put(1, y, text, TONES.get(news.tone, Role.DIM))
            y += 1
