"""What stands around the boards of a race that is seen again: who had how much by then, and the climb."""

from typing import Final

from rich.cells import cell_len

from saratoga_client.drawing.canvas import Canvas
from saratoga_client.drawing.roles import Role
from saratoga_client.hand.words import CardName, describe
from saratoga_client.model import dollars, shown_name
from saratoga_client.racing.lettering import name_in, wrapped
from saratoga_client.review.chart import AXIS, LABEL, chart
from saratoga_client.review.partings import Parting
from saratoga_client.review.replay import Replay
from saratoga_client.review.times import clock, precise
from saratoga_client.shown import shown
from saratoga_client.tui.pages.signs import Signs
from saratoga_rules.money import CARD_PRIZE, PACK_PRICE, net
from saratoga_rules.moves import parse_move
from saratoga_rules.position import Position
from saratoga_rules.record import LOG_ENDINGS
from saratoga_rules.views import redact

TAG: Final = " REPLAY "
NOW: Final = "^"
"""Below the chart: the moment that is shown."""

CHART: Final = 8
"""Rows of the chart where there is room, its times among them."""
LEAST_CHART: Final = 5

NEXT: Final = 5
"""Rows kept for what comes next."""

MOST_HIDDEN: Final = 10
"""Cards of the stock that a line has room for."""

STRIP: Final = 60
"""Columns from which the chart stands beside the racers, not below them."""


def replay_title(replay: Replay, speed: int, width: int) -> Canvas:
    """What is seen again, and how far it has come."""
    canvas = Canvas(width, 1, Role.TITLE)
    pace = f"x{speed}  " if speed else ""
    right = f"{pace}{precise(replay.moment)} of {clock(replay.end)} "
    end = width - cell_len(right)
    board = replay.board
    facts = (
        replay.game.title,
        replay.race,
        f"{board.place}. {shown_name(board.name, board.bot)}",
        f"{replay.step}/{len(board.entries)}",
    )
    x = canvas.put(0, 0, TAG, Role.LABEL) + 1
    for fact in map(shown, facts):
        if x + cell_len(fact) + 1 < end:
            x = canvas.put(x, 0, fact, Role.TITLE) + 2
    canvas.put(end, 0, right, Role.TITLE)
    return canvas


def board_heading(replay: Replay, index: int, width: int) -> Canvas:
    """Whose board stands below, where there are two of them."""
    canvas = Canvas(width, 1)
    board, step = replay.boards[index], replay.step_of(index)
    tail = f"{step}/{len(board.entries)}  {board.positions[step].banked} banked "
    room = max(width - 5 - len(tail), 4)
    canvas.put(1, 0, f"{board.place}. {name_in(board.name, board.bot, room)}", Role.LABEL)
    canvas.put(width - len(tail), 0, tail, Role.COUNT)
    return canvas


def said_of(replay: Replay, card_name: CardName) -> str:
    """What led to the position that is shown, in words."""
    entry, board = replay.entry, replay.board
    if entry is None:
        return "The deal, the same for everybody."
    if entry.text in LOG_ENDINGS:
        return f"{LOG_ENDINGS[entry.text].capitalize()} at {precise(entry.at)}."
    before = redact(board.positions[replay.step - 1])
    said = describe(replay.game, before, parse_move(entry.text), card_name)
    return f"{replay.step}. {said}, at {precise(entry.at)}"


def next_of(replay: Replay, index: int, card_name: CardName) -> str:
    """What a board does next, in words."""
    board, step = replay.boards[index], replay.step_of(index)
    if step == len(board.entries):
        return "stopped here"
    entry = board.entries[step]
    if entry.text in LOG_ENDINGS:
        return str(LOG_ENDINGS[entry.text])
    return describe(replay.game, redact(board.positions[step]), parse_move(entry.text), card_name)


def parting_words(replay: Replay, parting: Parting, *, is_last: bool) -> str:
    """Where two boards parted, for the message line; what each did then stands in the panel."""
    rival = shown(shown_name(replay.boards[replay.rival].name, replay.boards[replay.rival].bot))
    if is_last:
        return (
            f"The last position that both had, move {parting.own} here. Then {rival} went on alone."
        )
    moves = "the deal" if not parting.own else f"move {parting.own}"
    return f"Alike until {moves}. right: both go on; x: the other board; d: the last parting."


