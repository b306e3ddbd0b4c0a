"""Practice: the board, the player's own counts beside it, and nothing that counts."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from textual import on
from textual.containers import Horizontal
from textual.widget import Widget

from saratoga_client.board_view.board import NO_MARKS
from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.input.card_finder import found_text
from saratoga_client.input.key_hints import guide
from saratoga_client.input.keyboard import Click, InputResult, Selection, click, drop, marks, press
from saratoga_client.input.pile_keys import pile_keys
from saratoga_client.practice.deals import PracticeDeal
from saratoga_client.practice.game import PracticeGame, is_known_stuck
from saratoga_client.practice.ghost import Ghost
from saratoga_client.practice.practice_session import PracticeSession
from saratoga_client.practice.run_store import RunStore
from saratoga_client.practice.safe_moves import safe_move
from saratoga_client.tui.base_screen import BaseScreen
from saratoga_client.tui.board_widget import BoardWidget
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.finder import PROMPT, Finder
from saratoga_client.tui.lines import Guide
from saratoga_client.tui.pages.practice import (
    PracticeStanding,
    practice_panel,
    practice_ticker,
    practice_title,
)
from saratoga_client.tui.pages.solo_keys import PRACTICE_KEYS
from saratoga_client.tui.screens.help import HelpScreen
from saratoga_rules.judge import IllegalMove

RIGHT_BUTTON: Final = 3


class PracticeScreen(BaseScreen):
    """One deal after another, by oneself; `dismiss`ed when the player has enough."""

    DEFAULT_CSS = """
    PracticeScreen #table { height: 1fr; }
    PracticeScreen #panel { width: 24; }
    PracticeScreen #ticker { height: 1; display: none; }
    PracticeScreen.-wide #panel { width: 28; }
    PracticeScreen.-broad #panel { width: 32; }
    PracticeScreen.-ticker #panel { display: none; }
    PracticeScreen.-ticker #ticker { display: block; }
    PracticeScreen.-focus #panel, PracticeScreen.-focus #ticker { display: none; }
    """

    def __init__(
        self,
        dealt: PracticeDeal,
        *,
        with_ghost: bool = False,
        ghosts: Sequence[Ghost] = (),
        shelf: RunStore | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """`ghosts` of this deal are more than the shelf's, such as one's own board in a race."""
        super().__init__()
        self.desk = PracticeSession(
            dealt, shelf=shelf, with_ghost=with_ghost, ghosts=ghosts, seconds=seconds
        )
        self.selection = Selection()
        self.finder = Finder()

    @property
    def practice(self) -> PracticeGame:
        return self.desk.practice

    def body(self) -> Iterable[Widget]:
        with Horizontal(id="table"):
            yield BoardWidget(self.program.colours, id="board")
            yield CanvasView(self._draw_panel, id="panel")
        yield CanvasView(self._draw_ticker, id="ticker")

    def begin(self) -> None:
        self._empty_hand(quick=self.program.appearance.quick)
        self.say(self.desk.greeting())

    def on_unmount(self) -> None:
        # also where the program was ended from outside
        self.desk.keep()

    # What the screen shows

    @property
    def standing(self) -> PracticeStanding:
        desk = self.desk
        return PracticeStanding(practice=desk.practice, elapsed=desk.elapsed, ghost=desk.ghost)

    def draw_title(self, width: int, height: int) -> Canvas:
        return practice_title(self.standing, width)

    def _draw_panel(self, width: int, height: int) -> Canvas:
        return practice_panel(self.standing, self.signs, width, height)

    def _draw_ticker(self, width: int, height: int) -> Canvas:
        return practice_ticker(self.standing, width)

    def redraw(self) -> None:
        super().redraw()
        self._show_panel()
        self._show_board()

    def guide(self) -> Guide:
        if self.finder.is_open:
            return (("enter", "keep"), ("esc", "end"))
        practice = self.practice
        if practice.is_won:
            return (("s", "again"), ("n", "new deal"), ("v", "copy"), ("z", "undo"))
        own: list[tuple[str, str]] = [("h", "hint")]
        own += [("z", "undo")] if practice.made else []
        own += [("y", "redo")] if practice.undone else []
        own += [("a", "bank safe")] if safe_move(practice.game, practice.view) else []
        hands = guide(practice.game, practice.view, self.selection)
        if self.selection.picked is not None or self.selection.lit is not None:
            return (*hands, *own)
        return (*hands[:2], *own, *hands[2:], ("s", "again"), ("n", "new deal"))

    def tick(self) -> None:
        super().tick()
        self._show_panel()

    def _show_panel(self) -> None:
        for name in ("#panel", "#ticker"):
            self.query_one(name, CanvasView).redraw()

    def _show_board(self) -> None:
        practice = self.practice
        lit = marks(practice.game, practice.view, self.selection)
        seen = replace(
            NO_MARKS,
            picked=lit.picked,
            targets=lit.targets,
            source_lit=lit.sources,
            labels=pile_keys(practice.game).by_pile,
            find=self.finder.text,
        )
        card_style = self.program.appearance.card_style(practice.game)
        self.query_one(BoardWidget).show(practice.game, practice.view, seen, card_style)

    # Keys

    def press(self, key: str) -> None:
        if self.finder.is_open or key == "/" or (key == "escape" and self.finder.text):
            self._find(key)
            return
        match key:
            case "z" | "u" | "ctrl+z":
                self._change(self.desk.undo)
            case "y":
                self._change(self.desk.redo)
            case "a":
                self._change(self.desk.bank_safe)
            case "h":
                self._hint()
            case "s":
                self._sure("Start this deal again?", self.desk.restart)
            case "n":
                self._sure("Leave this deal for a new one?", self.desk.deal_anew)
            case "e":
                self.say(self.desk.toggle_ghost())
            case _:
                self._press_other(key)

    def _press_other(self, key: str) -> None:
        practice = self.practice
        match key:
            case "v":
                self.app.copy_to_clipboard(self.desk.share)
                self.say("The result is on your clipboard, if your terminal allows that (OSC 52).")
            case "p":
                self.toggle_class("-focus")
                self.say("The panel is hidden; p shows it." if self.has_class("-focus") else "")
            case "c":
                self.say(f"The suits have {self.program.other_suits(practice.game)} colours now.")
            case "?":
                self.app.push_screen(HelpScreen(practice.game, PRACTICE_KEYS, "PRACTICE"))
            case "q":
                self.dismiss()
            case "t":
                super().press(key)
            case _ if practice.is_won:
                self.say("The game is won: s plays the deal again, n deals anew, z undoes.")
            case _:
                self._do(press(practice.game, practice.view, self.selection, key, self.card_name))

    def _change(self, deed: Callable[[], str]) -> None:
        """Something that leaves another board."""
        self._empty_hand()
        self.say(deed())
        self._look_whether_stuck()

    def _sure(self, question: str, deed: Callable[[], str]) -> None:
        if self.practice.made and not self.practice.is_won:
            self.ask(f"{question} Your run is kept. (y/n)", y=("yes", lambda: self._change(deed)))
        else:
            self._change(deed)

    def _hint(self) -> None:
        advised = self.desk.hint(self.card_name)
        self._empty_hand()
        # lit as Tab would light it, so that enter plays it
        self.selection = replace(self.selection, lit=advised.move)
        self.say(advised.says, Role.LEADER)

    def _do(self, result: InputResult) -> None:
        """What a key or a click has come to."""
        self.selection = result.selection
        self.say(result.says)
        if result.move is None:
            return
        try:
            ended = self.desk.play(result.move)
        except IllegalMove as illegal:
            self.say(str(illegal.refusal), Role.WARNING)
            return
        if ended:
            self.say(ended, Role.TITLE)
        self._look_whether_stuck()

    def _look_whether_stuck(self) -> None:
        if self.desk.trouble:
            self.say(self.desk.trouble, Role.WARNING)
        self.run_worker(self._tell_if_stuck(self.practice), group="stuck", exclusive=True)

    async def _tell_if_stuck(self, practice: PracticeGame) -> None:
        is_stuck = await asyncio.to_thread(is_known_stuck, practice.game, practice.position)
        if is_stuck and practice.position == self.practice.position:
            self.say(self.desk.STUCK, Role.WARNING)

    def _empty_hand(self, *, quick: bool | None = None) -> None:
        self.selection = Selection(quick=self.selection.quick if quick is None else quick)

    def _find(self, key: str) -> None:
        self.finder = self.finder.press(key)
        practice = self.practice
        if self.finder.text:
            text = self.finder.text
            self.say(found_text(practice.game, practice.view, text, self.card_name))
        else:
            self.say(PROMPT if self.finder.is_open else "Nothing is looked for any more.")

    # The mouse

    @on(BoardWidget.Clicked)
    def _clicked(self, event: BoardWidget.Clicked) -> None:
        practice, kind = self.practice, Click.SINGLE
        if event.button == RIGHT_BUTTON:
            kind = Click.RIGHT
        elif event.chain > 1:
            kind = Click.DOUBLE
        pile, count = event.spot.pile, event.count
        game, view = practice.game, practice.view
        self._pointed(click(game, view, self.selection, pile, count, kind, self.card_name))

    @on(BoardWidget.Lifted)
    def _lifted(self, event: BoardWidget.Lifted) -> None:
        self._empty_hand()
        self.selection = replace(self.selection, picked=event.spot.pile, size=event.count)
        self.redraw()

    @on(BoardWidget.Missed)
    def _missed(self, event: BoardWidget.Missed) -> None:
        self._empty_hand()
        self.redraw()

    @on(BoardWidget.Dropped)
    def _dropped(self, event: BoardWidget.Dropped) -> None:
        practice = self.practice
        self._empty_hand()
        result = drop(
            practice.game,
            practice.view,
            event.source.pile,
            event.count,
            event.target.pile,
            self.card_name,
            selection=self.selection,
        )
        self._pointed(result)

    def _pointed(self, result: InputResult) -> None:
        self.drop_question()
        self._do(result)
        self.redraw()
