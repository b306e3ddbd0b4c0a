"""The screen of practice: a board with undo and hints, without effect on results."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from textual.containers import Vertical
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.draw import title_facts
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.symbols import Symbols
from saratoga_client.input.move_text import with_turned_up
from saratoga_client.input.selection import InputResult
from saratoga_client.practice.deals import PracticeDeal
from saratoga_client.practice.game import PracticeGame, is_known_stuck
from saratoga_client.practice.ghost import Ghost, RunStore, gap_text
from saratoga_client.practice.hints import safe_move
from saratoga_client.practice.practice_session import PracticeSession
from saratoga_client.text import cells_of, wrapped
from saratoga_client.tui.base_screen import Guide
from saratoga_client.tui.board_pane import BoardPosition
from saratoga_client.tui.game_screen import COPY_KEY, GameScreen
from saratoga_client.tui.pages.panel import draw_meter
from saratoga_client.tui.painted_rows import CanvasView
from saratoga_client.tui.screens.help import PRACTICE_KEYS, HelpScreen
from saratoga_client.wording import dollars, minutes_and_seconds, money_meter
from saratoga_rules.play import IllegalMove

TAG: Final = " PRACTICE "
NOTICE: Final = " nothing counts here "

Line: TypeAlias = tuple[str, Role]


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeStanding:
    """The figures of a practice game at one moment."""

    practice: PracticeGame
    elapsed: int
    """Milliseconds since the deal was shown."""
    ghost: Ghost | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """A value that changes whenever the drawing of the panel changes."""
        ghost = self.ghost
        if ghost is None:
            return (self.practice,)
        is_over = self.elapsed >= ghost.climb.end
        return (self.practice, ghost, ghost.climb.banked_at(self.elapsed), is_over)


def practice_title(standing: PracticeStanding, width: int) -> Canvas:
    """Draw the title line with game, deal and time, in a colour that races do not use."""
    canvas = Canvas(width, 1, Role.PRACTICE)
    practice = standing.practice
    clean = "clean" if practice.is_clean else "helped"
    right = f"{clean}  {minutes_and_seconds(standing.elapsed)} "
    end = width - cells_of(right)
    x = canvas.put(0, 0, TAG, Role.PRACTICE)
    facts = (practice.game.title, practice.deal.title, *title_facts(practice.game, practice.view))
    for fact in facts:
        if x + cells_of(fact) + 1 < end:
            x = canvas.put(x, 0, fact, Role.PRACTICE) + 2
    canvas.put(end, 0, right, Role.PRACTICE)
    return canvas


def practice_panel(standing: PracticeStanding, symbols: Symbols, width: int, height: int) -> Canvas:
    """Draw the player's figures; omit each section that does not fit into the panel."""
    canvas = Canvas(width, height)
    practice = standing.practice
    canvas.put(1, 0, NOTICE, Role.PRACTICE)
    money = money_meter(practice.game, practice.banked)
    y = draw_meter(canvas, 1, 2, width - 2, money, symbols) + 1
    for section in (_money(practice), _counts(practice), _ghost(standing)):
        lines = [(part, role) for text, role in section for part in wrapped(text, width - 2)]
        if lines and y + len(lines) <= height:
            for text, role in lines:
                canvas.put(1, y, text, role)
                y += 1
            y += 1
    return canvas


def practice_ticker(standing: PracticeStanding, width: int) -> Canvas:
    """Draw the figures in one line, for screens that are too small for the panel."""
    canvas = Canvas(width, 1)
    practice = standing.practice
    x = canvas.put(1, 0, f"banked {practice.banked}/{practice.game.cards}", Role.COUNT)
    if standing.ghost is not None:
        text = gap_text(standing.ghost, practice.banked, standing.elapsed)
        x = canvas.put(x + 2, 0, text, Role.TEXT)
    canvas.put(x + 2, 0, "practice: nothing counts", Role.DIM)
    return canvas


def _money(practice: PracticeGame) -> Sequence[Line]:
    return [(f"in a race: {dollars(practice.net)}", Role.DIM)]


def _counts(practice: PracticeGame) -> Iterator[Line]:
    yield f"moves {len(practice.made)}", Role.TEXT
    if practice.undone:
        yield f"undone moves {len(practice.undone)}", Role.DIM
    if practice.is_clean:
        yield "clean: no undo, no hint", Role.MONEY_UP
    else:
        yield f"undos {practice.undos}, hints {practice.hints}", Role.TEXT


def _ghost(standing: PracticeStanding) -> Iterator[Line]:
    ghost = standing.ghost
    if ghost is None:
        return
    banked = standing.practice.banked
    lead = banked - ghost.climb.banked_at(standing.elapsed)
    role = Role.MONEY_UP if lead > 0 else Role.MONEY_DOWN if lead < 0 else Role.TEXT
    yield "GHOST", Role.LABEL
    yield ghost.words, Role.TEXT
    yield f"now {ghost.climb.banked_at(standing.elapsed)}, you {banked}", Role.TEXT
    yield gap_text(ghost, banked, standing.elapsed), role
    if standing.elapsed >= ghost.climb.end:
        yield f"stopped at {minutes_and_seconds(ghost.climb.end)}", Role.DIM


