"""A finished race seen again: every board is open now, move by move or as time went."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from textual import events
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from saratoga_client.board_view.board import NO_MARKS, Marks
from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.input.card_finder import found_text
from saratoga_client.input.move_text import target_of
from saratoga_client.practice.deals import from_record
from saratoga_client.practice.ghost import ghost_of_board
from saratoga_client.review.boards import OpenBoard
from saratoga_client.review.divergence import first_divergence, last_divergence
from saratoga_client.review.pauses import longest_pauses
from saratoga_client.review.replay import Replay, replay_of
from saratoga_client.review.share_text import race_text
from saratoga_client.tui.base_screen import BaseScreen
from saratoga_client.tui.board_widget import BoardWidget
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.finder import PROMPT, Finder
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
from saratoga_rules.moves import Carry, parse_move
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.views import redact

SPEEDS: Final = (0, 1, 2, 8)
"""How many times as fast as the race; 0 stands still."""

MOST_PAUSES: Final = 5
"""Thoughts of a board that are worth going to."""

PAGE: Final = 10
"""Moves that a page key goes."""

BOTH: Final = 112
"""Columns from which two boards stand side by side."""

STEPS: Final = {
    "right": 1, "l": 1, "left": -1, "j": -1, "pagedown": PAGE, "pageup": -PAGE,
}  # fmt: skip
ALONE: Final = "Nobody else raced: this is the only board."

JUMPS: Final = {".": 1_000, ",": -1_000, ">": 10_000, "<": -10_000}
"""Keys that go by time; milliseconds."""


class ReviewScreen(BaseScreen):
    """Boards of a finished race; `dismiss`ed when the player has seen enough."""

    DEFAULT_CSS = """
    ReviewScreen #table { height: 1fr; }
    ReviewScreen #boards { width: 1fr; height: 1fr; }
    ReviewScreen .side { width: 1fr; height: 1fr; }
    ReviewScreen .heading { height: 1; display: none; }
    ReviewScreen #rival { display: none; }
    ReviewScreen #panel { width: 24; height: 1fr; }
    ReviewScreen.-wide #panel { width: 34; }
    ReviewScreen.-broad #panel { width: 44; }
    ReviewScreen.-both #table { layout: vertical; }
    ReviewScreen.-both #rival { display: block; }
    ReviewScreen.-both .heading { display: block; }
    ReviewScreen.-both #panel { width: 1fr; height: 12; }
    ReviewScreen #ticker { height: 1; display: none; }
    ReviewScreen.-ticker #panel { display: none; }
    ReviewScreen.-ticker #ticker { display: block; }
    ReviewScreen.-focus #panel, ReviewScreen.-focus #ticker { display: none; }
    """
    TICK = 0.1

    def __init__(
        self, record: RaceRecord, player: str = "", *, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        """`player` is whose board is shown first, and whom the review is for; else the winner.

        Raises `ReplayError` at a record of rules that are not known here.
        """
        super().__init__()
        self.record = record
        self.player = player
        self.replay = replay_of(record, player)
        self.finder = Finder()
        self.speed = 0
        self._seconds = seconds
        self._is_open = False
        self._seen_at = 0.0
        self._deeds = self._keys()

    def body(self) -> Iterable[Widget]:
        with Horizontal(id="table"):
            with Horizontal(id="boards"):
                with Vertical(classes="side"):
                    yield CanvasView(self._draw_heading, id="own-heading").add_class("heading")
                    yield BoardWidget(self.program.colours, id="board")
                with Vertical(id="rival", classes="side"):
                    yield CanvasView(self._draw_rival, id="rival-heading").add_class("heading")
                    yield BoardWidget(self.program.colours, id="rival-board")
            yield CanvasView(self._draw_panel, id="panel")
        yield CanvasView(self._draw_ticker, id="ticker")

    def begin(self) -> None:
        self._tell()

    # What the screen shows

    @property
    def seen(self) -> ReplayState:
        return ReplayState(
            replay=self.replay, player=self.player, speed=self.speed, is_open=self._is_open
        )

    def draw_title(self, width: int, height: int) -> Canvas:
        return replay_title(self.seen, width)

    def _draw_heading(self, width: int, height: int) -> Canvas:
        return board_heading(self.replay, self.replay.shown, width)

    def _draw_rival(self, width: int, height: int) -> Canvas:
        return board_heading(self.replay, self.replay.rival, width)

    def _draw_panel(self, width: int, height: int) -> Canvas:
        return replay_panel(self.seen, self.signs, self.card_name, width, height)

    def _draw_ticker(self, width: int, height: int) -> Canvas:
        return replay_ticker(self.seen, width)

    def guide(self) -> Guide:
        if self.finder.is_open:
            return (("enter", "keep"), ("esc", "end"))
        several = len(self.replay.boards) > 1
        return (
            ("left right", "moves"),
            ("space", "stop" if self.speed else "play"),
            *((("tab", "next racer"), ("d", "parting")) if several else ()),
            *((("x", "the other"),) if self.replay.ahead is not None else ()),
            *((("b", "both boards"),) if several and self.size.width >= BOTH else ()),
            ("w", "longest thought"),
            ("o", "the climb" if self._is_open else "face down"),
            ("s", "play it yourself"),
            ("v", "copy"),
        )

    def redraw(self) -> None:
        super().redraw()
        for name in ("#own-heading", "#rival-heading", "#panel", "#ticker"):
            self.query_one(name, CanvasView).redraw()
        self._show_board("#board", self.replay.shown)
        if self.has_class("-both"):
            self._show_board("#rival-board", self.replay.rival)

    def _show_board(self, name: str, index: int) -> None:
        replay = self.replay
        board, step = replay.boards[index], replay.step_of(index)
        card_style = self.program.appearance.card_style(replay.game)
        view = redact(board.positions[step])
        marks = replace(_landed(board, step), find=self.finder.text)
        self.query_one(name, BoardWidget).show(replay.game, view, marks, card_style)

    def tick(self) -> None:
        if not self.speed or not self.is_current:
            return
        now = self._seconds()
        gone, self._seen_at = now - self._seen_at, now
        step = self.replay.step
        self.replay = self.replay.at(self.replay.moment + int(gone * 1000 * self.speed))
        if self.replay.moment >= self.replay.end:
            self.speed = 0
        if self.replay.step != step:
            self._tell()
        self.redraw()

    def _tell(self) -> None:
        self.say(last_move_text(self.replay, self.card_name))

    def on_resize(self, event: events.Resize) -> None:
        if event.size.width < BOTH:
            self.remove_class("-both")
        self.call_after_refresh(self.redraw)

    # Keys

    def press(self, key: str) -> None:
        if self.finder.is_open or key == "/" or (key == "escape" and self.finder.text):
            self._find(key)
            return
        replay = self.replay
        match key:
            case _ if key in STEPS:
                self._go(replay.stepped(STEPS[key]))
            case _ if key in JUMPS:
                self._go(replay.at(replay.moment + JUMPS[key]))
            case _ if key.isdigit() and key != "0":
                self._see_place(int(key) - 1)
            case _ if key in self._deeds:
                self._deeds[key]()
            case _:
                super().press(key)

    def _keys(self) -> dict[str, Callable[[], None]]:
        return {
            "home": lambda: self._go(self.replay.at_home()),
            "end": lambda: self._go(self.replay.at_end()),
            "space": self._play_on,
            "k": self._play_on,
            "escape": lambda: self._go(self.replay),
            "tab": lambda: self._see(self.replay.shown + 1),
            "shift+tab": lambda: self._see(self.replay.shown - 1),
            "x": lambda: self._see(self.replay.rival),
            "d": self._part,
            "b": self._show_both,
            "w": self._show_pause,
            "o": self._open,
            "s": self._practise,
            "v": self._share,
            "p": self._hide_panel,
            "c": self._change_suits,
            "?": self._help,
        }

    def _go(self, replay: Replay) -> None:
        self.speed = 0
        self.replay = replay
        self._tell()

    def _play_on(self) -> None:
        """As fast as the race was, faster, faster still, then stop."""
        self.speed = SPEEDS[(SPEEDS.index(self.speed) + 1) % len(SPEEDS)]
        self._seen_at = self._seconds()
        if self.speed and self.replay.moment >= self.replay.end:
            self.replay = self.replay.at_home()
        pace = {0: "It stands still; space goes on.", 1: "As fast as the race was."}
        self.say(pace.get(self.speed, f"{self.speed} times as fast as the race was."))

    def _see(self, index: int) -> None:
        if len(self.replay.boards) == 1:
            self.say(ALONE)
            return
        self.replay = self.replay.of(index % len(self.replay.boards))
        self._tell()

    def _see_place(self, index: int) -> None:
        if index < len(self.replay.boards):
            self._see(index)
        else:
            self.say(f"There were {len(self.replay.boards)} boards in this race.", Role.DIM)

    def _part(self) -> None:
        """Where this board and the rival's parted first; asked again, where for good."""
        replay = self.replay
        pair = (replay.board, replay.boards[replay.rival])
        first, last = first_divergence(replay.game, *pair), last_divergence(replay.game, *pair)
        if len(replay.boards) == 1:
            self.say(ALONE)
        elif first is None or last is None:
            self.say("These two boards never parted.")
        elif replay == replay.at_parting(first):
            self.speed = 0
            self.replay = replay.at_parting(last)
            self.say(last_divergence_text(self.replay, last))
        else:
            self.speed = 0
            self.replay = replay.at_parting(first)
            self.say(first_divergence_text(self.replay, first))

    def _show_pause(self) -> None:
        """What was thought about longest; asked again, what next to that."""
        pauses = longest_pauses(self.replay.board, MOST_PAUSES)
        if not pauses:
            self.say("No time passed on this board.")
            return
        steps = [pause.step for pause in pauses]
        here = steps.index(self.replay.step) if self.replay.step in steps else -1
        pause = pauses[(here + 1) % len(pauses)]
        self._go(replace(self.replay, ahead=None).stepped(pause.step - self.replay.step))
        self.say(pause_text(pause))

    def _open(self) -> None:
        self._is_open = not self._is_open
        self.say("o: the climb again." if self._is_open else "")

    def _show_both(self) -> None:
        if len(self.replay.boards) == 1:
            self.say(ALONE)
        elif self.size.width < BOTH:
            self.say(f"Two boards need {BOTH} columns; here tab changes from one to the other.")
        else:
            self.toggle_class("-both")
            self.call_after_refresh(self.redraw)

    def _practise(self) -> None:
        """The same deal by oneself, beside the ghost of the board that is shown."""
        self.speed = 0
        ghosts = (ghost_of_board(self.record, self.replay.board.player),)
        dealt = from_record(self.record)
        self.app.push_screen(PracticeScreen(dealt, with_ghost=True, ghosts=ghosts))

    def _share(self) -> None:
        self.app.copy_to_clipboard(race_text(self.record, self.replay.boards, self.player))
        self.say("The result is on your clipboard, if your terminal allows that (OSC 52).")

    def _hide_panel(self) -> None:
        self.toggle_class("-focus")
        self.say("The panel is hidden; p shows it." if self.has_class("-focus") else "")

    def _change_suits(self) -> None:
        suits = self.program.other_suits(self.replay.game)
        self.say(f"The suits have {suits} colours now.")

    def _help(self) -> None:
        self.speed = 0
        self.app.push_screen(HelpScreen(self.replay.game, REPLAY_KEYS, "REPLAY"))

    def _find(self, key: str) -> None:
        self.finder = self.finder.press(key)
        if self.finder.text:
            view = redact(self.replay.position)
            self.say(found_text(self.replay.game, view, self.finder.text, self.card_name))
        else:
            self.say(PROMPT if self.finder.is_open else "Nothing is looked for any more.")


def _landed(board: OpenBoard, step: int) -> Marks:
    """Marks that show where the last move put its cards."""
    if not step or not board.entries[step - 1].is_move:
        return NO_MARKS
    move = parse_move(board.entries[step - 1].text)
    if not isinstance(move, Carry):
        return NO_MARKS
    pile = target_of(redact(board.positions[step - 1]), move)
    return replace(NO_MARKS, targets=frozenset((pile,)))
