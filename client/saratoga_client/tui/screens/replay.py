"""The base of the replay screens: boards that are stepped through, or played at the race's speed."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from textual.containers import Vertical
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.symbols import Symbols
from saratoga_client.input.move_text import (
    CardName,
    describe,
    first_that_fits,
    has_pile,
    target_of,
    turned_up,
)
from saratoga_client.input.selection import InputResult
from saratoga_client.review.boards import OpenBoard
from saratoga_client.review.chart import AXIS, LABEL, chart
from saratoga_client.review.divergence import Divergence, Pause, longest_pauses
from saratoga_client.review.replay import Replay
from saratoga_client.text import cells_of, fitted_name, wrapped
from saratoga_client.tui.base_screen import Key, Keys
from saratoga_client.tui.board_pane import BoardPosition
from saratoga_client.tui.game_screen import GameScreen
from saratoga_client.tui.painted_rows import CanvasView
from saratoga_client.wording import (
    capitalised,
    counted,
    dollars,
    duration_text,
    minutes_and_seconds,
    shown_name,
    state_words,
)
from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.money import even_at, net
from saratoga_rules.moves import RESERVE, Carry, parse_move
from saratoga_rules.position import Position
from saratoga_rules.records.standing import LOG_ENDINGS


def last_move_text(replay: Replay, card_name: CardName) -> str:
    """Return the move or the ending that led to the shown position."""
    entry, board = replay.entry, replay.board
    if entry is None:
        return "The deal, the same for every player."
    if entry.text in LOG_ENDINGS:
        return f"{capitalised(state_words(entry.text))} at {minutes_and_seconds(entry.at, tenths=True)}."
    before = board.view(replay.step - 1)
    said = describe(replay.game, before, parse_move(entry.text), card_name)
    card = turned_up(before, board.view(replay.step))
    if card is not None:
        said += f"; {card_name(card)} turns up"
    return first_that_fits(
        f"{replay.step}. {said}, at {minutes_and_seconds(entry.at, tenths=True)}",
        f"{replay.step}. {said}",
    )


def next_move_text(replay: Replay, card_name: CardName) -> str:
    """Return the shown board's next move or its ending."""
    board, step = replay.board, replay.step
    if step == len(board.entries):
        return "nothing: the board has ended"
    entry = board.entries[step]
    if entry.text in LOG_ENDINGS:
        return state_words(entry.text)
    return describe(replay.game, board.view(step), parse_move(entry.text), card_name)


def divergence_text(replay: Replay, divergence: Divergence) -> str:
    """Return a sentence on the first difference of two boards; the panel shows the own next move."""
    rival = shown_name(replay.rival.name, replay.rival.bot, replay.rival.level)
    if divergence.common:
        where = f"after {counted(divergence.common, 'common move')}"
    else:
        where = "from the first move"
    return first_that_fits(
        f"Differs from {rival} {where}: {divergence.winners_next or 'that board ended'}.",
        f"Differs from {rival} {where}.",
        f"Differs {where}.",
    )


def pause_text(pause: Pause) -> str:
    """Return a sentence on a pause before a move."""
    since = minutes_and_seconds(pause.since, tenths=True)
    return f"A pause of {duration_text(pause.lasted)}, from {since} on. w: the next longest"


def hidden_cards(game: Game, position: Position) -> Iterator[tuple[str, tuple[Card, ...]]]:
    """Yield the hidden cards of reserve and stock, each with a heading, the next card first."""
    if has_pile(game, RESERVE):
        yield "RESERVE, FROM THE TOP", tuple(position.reserve[-2::-1])
    yield "STOCK, FROM THE TOP", tuple(position.stock)


def face_down_columns(position: Position) -> Iterator[tuple[int, tuple[Card, ...]]]:
    """Yield the number of each column with face-down cards and these cards, the next one first."""
    for number, cards in enumerate(position.face_down, start=1):
        if cards:
            yield number, cards[::-1]


TAG: Final = " REPLAY "
NOW: Final = "^"
"""The mark below the chart at the shown moment."""

NEXT: Final = 6
"""Rows reserved for the next moves."""

CHART: Final = 8
"""Rows reserved for the chart with its times."""
LEAST_CHART: Final = 5
MOST_CHART: Final = 16

