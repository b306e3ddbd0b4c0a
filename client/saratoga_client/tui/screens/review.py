"""The screen of a finished race: all its boards, stepped through by move or played at the race's speed."""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import ClassVar, Final

from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role, Symbols, money_role, racer_roles
from saratoga_client.input.move_text import (
    CardName,
    first_that_fits,
    has_pile,
    target_of,
    turned_up,
)
from saratoga_client.input.selection import InputResult
from saratoga_client.practice.deals import PracticeDeal
from saratoga_client.practice.practice_session import Ghost
from saratoga_client.review.boards import (
    OpenBoard,
    Pause,
    Replay,
    first_difference,
    longest_pauses,
    replay_of,
)
from saratoga_client.text import cells_of, fitted, wrapped
from saratoga_client.tui.base_screen import Key, Keys
from saratoga_client.tui.chart import Line, draw_chart
from saratoga_client.tui.game_screen import BoardPosition, GameScreen
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.tui.widgets import CanvasView
from saratoga_client.wording import (
    capitalised,
    counted,
    dollars,
    duration_text,
    minutes_and_seconds,
    money_meter,
    shown_name,
)
from saratoga_rules.money import net
from saratoga_rules.moves import RESERVE, Carry, parse_move

ONLY_BOARD: Final = "There is only this board: no one else raced."


def last_entry_text(board: OpenBoard, step: int, card_name: CardName) -> str:
    """Return a sentence on the move or the ending that led to the position after `step` entries."""
    if not step:
        return "The deal, the same for every player."
    words = board.entry_words(step - 1, card_name)
    at = f"at {minutes_and_seconds(board.entries[step - 1].at, tenths=True)}"
    if not board.entries[step - 1].is_move:
        return f"{capitalised(words)} {at}."
    card = turned_up(board.view(step - 1), board.view(step))
    if card is not None:
        words += f"; {card_name(card)} turns up"
    return first_that_fits(f"{step}. {words}, {at}", f"{step}. {words}")


def difference_text(own: OpenBoard, rival: OpenBoard, card_name: CardName) -> str:
    """Return a sentence on the first difference of two boards; the panel shows the own next move."""
    step = first_difference(own, rival)
    if step is None:
        return "The moves of these two boards are the same."
    where = f"after {counted(step, 'common move')}" if step else "from the first move"
    return first_that_fits(
        f"Differs from {rival.shown_name} {where}:"
        f" {rival.entry_words(step, card_name) or 'that board ended'}.",
        f"Differs from {rival.shown_name} {where}.",
        f"Differs {where}.",
    )


def pause_text(pause: Pause) -> str:
    """Return a sentence on a pause before a move."""
    since = minutes_and_seconds(pause.since, tenths=True)
    return f"A pause of {duration_text(pause.lasted)}, from {since} on. n goes on"


# The title, the panel and the ticker

NOW: Final = "^"
"""The mark below the chart at the shown moment."""

NEXT: Final = 6
"""Rows reserved for the next moves."""

CHART: Final = 8
"""Rows reserved for the chart with its times."""
LEAST_CHART: Final = 5
MOST_CHART: Final = 16


def replay_ticker(replay: Replay, width: int) -> Canvas:
    """Draw the racers' counts in one line, the shown board's first, for small screens."""
    canvas = Canvas(width, 1)
    x = 1
    for index in sorted(range(len(replay.boards)), key=lambda index: index != replay.shown):
        board = replay.boards[index]
        text = f"{board.place}. {board.shown_name} {replay.banked(index)}"
        if x + cells_of(text) < width:
            x = canvas.put(x, 0, text, _role(replay, index)) + 2
    return canvas


