"""The base of the replay screens: boards that are stepped through, or played at the race's speed."""

import time
from collections.abc import Callable, Iterable
from typing import ClassVar, Final

from textual.containers import Vertical
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.input.move_text import target_of
from saratoga_client.input.selection import InputResult
from saratoga_client.review.boards import OpenBoard
from saratoga_client.review.divergence import longest_pauses
from saratoga_client.review.replay import Replay
from saratoga_client.tui.base_screen import Guide
from saratoga_client.tui.board_pane import BoardPosition
from saratoga_client.tui.game_screen import GameScreen
from saratoga_client.tui.pages.help import REPLAY_KEYS
from saratoga_client.tui.pages.replay import (
    ReplayState,
    last_move_text,
    pause_text,
    replay_panel,
    replay_ticker,
    replay_title,
)
from saratoga_client.tui.painted_rows import CanvasView
from saratoga_client.tui.screens.help import HelpScreen
from saratoga_rules.moves import Carry, parse_move

SPEEDS: Final = (0, 1, 2, 8)
"""The speeds of the replay as multiples of the race's; 0 pauses it."""

MOST_PAUSES: Final = 5
"""Number of a board's longest pauses that the key `w` goes through."""

PAGE: Final = 10
"""Number of moves that the keys pageup and pagedown skip."""

STEPS: Final = {
    "right": 1, "l": 1, "left": -1, "j": -1, "pagedown": PAGE, "pageup": -PAGE,
}  # fmt: skip
JUMPS: Final = {".": 1_000, ",": -1_000, ">": 10_000, "<": -10_000}
"""Keys that go forward or back in time, each with its milliseconds."""


class ReplayScreen(GameScreen):
    """The screen of boards that are stepped through and played; `dismiss` closes it."""

    DEFAULT_CSS = """
    ReplayScreen #side { width: 24; height: 1fr; }
    ReplayScreen.-wide #side { width: 34; }
    ReplayScreen.-broad #side { width: 44; }
    """
    TICK: ClassVar[float] = 0.1

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
        self._actions = self.key_actions()

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

    def game_keys(self) -> Guide:
        return (
            ("left right", "moves"),
            ("space", "stop" if self.speed else "play"),
            ("w", "longest pause"),
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

    def press_game(self, key: str) -> None:
        replay = self.replay
        match key:
            case _ if key in STEPS:
                self.go(replay.stepped(STEPS[key]))
            case _ if key in JUMPS:
                self.go(replay.at(replay.moment + JUMPS[key]))
            case _ if key in self._actions:
                self._actions[key]()
            case _:
                self.say(f"{key} does nothing here; ? shows the keys.", Role.DIM)

    def play(self, result: InputResult) -> None:
        """Do nothing, because moves cannot be played in a replay."""

    def key_actions(self) -> dict[str, Callable[[], None]]:
        """Return the actions of keys other than steps and jumps."""
        return {
            "home": lambda: self.go(self.replay.at_home()),
            "end": lambda: self.go(self.replay.at_end()),
            "space": self._change_speed,
            "k": self._change_speed,
            "escape": lambda: self.go(self.replay),
            "w": self._show_pause,
        }

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
        self.app.push_screen(HelpScreen(self.replay.game, REPLAY_KEYS, "REPLAY"))


def _last_target(board: OpenBoard, step: int) -> str:
    """Return the pile that the last move ended on; empty for none."""
    if not step or not board.entries[step - 1].is_move:
        return ""
    move = parse_move(board.entries[step - 1].text)
    return target_of(board.view(step - 1), move) if isinstance(move, Carry) else ""
