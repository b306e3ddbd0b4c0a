"""The screen of practice: a board with undo and hints, without effect on results."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.draw import title_facts
from saratoga_client.board_view.roles import Role, Symbols, money_role
from saratoga_client.input.move_text import with_turned_up
from saratoga_client.input.selection import InputResult
from saratoga_client.practice.deals import PracticeDeal
from saratoga_client.practice.hints import safe_move
from saratoga_client.practice.practice_session import (
    Ghost,
    PracticeSession,
    gap_text,
    is_known_stuck,
)
from saratoga_client.text import wrapped
from saratoga_client.tui.base_screen import Guide, Key, Keys
from saratoga_client.tui.game_screen import BoardPosition, GameScreen
from saratoga_client.tui.panel import draw_meter
from saratoga_client.tui.widgets import CanvasView
from saratoga_client.wording import dollars, minutes_and_seconds, money_meter
from saratoga_rules.play import IllegalMove

NOTICE: Final = " nothing counts here "


def practice_panel(session: PracticeSession, symbols: Symbols, width: int, height: int) -> Canvas:
    """Draw the player's figures; omit each section that does not fit into the panel."""
    canvas = Canvas(width, height)
    canvas.put(1, 0, NOTICE, Role.PRACTICE)
    money = money_meter(session.game, session.banked)
    y = draw_meter(canvas, 1, 2, width - 2, money, symbols) + 1
    in_a_race = [(f"in a race: {dollars(session.net)}", Role.DIM)]
    for section in (in_a_race, _counts(session), _ghost(session)):
        lines = [(part, role) for text, role in section for part in wrapped(text, width - 2)]
        if lines and y + len(lines) <= height:
            for text, role in lines:
                canvas.put(1, y, text, role)
                y += 1
            y += 1
    return canvas


def practice_ticker(session: PracticeSession, width: int) -> Canvas:
    """Draw the figures in one line, for screens that are too small for the panel."""
    canvas = Canvas(width, 1)
    banked = session.banked
    x = canvas.put(1, 0, f"banked {banked}/{session.game.cards}", Role.COUNT)
    if session.ghost is not None:
        x = canvas.put(x + 2, 0, gap_text(session.ghost, banked, session.elapsed), Role.TEXT)
    canvas.put(x + 2, 0, "practice: nothing counts", Role.DIM)
    return canvas


def _counts(session: PracticeSession) -> Iterator[tuple[str, Role]]:
    yield f"moves {len(session.made)}", Role.TEXT
    if session.undone:
        yield f"undone moves {len(session.undone)}", Role.DIM
    if session.is_clean:
        yield "clean: no undo, no hint", Role.MONEY_UP
    else:
        yield f"undos {session.undos}, hints {session.hints}", Role.TEXT


def _ghost(session: PracticeSession) -> Iterator[tuple[str, Role]]:
    ghost, banked, elapsed = session.ghost, session.banked, session.elapsed
    if ghost is None:
        return
    theirs = ghost.climb.banked_at(elapsed)
    yield "GHOST", Role.LABEL
    yield ghost.words, Role.TEXT
    yield f"now {theirs}, you {banked}", Role.TEXT
    level = Role.TEXT if banked == theirs else money_role(banked - theirs)
    yield gap_text(ghost, banked, elapsed), level
    if elapsed >= ghost.climb.end:
        yield f"stopped at {minutes_and_seconds(ghost.climb.end)}", Role.DIM