def hidden_words(position: Position, card_name: CardName) -> str:
    """What lay face down, for the message line: the stock in the order in which it comes."""
    reserve, stock = position.reserve[-2::-1], position.stock
    parts = [
        f"{where} {' '.join(map(card_name, cards))}"
        for where, cards in (
            ("reserve below its top:", reserve),
            ("stock next:", stock[:MOST_HIDDEN]),
        )
        if cards
    ]
    return "; ".join(parts) if parts else "Nothing lies face down here."


def replay_panel(
    replay: Replay, player: str, signs: Signs, card_name: CardName, width: int, height: int
) -> Canvas:
    """Every racer's count at the moment, what comes next, and the counts' whole climb."""
    canvas = Canvas(width, height)
    if width >= STRIP:
        half = width // 2
        y = _racers(canvas, replay, player, signs, half, height - NEXT)
        _next(canvas, replay, card_name, y, half)
        _climb(canvas, replay, half + 1, 0, height)
        return canvas
    y = _racers(canvas, replay, player, signs, width, max(height - NEXT - CHART, 3))
    y = _next(canvas, replay, card_name, y, width)
    _climb(canvas, replay, 0, y, min(height - y, 2 * CHART))
    return canvas


def _next(canvas: Canvas, replay: Replay, card_name: CardName, y: int, width: int) -> int:
    """What comes next on the shown board, and on the rival's where they go step for step."""
    seen = [replay.shown]
    if replay.ahead is not None and replay.rival != replay.shown:
        seen.append(replay.rival)
    canvas.put(1, y, "NEXT", Role.LABEL)
    for index in seen:
        mark = f"{replay.boards[index].place}. " if len(seen) > 1 else ""
        for text in wrapped(mark + next_of(replay, index, card_name), width - 2, len(mark)):
            y += 1
            canvas.put(1, y, text, Role.TEXT)
    return y + 2


def _racers(
    canvas: Canvas, replay: Replay, player: str, signs: Signs, width: int, height: int
) -> int:
    """Rows of the racers, the shown one's among them; returns the row after them."""
    room = max(height - 1, 1)
    first = max(0, min(replay.shown - room // 2, len(replay.boards) - room))
    canvas.put(1, 0, f"BANKED BY {clock(replay.moment)}", Role.LABEL)
    rows = range(first, min(first + room, len(replay.boards)))
    for y, index in enumerate(rows, 1):
        board = replay.boards[index]
        banked = board.positions[replay.step_of(index)].banked
        money = net(replay.game, banked)
        is_over = replay.moment >= board.end
        role = _role(replay, index, player)
        if index == replay.shown:
            canvas.put(0, y, signs.mark, role)
        tail = f"{banked:>4}{dollars(money):>6}"
        name = name_in(board.name, board.bot, width - 5 - len(tail), signs.dots)
        x = canvas.put(1, y, f"{board.place:>2} ", role)
        x = canvas.put(x, y, name, Role.DIM if is_over and index != replay.shown else role)
        x = canvas.put(x, y, f"{banked:>4}", Role.COUNT)
        canvas.put(x, y, f"{dollars(money):>6}", Role.MONEY_DOWN if money < 0 else Role.MONEY_UP)
    return len(rows) + 1


def _role(replay: Replay, index: int, player: str) -> Role:
    if replay.boards[index].player == player:
        return Role.YOU
    return Role.LEADER if replay.boards[index].place == 1 else Role.TEXT


def _climb(canvas: Canvas, replay: Replay, x: int, y: int, height: int) -> None:
    """The chart, and below it where the moment is."""
    if height < LEAST_CHART:
        return
    width = canvas.width - x - 1
    even = PACK_PRICE * replay.game.packs // CARD_PRIZE
    rows = chart([board.climb for board in replay.boards], even, width, height - 1)
    now = x + LABEL + replay.moment * (width - LABEL - 1) // max(replay.end, 1)
    for line, text in enumerate(rows[:-1], y):
        canvas.put(x, line, text, Role.TEXT)
    axis = y + len(rows) - 1
    canvas.put(x + LABEL - 1, axis, AXIS, Role.TEXT)
    canvas.put(now, axis, NOW, Role.LEADER)
    canvas.put(x, axis + 1, rows[-1], Role.DIM)