def replay_panel(
    replay: Replay,
    symbols: Symbols,
    card_name: CardName,
    width: int,
    height: int,
    *,
    names_hidden: bool = False,
) -> Canvas:
    """Draw the counts, the next move, and the chart or the names of the hidden cards."""
    canvas = Canvas(width, height)
    y = _draw_racers(canvas, replay, symbols, max(height - NEXT - CHART, 3)) + 1
    canvas.put(1, y, "NEXT", Role.LABEL)
    words = replay.board.entry_words(replay.step, card_name) or "nothing: the board has ended"
    for text in wrapped(words, width - 2):
        y += 1
        canvas.put(1, y, text, Role.TEXT)
    if names_hidden:
        _draw_hidden(canvas, replay.board, replay.step, card_name, y + 2)
    else:
        _draw_climb(canvas, replay, y + 2, symbols)
    return canvas


def _draw_racers(canvas: Canvas, replay: Replay, symbols: Symbols, height: int) -> int:
    """Draw the racers that fit, the shown one included; return the row after them."""
    room = max(height - 1, 1)
    first = max(0, min(replay.shown - room // 2, len(replay.boards) - room))
    rows = range(first, min(first + room, len(replay.boards)))
    game = replay.board.game
    counts = len(str(game.cards)) + 1
    canvas.put(1, 0, f"BANKED BY {minutes_and_seconds(replay.moment)}", Role.LABEL)
    for y, index in enumerate(rows, 1):
        board, banked = replay.boards[index], replay.banked(index)
        money = net(game, banked)
        role = _role(replay, index)
        if index == replay.shown:
            canvas.put(0, y, symbols.mark, role)
        x = canvas.put(1, y, f"{board.place:>2} ", role)
        room = canvas.width - 11 - counts
        name = shown_name(board.name, board.bot, symbols.bot)
        x = canvas.put(x, y, fitted(name, room, symbols.dots), role)
        x = canvas.put(x, y, f"{banked:>{counts}}", Role.COUNT)
        canvas.put(x, y, f"{dollars(money):>6}", money_role(money))
    return len(rows) + 1


def _role(replay: Replay, index: int) -> Role:
    roles = racer_roles([board.player for board in replay.boards], replay.player)
    return roles[replay.boards[index].player]


def _draw_hidden(canvas: Canvas, board: OpenBoard, step: int, card_name: CardName, y: int) -> None:
    """Draw the hidden cards by pile, the next one first; count those for which the panel is too short."""
    position = board.positions[step]
    if any(position.face_down):
        canvas.put(1, y, "COLUMNS, FROM THE TOP", Role.LABEL)
        for number, cards in enumerate(position.face_down, start=1):
            if cards:
                y += 1
                canvas.put(1, y, f"{number} {' '.join(map(card_name, cards[::-1]))}", Role.TEXT)
        y += 2
    piles = [("RESERVE", position.reserve[-2::-1])] if has_pile(board.game, RESERVE) else []
    for pile, cards in (*piles, ("STOCK", position.stock)):
        canvas.put(1, y, f"{pile}, FROM THE TOP", Role.LABEL)
        each = max((canvas.width - 1) // 4, 1)
        room = canvas.height - y - 1
        lines = [cards[at : at + each] for at in range(0, len(cards), each)] or [()]
        if len(lines) > room:
            lines = lines[: max(room - 1, 0)]
        for line in lines:
            y += 1
            named = " ".join(f"{card_name(card):>3}" for card in line) or " none"
            canvas.put(0, y, named, Role.TEXT)
        if left := len(cards) - sum(map(len, lines)):
            y += 1
            canvas.put(0, y, f" and {left} more", Role.TEXT)
        y += 2


def _draw_climb(canvas: Canvas, replay: Replay, y: int, symbols: Symbols) -> None:
    """Draw the chart, and below it a mark at the shown moment; nothing without enough room."""
    height = min(canvas.height - y, MOST_CHART) - 1
    if height < LEAST_CHART:
        return
    lines = [
        Line(board.place, f"{board.place}", board.climb, _role(replay, index))
        for index, board in enumerate(replay.boards)
    ]
    box = (0, y, canvas.width, height)
    axis = draw_chart(canvas, box, lines, money_meter(replay.board.game, 0), symbols)
    canvas.put(axis.column(replay.moment), y + height, NOW, Role.LEADER)


# The screen

SPEEDS: Final = {
    0: "Paused; space plays on.",
    1: "Playing at the speed of the race.",
    2: "Playing 2 times as fast as the race.",
    8: "Playing 8 times as fast as the race.",
}
"""The speeds of the replay as multiples of the race's, each with its sentence; 0 pauses it."""

MOST_PAUSES: Final = 5
"""Number of a board's longest pauses that the key `n` goes through."""


class ReviewScreen(GameScreen):
    """The screen of a finished race's boards; `dismiss` closes it."""

    DEFAULT_CSS = """
    ReviewScreen #side { width: 24; height: 1fr; }
    ReviewScreen.-wide #side { width: 34; }
    ReviewScreen.-broad #side { width: 44; }
    """
    TICK: ClassVar[float] = 0.1
    HEADING = TAG = "REPLAY"

    def __init__(
        self,
        race: str,
        boards: Sequence[OpenBoard],
        player: str = "",
        share: str = "",
        *,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Show the boards of a race, there is at least one; a player's board first, else the winner's.

        `share` is the text for friends that can be copied.
        """
        super().__init__()
        self.replay = replay_of(race, boards, player)
        self.speed = 0
        self._share = share
        self._seconds = seconds
        self._ticked_at = 0.0
        self._names_hidden = False

    def side(self) -> Iterable[Widget]:
        yield CanvasView(self._draw_panel, id="side")

    def begin(self) -> None:
        self._say_entry()

    # Drawing

    def facts(self) -> list[str]:
        replay, board = self.replay, self.replay.board
        step = f"{replay.step}/{len(board.entries)}"
        return [board.game.title, replay.race, f"{board.place}. {board.shown_name}", step]

    def status(self) -> list[tuple[str, Role]]:
        now = minutes_and_seconds(self.replay.moment, tenths=True)
        played = (f"x{self.speed}",) if self.speed else ()
        times = (*played, f"{now} of {minutes_and_seconds(self.replay.end)}")
        return [(text, Role.TITLE) for text in times]

    def _draw_panel(self, width: int, height: int) -> Canvas:
        symbols, hidden = self.symbols, self._names_hidden
        return replay_panel(
            self.replay, symbols, self.card_name, width, height, names_hidden=hidden
        )

    def draw_ticker(self, width: int, height: int) -> Canvas:
        return replay_ticker(self.replay, width)

    def position(self) -> BoardPosition:
        board, step = self.replay.board, self.replay.step
        return BoardPosition(
            game=board.game,
            view=board.view(step),
            style=self.program.appearance.card_style(board.game),
            find=self.finder.text,
            last_target=_last_target(board, step),
            is_interactive=False,
        )

    def tick(self) -> None:
        if not self.speed or not self.is_current:
            return
        now = self._seconds()
        passed, self._ticked_at = now - self._ticked_at, now
        step = self.replay.step
        self.replay = self.replay.at(self.replay.moment + int(passed * 1000 * self.speed))
        if self.replay.moment >= self.replay.end:
            self.speed = 0
        if self.replay.step != step:
            self._say_entry()
        self.redraw()

    def _say_entry(self) -> None:
        """Say what led to the shown position."""
        self.say(last_entry_text(self.replay.board, self.replay.step, self.card_name))

    # Keys

    def own_keys(self) -> Keys:
        moves = "the move before, the next move"
        racers = "the next racer's board, the one before; 1 to 9 choose by place"
        moments = (
            "the next moment: where this board first differs from the winner's, and its pauses"
        )
        several = len(self.replay.boards) > 1
        play, hidden = (
            "stop" if self.speed else "play",
            "chart" if self._names_hidden else "face down",
        )
        return (
            Key("right", "moves", moves, partial(self._step, 1), shown="left right"),
            Key("space", play, "play the race once, twice, 8 times as fast", self._change_speed),
            Key("tab", "next racer" if several else "", racers, partial(self._show_next, 1)),
            Key("shift+tab", "", "", partial(self._show_next, -1)),
            *(Key(str(place), "", "", partial(self._show_place, place)) for place in range(1, 10)),
            Key("n", "next moment", moments, self._show_moment),
            Key("h", hidden, "name the hidden cards, or show the chart", self._toggle_hidden),
            Key("s", "play it yourself", "practise this deal against this board", self._practise),
            Key(
                "y",
                "copy",
                "copy the result for friends",
                partial(self.copy, "The result", self._share),
            ),
            Key("left", "", "", partial(self._step, -1)),
            Key("pagedown", "", "ten moves forward", partial(self._step, 10)),
            Key("pageup", "", "ten moves back", partial(self._step, -10)),
            Key(".", "", "one second forward", partial(self._jump, 1_000)),
            Key(",", "", "one second back", partial(self._jump, -1_000)),
            Key("home", "", "the deal", lambda: self._go(self.replay.at(0))),
            Key("end", "", "the end of this board", self._go_to_end),
        )

    def _step(self, count: int) -> None:
        self._go(self.replay.stepped(count))

    def _jump(self, millis: int) -> None:
        self._go(self.replay.at(self.replay.moment + millis))

    def _go_to_end(self) -> None:
        self._go(self.replay.at(self.replay.board.end))

    def play(self, result: InputResult) -> None:
        """Do nothing, because moves cannot be played in a replay."""

    def _go(self, replay: Replay) -> None:
        """Pause the replay and show a moment of the race."""
        self.speed = 0
        self.replay = replay
        self._say_entry()

    def _change_speed(self) -> None:
        """Switch to the next of `SPEEDS`."""
        speeds = list(SPEEDS)
        self.speed = speeds[(speeds.index(self.speed) + 1) % len(speeds)]
        self._ticked_at = self._seconds()
        if self.speed and self.replay.moment >= self.replay.end:
            self.replay = self.replay.at(0)
        self.say(SPEEDS[self.speed])

    def _show_moment(self) -> None:
        """Go to the next of the board's moments: its first difference from the rival's, and its longest pauses."""
        replay = self.replay
        moments = [(p.step, pause_text(p)) for p in longest_pauses(replay.board, MOST_PAUSES)]
        step = first_difference(replay.board, replay.rival)
        if step is not None:
            text = difference_text(replay.board, replay.rival, self.card_name)
            moments = [*(each for each in moments if each[0] != step), (step, text)]
        if not moments:
            self.say("This board has no pause, and nothing to compare.")
            return
        moments.sort()
        step, text = next((each for each in moments if each[0] > replay.step), moments[0])
        self._go(replay.stepped(step - replay.step))
        self.say(text)

    def _show_next(self, by: int) -> None:
        self._show((self.replay.shown + by) % len(self.replay.boards))

    def _show(self, index: int) -> None:
        if len(self.replay.boards) == 1:
            self.say(ONLY_BOARD)
            return
        self.replay = self.replay.of(index)
        self._say_entry()

    def _show_place(self, place: int) -> None:
        boards = len(self.replay.boards)
        if place <= boards:
            self._show(place - 1)
        else:
            says = f"There is no place {place}: {counted(boards, 'board')} in this race."
            self.say(says, Role.DIM)

    def _toggle_hidden(self) -> None:
        """Name the hidden cards in the panel, or show the chart there."""
        self._names_hidden = not self._names_hidden
        says = "The panel names the hidden cards; h shows the chart."
        self.say(says if self._names_hidden else "")

    def _practise(self) -> None:
        """Open practice with this deal and the shown board's ghost."""
        self.speed = 0
        board = self.replay.board
        ghost = Ghost(f"{shown_name(board.name, board.bot)} in {self.replay.race}", board.climb)
        deal = PracticeDeal(board.game, board.positions[0], race=self.replay.race)
        self.app.push_screen(PracticeScreen(deal, ghosts=(ghost,)))

    def show_help(self) -> None:
        self.speed = 0
        super().show_help()


def _last_target(board: OpenBoard, step: int) -> str:
    """Return the pile that the last move ended on; empty for none."""
    if not step or not board.entries[step - 1].is_move:
        return ""
    move = parse_move(board.entries[step - 1].text)
    return target_of(board.view(step - 1), move) if isinstance(move, Carry) else ""