STRIP: Final = 60
"""Minimum width, in cells, of a panel with the chart beside the racers instead of below them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayState:
    """The state of the replay's screen, which its title and panel show."""

    replay: Replay
    player: str = ""
    """The id of the player who reviews the race; empty if this player did not race."""
    speed: int = 0
    """The speed as a multiple of the race's; 0: paused."""
    is_open: bool = False
    """True if the panel names the hidden cards instead of showing the chart."""


def replay_title(seen: ReplayState, width: int) -> Canvas:
    """Draw the title: game, race, board, step and time."""
    canvas = Canvas(width, 1, Role.TITLE)
    replay = seen.replay
    pace = f"x{seen.speed}  " if seen.speed else ""
    right = f"{pace}{minutes_and_seconds(replay.moment, tenths=True)} of {minutes_and_seconds(replay.end)} "
    end = width - cells_of(right)
    board = replay.board
    facts = (
        replay.game.title,
        replay.race,
        f"{board.place}. {shown_name(board.name, board.bot, board.level)}",
        f"{replay.step}/{len(board.entries)}",
    )
    x = canvas.put(0, 0, TAG, Role.LABEL) + 1
    for fact in facts:
        if x + cells_of(fact) + 1 < end:
            x = canvas.put(x, 0, fact, Role.TITLE) + 2
    canvas.put(end, 0, right, Role.TITLE)
    return canvas


def replay_panel(
    seen: ReplayState, symbols: Symbols, card_name: CardName, width: int, height: int
) -> Canvas:
    """Draw the counts, the next moves, and the chart or the hidden cards."""
    canvas = Canvas(width, height)
    is_strip = width >= STRIP
    side = width // 2 if is_strip else width
    kept = NEXT if is_strip else NEXT + CHART
    y = _racers(canvas, seen, symbols, side, max(height - kept, 3))
    y = _next(canvas, seen.replay, card_name, y + 1, side)
    x, y = (side + 1, 0) if is_strip else (0, y + 1)
    if seen.is_open:
        _face_down(canvas, seen.replay, card_name, x, y)
    else:
        _climb(canvas, seen, x, y, min(height - y, MOST_CHART))
    return canvas


def replay_ticker(seen: ReplayState, width: int) -> Canvas:
    """Draw the racers' counts in one line, the shown board's first, for small screens."""
    canvas = Canvas(width, 1)
    replay = seen.replay
    others = [index for index in range(len(replay.boards)) if index != replay.shown]
    x = 1
    for index in (replay.shown, *others):
        board = replay.boards[index]
        banked = board.banked_after(replay.step_of(index))
        text = f"{board.place}. {shown_name(board.name, board.bot, board.level)} {banked}"
        if x + cells_of(text) < width:
            x = canvas.put(x, 0, text, _role(seen, index)) + 2
    return canvas