class PracticeScreen(GameScreen):
    """The screen of a practice session; `dismiss` ends practice."""

    LEAVE = ("back", "end practice; your best run is kept on this machine")
    HEADING = TAG = "PRACTICE"
    TITLE_ROLE = Role.PRACTICE

    DEFAULT_CSS = """
    PracticeScreen #side { width: 24; }
    PracticeScreen.-wide #side { width: 28; }
    PracticeScreen.-broad #side { width: 32; }
    """

    def __init__(
        self,
        deal: PracticeDeal,
        *,
        ghosts: Sequence[Ghost] = (),
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with a deal; its ghost is the best of `ghosts` and of the player's kept run."""
        super().__init__()
        self.session = PracticeSession(deal, ghosts=ghosts, seconds=seconds)

    def side(self) -> Iterable[Widget]:
        yield CanvasView(self._draw_panel, id="side")

    def begin(self) -> None:
        self.say(self.session.greeting())

    def on_unmount(self) -> None:
        # This also runs when a signal ends the program.
        self.session.keep()

    # Drawing

    def facts(self) -> list[str]:
        session = self.session
        more = title_facts(session.game, session.view)
        return [session.game.title, session.deal.title, *more]

    def status(self) -> list[tuple[str, Role]]:
        clean = "clean" if self.session.is_clean else "helped"
        return [(clean, Role.PRACTICE), (minutes_and_seconds(self.session.elapsed), Role.PRACTICE)]

    def _draw_panel(self, width: int, height: int) -> Canvas:
        return practice_panel(self.session, self.symbols, width, height)

    def draw_ticker(self, width: int, height: int) -> Canvas:
        return practice_ticker(self.session, width)

    def position(self) -> BoardPosition:
        game = self.session.game
        return BoardPosition(
            game=game,
            view=self.session.view,
            style=self.program.appearance.card_style(game),
            find=self.finder.text,
        )

    def own_keys(self) -> Keys:
        session, scene = self.session, self.pane.scene
        undo, redo = partial(self._change, session.undo), partial(self._change, session.redo)
        undo_now, redo_now = session.made and "undo", session.undone and "redo"
        safe = safe_move(scene.game, scene.view, scene.legal) and "bank safe"
        bank, copy = partial(self._change, session.bank_safe), session.is_won and "copy"
        again = partial(self._change_deal, "Start this deal again?", session.restart)
        anew = partial(self._change_deal, "Leave this deal for a new one?", session.deal_anew)
        return (
            Key("h", "hint", "show what a strong player would do, and why", self._hint),
            Key("z u ctrl+z", undo_now or "", "undo the last move", undo),
            Key("ctrl+y ctrl+r", redo_now or "", "redo the move that was undone last", redo),
            Key("a", safe or "", "bank every card that is safe to bank", bank),
            Key("s", "again", "start this deal again", again),
            Key("n", "new deal", "a new deal", anew),
            Key(
                "y",
                copy or "",
                "copy the result, with the seed, for friends",
                lambda: self.copy("The result", session.share),
            ),
        )

    def hints(self) -> Guide:
        return () if self.session.is_won else super().hints()

    def guide(self) -> Guide:
        keys, first, selection = super().guide(), len(self.hints()), self.pane.selection
        if selection.picked is None and selection.lit is None:
            # undo and hint come before the rarer keys of the board
            keys = (*keys[:2], *keys[first:], *keys[2:first])
        return keys

    # Keys

    def press_in_body(self, key: str) -> None:
        if self.session.is_won:
            self.say("The game is won: s plays the deal again, n deals anew, z undoes.")
        else:
            self.press_board(key)

    def _change(self, change: Callable[[], str]) -> None:
        """Run an action that changes the position, and show its sentence."""
        self.pane.clear_selection()
        self.say(change())
        self._check_progress()

    def _change_deal(self, question: str, change: Callable[[], str]) -> None:
        """Run an action that ends the run; ask the player first if a move was made."""
        if self.session.made and not self.session.is_won:
            self.ask(
                f"{question} Your best run is kept. (y/n)", y=("yes", lambda: self._change(change))
            )
        else:
            self._change(change)

    def _hint(self) -> None:
        advice = self.session.hint(self.card_name)
        self.pane.highlight(advice.move)
        self.say(advice.says, Role.LEADER)

    def play(self, result: InputResult) -> None:
        if result.move is None:
            self.say(result.says)
            return
        before = self.session.view
        try:
            ended = self.session.play(result.move)
        except IllegalMove as illegal:
            self.say(str(illegal.refusal), Role.WARNING)
            return
        if ended:
            self.say(ended, Role.TITLE)
        else:
            self.say(with_turned_up(result.says, before, self.session.view, self.card_name))
        self._check_progress()

    def _check_progress(self) -> None:
        """Show a failure to save the run; check in the background whether the board is stuck."""
        if self.session.save_error:
            self.say(self.session.save_error, Role.WARNING)
        self.run_worker(self._say_if_stuck(), group="stuck", exclusive=True)

    async def _say_if_stuck(self) -> None:
        position = self.session.position
        is_stuck = await asyncio.to_thread(is_known_stuck, self.session.game, position)
        if is_stuck and position == self.session.position:
            self.say(self.session.STUCK, Role.WARNING)
