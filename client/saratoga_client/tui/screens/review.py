"""The screen of a replay: all boards of a finished race, by move or at the race's speed."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar, Final

from textual import events
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.input.move_text import target_of
from saratoga_client.input.selection import InputResult
from saratoga_client.practice.deals import from_record
from saratoga_client.practice.ghost import ghost_of_board
from saratoga_client.review.boards import OpenBoard
from saratoga_client.review.divergence import first_divergence, last_divergence
from saratoga_client.review.pauses import longest_pauses
from saratoga_client.review.replay import Replay, replay_of
from saratoga_client.review.share_text import race_text
from saratoga_client.tui.board_pane import BoardPane, BoardPosition
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.game_screen import COPY_KEY, GameScreen
from saratoga_client.tui.lines import Guide
from saratoga_client.tui.pages.replay import (
    ReplayState,
    board_heading,
    replay_panel,
    replay_ticker,
    replay_title,
)
from saratoga_client.tui.pages.replay_words import (
    first_divergence_text,
    last_divergence_text,
    last_move_text,
    pause_text,
)
from saratoga_client.tui.pages.solo_keys import REPLAY_KEYS
from saratoga_client.tui.screens.help import HelpScreen
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.wording import counted
from saratoga_rules.moves import Carry, parse_move
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.views import redact

SPEEDS: Final = (0, 1, 2, 8)
"""The speeds of the replay as multiples of the race's; 0 pauses it."""

MOST_PAUSES: Final = 5
"""Number of a board's longest pauses that the key `w` goes through."""

PAGE: Final = 10
"""Number of moves that the keys pageup and pagedown skip."""

BOTH: Final = 112
"""Minimum screen columns for two boards side by side."""

STEPS: Final = {
    "right": 1, "l": 1, "left": -1, "j": -1, "pagedown": PAGE, "pageup": -PAGE,
}  # fmt: skip
ONLY_BOARD: Final = "There is only this board: no one else raced."

JUMPS: Final = {".": 1_000, ",": -1_000, ">": 10_000, "<": -10_000}
"""Keys that go forward or back in time, each with its milliseconds."""