class PracticeScreen(GameScreen):
    """The screen of a practice session; `dismiss` ends practice."""

    DEFAULT_CSS = """
    PracticeScreen #side { width: 24; }
    PracticeScreen.-wide #side { width: 28; }
    PracticeScreen.-broad #side { width: 32; }
    """

    def __init__(
        self,
        deal: PracticeDeal,
        *,
        with_ghost: bool = False,
        ghosts: Sequence[Ghost] = (),
        run_store: RunStore | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with a deal; `ghosts` of this deal are added to those of the run store."""
        super().__init__()
        self.session = PracticeSession(
            deal, run_store=run_store, with_ghost=with_ghost, ghosts=ghosts, seconds=seconds
        )

    @property
    def practice(self) -> PracticeGame:
        """The current state of the game."""
        return self.session.practice

    def side(self) -> Iterable[Widget]:
        with Vertical(id="side"):
            yield CanvasView(self._draw_panel, id="panel")

    def begin(self) -> None:
        self.say(self.session.greeting())

    def on_unmount(self) -> None:
        # This also runs when a signal ends the program.
        self.session.keep()

    # Drawing

    @property
    def standing(self) -> PracticeStanding:
        """The figures for the panel beside the board."""
        session = self.session
        return PracticeStanding(
            practice=session.practice, elapsed=session.elapsed, ghost=session.ghost
        )

    def draw_title(self, width: int, height: int) -> Canvas:
        return practice_title(self.standing, width)

    def _draw_panel(self, width: int, height: int) -> Canvas:
        return practice_panel(self.standing, self.symbols, width, height)

    def draw_ticker(self, width: int, height: int) -> Canvas:
        return practice_ticker(self.standing, width)

    def position(self) -> BoardPosition:
        practice = self.practice
        return BoardPosition(
            game=practice.game,
            view=practice.view,
            style=self.program.appearance.card_style(practice.game),
            find=self.finder.text,
        )

    def redraw_side(self) -> None:
        standing = self.standing
        content = standing.content
        for name in ("#panel", "#ticker"):
            self.query_one(name, CanvasView).redraw_for(content)

    def tick(self) -> None:
        super().tick()
        self.redraw_side()

    def game_keys(self) -> Guide:
        practice = self.practice
        if practice.is_won:
            return (("s", "again"), ("n", "new deal"), (COPY_KEY, "copy"), ("z", "undo"))
        own: list[tuple[str, str]] = [("h", "hint")]
        own += [("z", "undo")] if practice.made else []
        own += [("i", "redo")] if practice.undone else []
        scene = self.pane.scene
        own += [("a", "bank safe")] if safe_move(scene.game, scene.view, scene.legal) else []
        keys = self.pane.key_hints()
        selection = self.pane.selection
        if selection.picked is not None or selection.lit is not None:
            return (*keys, *own)
        return (*keys[:2], *own, *keys[2:], ("s", "again"), ("n", "new deal"))

    # Keys

    def press_game(self, key: str) -> None:
        match key:
            case "z" | "u" | "ctrl+z":
                self._change(self.session.undo)
            case "i" | "ctrl+y":
                self._change(self.session.redo)
            case "a":
                self._change(self.session.bank_safe)
            case "h":
                self._hint()
            case "s":
                self._change_deal("Start this deal again?", self.session.restart)
            case "n":
                self._change_deal("Leave this deal for a new one?", self.session.deal_anew)
            case "e":
                self.say(self.session.toggle_ghost())
            case "y":
                self.copy(self.session.share)
            case _ if self.practice.is_won:
                self.say("The game is won: s plays the deal again, n deals anew, z undoes.")
            case _:
                self.press_board(key)

    def show_help(self) -> None:
        """Open the help over the screen."""
        self.app.push_screen(HelpScreen(self.practice.game, PRACTICE_KEYS, "PRACTICE"))

    def _change(self, change: Callable[[], str]) -> None:
        """Run an action that changes the position, and show its sentence."""
        self.pane.clear_selection()
        self.say(change())
        self._check_progress()

    def _change_deal(self, question: str, change: Callable[[], str]) -> None:
        """Run an action that ends the run; ask the player first if a move was made."""
        if self.practice.made and not self.practice.is_won:
            self.ask(f"{question} Your run is kept. (y/n)", y=("yes", lambda: self._change(change)))
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
        before = self.practice.view
        try:
            ended = self.session.play(result.move)
        except IllegalMove as illegal:
            self.say(str(illegal.refusal), Role.WARNING)
            return
        if ended:
            self.say(ended, Role.TITLE)
        else:
            self.say(with_turned_up(result.says, before, self.practice.view, self.card_name))
        self._check_progress()

    def _check_progress(self) -> None:
        """Show a failure to save the run; check in the background whether the board is stuck."""
        if self.session.save_error:
            self.say(self.session.save_error, Role.WARNING)
        self.run_worker(self._say_if_stuck(self.practice), group="stuck", exclusive=True)

    async def _say_if_stuck(self, practice: PracticeGame) -> None:
        is_stuck = await asyncio.to_thread(is_known_stuck, practice.game, practice.position)
        if is_stuck and practice.position == self.practice.position:
            self.say(self.session.STUCK, Role.WARNING)