def _racers(canvas: Canvas, seen: ReplayState, symbols: Symbols, width: int, height: int) -> int:
    """Draw the racers that fit, the shown one included; return the row after them."""
    replay = seen.replay
    room = max(height - 1, 1)
    first = max(0, min(replay.shown - room // 2, len(replay.boards) - room))
    rows = range(first, min(first + room, len(replay.boards)))
    counts = len(str(replay.game.cards)) + 1
    name = width - 11 - counts
    canvas.put(1, 0, f"BANKED BY {minutes_and_seconds(replay.moment)}", Role.LABEL)
    for y, index in enumerate(rows, 1):
        board = replay.boards[index]
        banked = board.banked_after(replay.step_of(index))
        money = net(replay.game, banked)
        role = _role(seen, index)
        if index == replay.shown:
            canvas.put(0, y, symbols.mark, role)
        x = canvas.put(1, y, f"{board.place:>2} ", role)
        fitted = fitted_name(board.name, board.bot, board.level, name, symbols.dots)
        x = canvas.put(x, y, fitted, role)
        x = canvas.put(x, y, f"{banked:>{counts}}", Role.COUNT)
        canvas.put(x, y, f"{dollars(money):>6}", Role.MONEY_DOWN if money < 0 else Role.MONEY_UP)
    return len(rows) + 1


def _role(seen: ReplayState, index: int) -> Role:
    replay = seen.replay
    board = replay.boards[index]
    if board.player == seen.player:
        return Role.YOU
    if index != replay.shown and replay.moment >= board.end:
        return Role.DIM
    return Role.LEADER if board.place == 1 else Role.TEXT


def _next(canvas: Canvas, replay: Replay, card_name: CardName, y: int, width: int) -> int:
    """Draw the next move, or the next moves of two compared boards; return the row below."""
    canvas.put(1, y, "NEXT", Role.LABEL)
    for text in _next_lines(replay, card_name, width - 2):
        y += 1
        canvas.put(1, y, text, Role.TEXT)
    return y + 1


def _next_lines(replay: Replay, card_name: CardName, width: int) -> Iterator[str]:
    yield from wrapped(next_move_text(replay, card_name), width)


def _face_down(canvas: Canvas, replay: Replay, card_name: CardName, x: int, y: int) -> None:
    """Draw the hidden cards by pile; count those for which the panel is too short."""
    columns = list(face_down_columns(replay.position))
    if columns:
        canvas.put(x + 1, y, "COLUMNS, FROM THE TOP", Role.LABEL)
        for number, cards in columns:
            y += 1
            canvas.put(x + 1, y, f"{number} {' '.join(map(card_name, cards))}", Role.TEXT)
        y += 2
    for heading, cards in hidden_cards(replay.game, replay.position):
        canvas.put(x + 1, y, heading, Role.LABEL)
        named = " ".join(f"{card_name(card):>3}" for card in cards) or " none"
        lines = list(wrapped_cards(named, canvas.width - x - 1))
        room = canvas.height - y - 1
        if len(lines) > room:
            lines = lines[: max(room - 1, 0)]
            lines.append(f" and {len(cards) - sum(len(line.split()) for line in lines)} more")
        for line in lines:
            y += 1
            canvas.put(x, y, line, Role.TEXT)
        y += 2


def wrapped_cards(named: str, width: int) -> Iterator[str]:
    """Yield lines of at most `width` cells; `named` has card names of three cells, separated by blanks."""
    cells = max(width // 4, 1) * 4
    yield from (named[at : at + cells] for at in range(0, len(named), cells))


def _climb(canvas: Canvas, seen: ReplayState, x: int, y: int, height: int) -> None:
    """Draw the chart, and below it a mark at the shown moment."""
    if height < LEAST_CHART:
        return
    replay, width = seen.replay, canvas.width - x - 1
    lines = [board.chart_line for board in replay.boards]
    end = max(line.climb.end for line in lines)
    *rows, times = chart(lines, even_at(replay.game), width, height - 1).rows
    for text in rows:
        canvas.put(x, y, text, Role.TEXT)
        y += 1
    now = x + LABEL + replay.moment * (width - LABEL - 1) // max(end, 1)
    canvas.put(x + LABEL - 1, y, AXIS, Role.TEXT)
    canvas.put(now, y, NOW, Role.LEADER)
    canvas.put(x, y + 1, times, Role.DIM)


SPEEDS: Final = (0, 1, 2, 8)
"""The speeds of the replay as multiples of the race's; 0 pauses it."""

MOST_PAUSES: Final = 5
"""Number of a board's longest pauses that the key `w` goes through."""

PAGE: Final = 10
"""Number of moves that the keys pageup and pagedown skip."""

STEPS: Final = {"left j": -1, "pagedown": PAGE, "pageup": -PAGE}
"""Keys that go forward or back by moves."""
JUMPS: Final = {".": 1_000, ",": -1_000, ">": 10_000, "<": -10_000}
"""Keys that go forward or back in time, each with its milliseconds."""
STEP_WORDS: Final = {
    "pagedown": "ten moves forward",
    "pageup": "ten moves back",
    ".": "one second forward",
    ",": "one second back",
    ">": "ten seconds forward",
    "<": "ten seconds back",
}


class ReplayScreen(GameScreen):
    """The screen of boards that are stepped through and played; `dismiss` closes it."""

    DEFAULT_CSS = """
    ReplayScreen #side { width: 24; height: 1fr; }
    ReplayScreen.-wide #side { width: 34; }
    ReplayScreen.-broad #side { width: 44; }
    """
    TICK: ClassVar[float] = 0.1
    HEADING = "REPLAY"

    def __init__(
        self, replay: Replay, player: str = "", *, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        """Show a replay; `player` is the id of the player who reviews the race."""
        super().__init__()
        self.player = player
        self.replay = replay
        self.speed = 0
        self._seconds = seconds
        self._names_hidden = False
        self._ticked_at = 0.0

    def side(self) -> Iterable[Widget]:
        with Vertical(id="side"):
            yield CanvasView(self._draw_panel, id="panel")

    def begin(self) -> None:
        self.say_move()

    # Drawing

    @property
    def shown(self) -> ReplayState:
        """The state that the title and the panel show."""
        return ReplayState(
            replay=self.replay, player=self.player, speed=self.speed, is_open=self._names_hidden
        )

    def draw_title(self, width: int, height: int) -> Canvas:
        return replay_title(self.shown, width)

    def _draw_panel(self, width: int, height: int) -> Canvas:
        return replay_panel(self.shown, self.symbols, self.card_name, width, height)

    def draw_ticker(self, width: int, height: int) -> Canvas:
        return replay_ticker(self.shown, width)

    def keys(self) -> Keys:
        if self.finder.is_open:
            return super().keys()
        moves, speed = (
            "the move before, the next move; also j and l",
            "stop" if self.speed else "play",
        )
        pauses = "the longest pause before a move on this board; again: the next longest"
        steps = ((name, partial(self._step, count)) for name, count in STEPS.items())
        jumps = ((name, partial(self._jump, millis)) for name, millis in JUMPS.items())
        return (
            Key("right l", "moves", moves, partial(self._step, 1), shown="left right"),
            Key("space k", speed, "play the race once, twice, 8 times as fast", self._change_speed),
            Key("w", "longest pause", pauses, self._show_pause),
            *(Key(name, "", STEP_WORDS.get(name, ""), step) for name, step in (*steps, *jumps)),
            Key("home", "", "the deal", lambda: self.go(self.replay.at_home())),
            Key("end", "", "the end of this board", lambda: self.go(self.replay.at_end())),
            *super().keys(),
            Key("escape", "", "", lambda: self.go(self.replay)),
        )

    def redraw_side(self) -> None:
        shown = self.shown
        for name in ("#panel", "#ticker"):
            self.query_one(name, CanvasView).redraw_for(shown)

    def position(self) -> BoardPosition:
        replay = self.replay
        board, step = replay.board, replay.step
        return BoardPosition(
            game=replay.game,
            view=board.view(step),
            style=self.program.appearance.card_style(replay.game),
            find=self.finder.text,
            last_target=_last_target(board, step),
            is_interactive=False,
        )

    def tick(self) -> None:
        if not self.speed or not self.is_current:
            return
        now = self._seconds()
        passed, self._ticked_at = now - self._ticked_at, now
        with self.drawn_once():
            step = self.replay.step
            self.replay = self.replay.at(self.replay.moment + int(passed * 1000 * self.speed))
            if self.replay.moment >= self.replay.end:
                self.speed = 0
            if self.replay.step != step:
                self.say_move()
            self.redraw()

    def say_move(self) -> None:
        """Say the move that led to the shown position."""
        self.say(last_move_text(self.replay, self.card_name))

    # Keys

    def play(self, result: InputResult) -> None:
        """Do nothing, because moves cannot be played in a replay."""

    def _step(self, count: int) -> None:
        self.go(self.replay.stepped(count))

    def _jump(self, millis: int) -> None:
        self.go(self.replay.at(self.replay.moment + millis))

    def go(self, replay: Replay) -> None:
        """Pause the replay and show a moment of the race."""
        self.speed = 0
        self.replay = replay
        self.say_move()

    def _change_speed(self) -> None:
        """Switch to the next of `SPEEDS`."""
        self.speed = SPEEDS[(SPEEDS.index(self.speed) + 1) % len(SPEEDS)]
        self._ticked_at = self._seconds()
        if self.speed and self.replay.moment >= self.replay.end:
            self.replay = self.replay.at_home()
        texts = {0: "Paused; space plays on.", 1: "Playing at the speed of the race."}
        self.say(texts.get(self.speed, f"Playing {self.speed} times as fast as the race."))

    def _show_pause(self) -> None:
        """Go to the longest pause before a move; pressed again, go to the next longest."""
        pauses = longest_pauses(self.replay.board, MOST_PAUSES)
        if not pauses:
            self.say("There is no pause on this board.")
            return
        steps = [pause.step for pause in pauses]
        here = steps.index(self.replay.step) if self.replay.step in steps else -1
        pause = pauses[(here + 1) % len(pauses)]
        self.go(self.replay.stepped(pause.step - self.replay.step))
        self.say(pause_text(pause))

    def show_help(self) -> None:
        self.speed = 0
        super().show_help()


def _last_target(board: OpenBoard, step: int) -> str:
    """Return the pile that the last move ended on; empty for none."""
    if not step or not board.entries[step - 1].is_move:
        return ""
    move = parse_move(board.entries[step - 1].text)
    return target_of(board.view(step - 1), move) if isinstance(move, Carry) else ""