class ReviewScreen(GameScreen):
    """The screen of a finished race's boards; `dismiss` closes it."""

    DEFAULT_CSS = """
    ReviewScreen #boards { width: 1fr; height: 1fr; }
    ReviewScreen .board { width: 1fr; height: 1fr; }
    ReviewScreen .heading { height: 1; display: none; }
    ReviewScreen #rival { display: none; }
    ReviewScreen #side { width: 24; height: 1fr; }
    ReviewScreen.-wide #side { width: 34; }
    ReviewScreen.-broad #side { width: 44; }
    ReviewScreen.-both #table { layout: vertical; }
    ReviewScreen.-both #rival { display: block; }
    ReviewScreen.-both .heading { display: block; }
    ReviewScreen.-both #side { width: 1fr; height: 12; }
    """
    TICK: ClassVar[float] = 0.1

    def __init__(
        self, record: RaceRecord, player: str = "", *, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        """Show a player's board first; without a `player`, the winner's.

        Raises `ReplayError` if the record cannot be replayed, and `ValueError` if it has no boards.
        """
        super().__init__()
        self.record = record
        self.player = player
        self.replay = replay_of(record, player)
        self.speed = 0
        self._seconds = seconds
        self._names_hidden = False
        self._ticked_at = 0.0
        self._actions = self._key_actions()

    def boards(self) -> Iterable[Widget]:
        with Horizontal(id="boards"):
            with Vertical(classes="board"):
                yield CanvasView(self._draw_heading, id="own-heading").add_class("heading")
                yield BoardPane(self.program.colours, id="board")
            with Vertical(id="rival", classes="board"):
                yield CanvasView(self._draw_rival, id="rival-heading").add_class("heading")
                yield BoardPane(self.program.colours, id="rival-board")

    def side(self) -> Iterable[Widget]:
        with Vertical(id="side"):
            yield CanvasView(self._draw_panel, id="panel")

    def begin(self) -> None:
        self._say_move()

    # Drawing

    @property
    def shown(self) -> ReplayState:
        """The state that the title and the panel show."""
        return ReplayState(
            replay=self.replay, player=self.player, speed=self.speed, is_open=self._names_hidden
        )

    def draw_title(self, width: int, height: int) -> Canvas:
        return replay_title(self.shown, width)

    def _draw_heading(self, width: int, height: int) -> Canvas:
        return board_heading(self.replay, self.replay.shown, width)

    def _draw_rival(self, width: int, height: int) -> Canvas:
        return board_heading(self.replay, self.replay.rival, width)

    def _draw_panel(self, width: int, height: int) -> Canvas:
        return replay_panel(self.shown, self.symbols, self.card_name, width, height)

    def draw_ticker(self, width: int, height: int) -> Canvas:
        return replay_ticker(self.shown, width)

    def game_keys(self) -> Guide:
        several = len(self.replay.boards) > 1
        return (
            ("left right", "moves"),
            ("space", "stop" if self.speed else "play"),
            *((("tab", "next racer"), ("d", "difference")) if several else ()),
            *((("x", "the other"),) if self.replay.ahead is not None else ()),
            *((("b", "both boards"),) if several and self.size.width >= BOTH else ()),
            ("w", "longest pause"),
            ("o", "chart" if self._names_hidden else "face down"),
            ("s", "play it yourself"),
            (COPY_KEY, "copy"),
        )

    def redraw_side(self) -> None:
        shown = self.shown
        for name in ("#own-heading", "#rival-heading", "#panel", "#ticker"):
            self.query_one(name, CanvasView).redraw_for(shown)

    def redraw_boards(self) -> None:
        super().redraw_boards()
        if self.has_class("-both"):
            rival = self.query_one("#rival-board", BoardPane)
            rival.set_position(self._position_of(self.replay.rival))
            rival.draw_position()

    def position(self) -> BoardPosition:
        return self._position_of(self.replay.shown)

    def _position_of(self, index: int) -> BoardPosition:
        replay = self.replay
        board, step = replay.boards[index], replay.step_of(index)
        return BoardPosition(
            game=replay.game,
            view=redact(board.positions[step]),
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
                self._say_move()
            self.redraw()

    def _say_move(self) -> None:
        self.say(last_move_text(self.replay, self.card_name))

    def on_resize(self, event: events.Resize) -> None:
        if event.size.width < BOTH:
            self.remove_class("-both")
        super().on_resize(event)
        self.call_after_refresh(self.redraw)

    # Keys

    def press_game(self, key: str) -> None:
        replay = self.replay
        match key:
            case _ if key in STEPS:
                self._go(replay.stepped(STEPS[key]))
            case _ if key in JUMPS:
                self._go(replay.at(replay.moment + JUMPS[key]))
            case _ if key.isdigit() and key != "0":
                self._show_place(int(key))
            case _ if key in self._actions:
                self._actions[key]()
            case _:
                self.say(f"{key} does nothing here; ? shows the keys.", Role.DIM)

    def play(self, result: InputResult) -> None:
        """Do nothing, because moves cannot be played in a replay."""

    def _key_actions(self) -> dict[str, Callable[[], None]]:
        return {
            "home": lambda: self._go(self.replay.at_home()),
            "end": lambda: self._go(self.replay.at_end()),
            "space": self._change_speed,
            "k": self._change_speed,
            "escape": lambda: self._go(self.replay),
            "tab": lambda: self._show(self.replay.shown + 1),
            "shift+tab": lambda: self._show(self.replay.shown - 1),
            "x": lambda: self._show(self.replay.rival),
            "d": self._show_difference,
            "b": self._show_both,
            "w": self._show_pause,
            "o": self._toggle_hidden,
            "s": self._practise,
            COPY_KEY: self._copy_result,
        }

    def _go(self, replay: Replay) -> None:
        """Pause the replay and show a moment of the race."""
        self.speed = 0
        self.replay = replay
        self._say_move()

    def _change_speed(self) -> None:
        """Switch to the next of `SPEEDS`."""
        self.speed = SPEEDS[(SPEEDS.index(self.speed) + 1) % len(SPEEDS)]
        self._ticked_at = self._seconds()
        if self.speed and self.replay.moment >= self.replay.end:
            self.replay = self.replay.at_home()
        texts = {0: "Paused; space plays on.", 1: "Playing at the speed of the race."}
        self.say(texts.get(self.speed, f"Playing {self.speed} times as fast as the race."))

    def _show(self, index: int) -> None:
        if len(self.replay.boards) == 1:
            self.say(ONLY_BOARD)
            return
        self.replay = self.replay.of(index % len(self.replay.boards))
        self._say_move()

    def _show_place(self, place: int) -> None:
        boards = len(self.replay.boards)
        if place <= boards:
            self._show(place - 1)
        else:
            self.say(
                f"There is no place {place}: {counted(boards, 'board')} in this race.", Role.DIM
            )

    def _show_difference(self) -> None:
        """Go to the first difference from the rival's board; from there, to the last common position."""
        replay = self.replay
        pair = (replay.board, replay.boards[replay.rival])
        first, last = first_divergence(replay.game, *pair), last_divergence(replay.game, *pair)
        if len(replay.boards) == 1:
            self.say(ONLY_BOARD)
        elif first is None or last is None:
            self.say("The moves of these two boards are the same.")
        elif replay == replay.at_divergence(first):
            self.speed = 0
            self.replay = replay.at_divergence(last)
            self.say(last_divergence_text(self.replay, last))
        else:
            self.speed = 0
            self.replay = replay.at_divergence(first)
            self.say(first_divergence_text(self.replay, first))

    def _show_pause(self) -> None:
        """Go to the longest pause before a move; pressed again, go to the next longest."""
        pauses = longest_pauses(self.replay.board, MOST_PAUSES)
        if not pauses:
            self.say("There is no pause on this board.")
            return
        steps = [pause.step for pause in pauses]
        here = steps.index(self.replay.step) if self.replay.step in steps else -1
        pause = pauses[(here + 1) % len(pauses)]
        self._go(replace(self.replay, ahead=None).stepped(pause.step - self.replay.step))
        self.say(pause_text(pause))

    def _toggle_hidden(self) -> None:
        """Name the hidden cards in the panel, or show the chart there."""
        self._names_hidden = not self._names_hidden
        self.say(
            "The panel names the hidden cards; o shows the chart." if self._names_hidden else ""
        )

    def _show_both(self) -> None:
        if len(self.replay.boards) == 1:
            self.say(ONLY_BOARD)
        elif self.size.width < BOTH:
            self.say(f"Two boards need {BOTH} columns; here tab changes from one to the other.")
        else:
            self.toggle_class("-both")
            self.call_after_refresh(self.redraw)

    def _practise(self) -> None:
        """Open practice with this deal and the shown board's ghost."""
        self.speed = 0
        ghosts = (ghost_of_board(self.record, self.replay.board.player),)
        deal = from_record(self.record)
        self.app.push_screen(PracticeScreen(deal, with_ghost=True, ghosts=ghosts))

    def _copy_result(self) -> None:
        self.copy(race_text(self.record, self.replay.boards, self.player))

    def show_help(self) -> None:
        self.speed = 0
        self.app.push_screen(HelpScreen(self.replay.game, REPLAY_KEYS, "REPLAY"))


def _last_target(board: OpenBoard, step: int) -> str:
    """Return the pile that the last move ended on; empty for none."""
    if not step or not board.entries[step - 1].is_move:
        return ""
    move = parse_move(board.entries[step - 1].text)
    return target_of(redact(board.positions[step - 1]), move) if isinstance(move, Carry) else ""
