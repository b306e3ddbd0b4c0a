"""The screens of a race: the player's board, the panel with the rivals, and the messages; and that for players who do not race."""

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.draw import title_facts
from saratoga_client.board_view.roles import Role
from saratoga_client.input.move_text import first_that_fits, with_turned_up
from saratoga_client.input.selection import InputResult
from saratoga_client.session.open_race import run_words
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.result_text import own_ending, race_of_match
from saratoga_client.session.state import SessionState, race_clock
from saratoga_client.session.table_view import rows
from saratoga_client.tui.base_screen import Guide, Key, Keys
from saratoga_client.tui.chart import draw_chart
from saratoga_client.tui.game_screen import BoardPosition, GameScreen
from saratoga_client.tui.panel import ROOMY, idle_warning, live_lines, money_of, panel, ticker
from saratoga_client.tui.table_screen import TableScreen
from saratoga_client.tui.widgets import CanvasView
from saratoga_client.wording import dollars, game_title, minutes_and_seconds, ordinal
from saratoga_rules.play import IllegalMove

if TYPE_CHECKING:
    from saratoga_client.tui.table_flow import TableFlow

MOST_QUEUED: Final = 16
"""Maximum number of keys queued while a card is being turned up."""

LATE: Final = 30_000
"""The clock warns during this many milliseconds before the time limit."""

WAITS: Final = "This move waits for the connection"

CASHING_OUT: Final = "Cashing out: no more moves can be made."


class RaceScreen(GameScreen, TableScreen):
    """The screen of a racer: the player's board and the panel."""

    DEFAULT_CSS = """
    RaceScreen #side { width: 25; }
    RaceScreen.-wide #side { width: 29; }
    RaceScreen.-broad #side { width: 33; }
    """

    def __init__(self, table: "TableFlow") -> None:
        super().__init__(table)
        assert table.state.own is not None, "this screen is for racers"
        self._own = table.state.own
        self._queued: deque[str] = deque()
        self._is_playing_queue = False
        self._was_racing = self._own.is_racing
        self._panel_shows: tuple[object, ...] = ()
        self._seen = self._own.view
        """The confirmed board of the last report."""
        self._said_move = ""
        """The description of the last move; empty if the last key played none."""

    def side(self) -> Iterable[Widget]:
        yield CanvasView(self._draw_panel, id="side", after_keys=False)

    def _draw_panel(self, width: int, height: int) -> Canvas:
        canvas = Canvas(width, height)
        canvas.paste(panel(self.state, width - 1, height, self.controls.now(), self.symbols), 1, 0)
        return canvas

    def draw_ticker(self, width: int, height: int) -> Canvas:
        return ticker(self.state, width, self.symbols)

    @property
    def own(self) -> OwnBoard:
        """The player's board; below a screen that is still read, the last one before the next race gathers."""
        self._own = self.state.own or self._own
        return self._own

    def position(self) -> BoardPosition:
        own = self.own
        return BoardPosition(
            game=own.game,
            view=own.shown,
            style=self.program.appearance.card_style(own.game),
            find=self.finder.text,
            refusal=self._refusal(own),
        )

    def _refusal(self, own: OwnBoard) -> str:
        """Return why no move can be made now; empty if moves can be made."""
        if own.may_move:
            return ""
        if own.is_cashing_out:
            return CASHING_OUT
        if not own.is_racing:
            return self.resting
        if not self.state.is_connected:
            return "Your last move waits for the connection, and turns a card up."
        return "A card is being turned up: click again in a moment."

    # Title, keys and messages

    def begin(self) -> None:
        if self.own.is_racing:
            self.say("Go! Press a pile's key to pick, another's to place; space draws.")
        self.changed(self.state)

    def facts(self) -> list[str]:
        own = self.own
        table = self.state.table
        found = rows(self.state.table_view)
        place = next((row.place for row in found if row.player == self.state.player), 0)
        return [
            own.game.title.upper(),
            run_words(table) or race_of_match(table, self.state.match),
            *title_facts(own.game, own.shown),
            f"{ordinal(place)} of {len(found)}" if place else "",
        ]

    def status(self) -> list[tuple[str, Role]]:
        warning = idle_warning(self.state, self.controls.now())
        is_hidden = self.has_class("-focus") or self.has_class("-ticker")
        shown = [(" ".join(warning), Role.ALERT)] if warning and is_hidden else []
        return [*shown, *super().status()]

    def clock(self) -> tuple[str, Role]:
        time = race_clock(self.state, self.controls.now())
        if time.left is None:
            return minutes_and_seconds(time.elapsed), Role.TITLE
        role = Role.ALERT if time.left < LATE else Role.TITLE
        return minutes_and_seconds(time.left), role

    def own_keys(self) -> Keys:
        own = self.own
        may_end = own.is_racing and not own.is_cashing_out
        ends = "cash out: end your race and keep what you banked; asks first"
        cash_out = Key("x", "cash out", ends, self._ask_to_cash_out, when=may_end, is_kept=True)
        return (cash_out, *self.end_race_keys())

    def help_lines(self) -> Guide:
        return (*super().help_lines(), ("ctrl+c", "leave at once; your seat is kept for a minute"))

    def hints(self) -> Guide:
        own = self.own
        return super().hints() if own.is_racing and not own.is_cashing_out else ()

    def changed(self, state: SessionState) -> None:
        if state.own is None:
            return
        self._report(state.own)
        self._play_queue()
        self.redraw()
        shows = (state.table_view, state.link, state.news, state.own.banked, state.idle_until)
        if shows != self._panel_shows:
            self._panel_shows = shows
            self.query_one("#side", CanvasView).redraw()

    @property
    def resting(self) -> str:
        return "" if self.own.is_racing else own_ending(self.state, self.own)

    def _report(self, own: OwnBoard) -> None:
        """Show messages about changes that the player's keys did not cause, or did not foresee."""
        self._say_turned_up(own)
        if own.taken_back:
            self._queued.clear()
        if self._was_racing and not own.is_racing:
            self._queued.clear()
            self.drop_question()
            self.say("")  # and then what rests
        self._was_racing = own.is_racing

    def _say_turned_up(self, own: OwnBoard) -> None:
        """Add the card that the last move has turned up to the move's message."""
        before, self._seen = self._seen, own.view
        if self._said_move and self.message == self._said_move:
            self._said_move = with_turned_up(self._said_move, before, own.view, self.card_name)
            if self._said_move != self.message:
                self.say(self._said_move)

    # Keys

    def press_in_body(self, key: str) -> None:
        """Press a key on the board, or queue it while a card is being turned up."""
        own = self.own
        if not own.is_racing:
            self.say(self.resting, Role.TITLE)
        elif own.is_cashing_out:
            self.say(CASHING_OUT)
        elif own.may_move and not self._queued:
            self.press_board(key)
        elif len(self._queued) < MOST_QUEUED:
            self._queued.append(key)
        else:
            self.say("The server has not answered yet; that key was ignored.", Role.WARNING)

    def _play_queue(self) -> None:
        """Press the queued keys, as long as moves can be made."""
        if self._is_playing_queue:
            return
        self._is_playing_queue = True
        try:
            while self._queued and self.own.may_move:
                self.press_board(self._queued.popleft())
        finally:
            self._is_playing_queue = False

    def may_cover_message(self, calm: str) -> bool:
        is_free = super().may_cover_message(calm) or self.message == self._said_move
        return is_free and self.own.is_racing and not self.is_asking and not self.finder.is_open

    def play(self, result: InputResult) -> None:
        says = result.says
        if result.move is not None and not self.state.is_connected:
            says = first_that_fits(f"{WAITS}: {says}", f"{WAITS}.")
        self.say(says)
        self._said_move = "" if result.move is None else says
        if result.move is not None:
            try:
                self.controls.seat.play(result.move)
            except IllegalMove as illegal:
                self.say(str(illegal.refusal), Role.WARNING)

    # Endings

    def _ask_to_cash_out(self) -> None:
        """Ask the player to confirm cashing out."""
        own = self.own
        self.ask(
            f"Cash out with {own.banked} banked, net {dollars(own.net)}? Your race ends. (y/n)",
            y=("cash out", self._cash_out),
        )

    def _cash_out(self) -> None:
        self._queued.clear()
        self.say("Cashing out.")
        self.controls.do(self.controls.seat.cash_out())

    def leave(self) -> None:
        own = self.own
        if own.is_racing:
            meaning = f"Your race ends with {own.banked} banked, and you give up your seat."
        else:
            meaning = f"Your score of {own.banked} stands, and you give up your seat."
        self.ask(f"Leave? {meaning} (y/n)", y=("leave", self.controls.leave))


PANEL: Final = ROOMY - 1
"""Width of the standings in cells; the chart stands beside them."""
NARROW: Final = 80
"""Minimum width of a screen with the chart, in cells."""


class WatchingScreen(TableScreen):
    """The panel of a race and its chart."""

    RESTING = "All boards can be seen when the race is over."

    @property
    def resting(self) -> str:
        is_left_out = self.state.is_left_out
        return f"You have a seat for the next race. {self.RESTING}" if is_left_out else self.RESTING

    def body(self) -> Iterable[Widget]:
        yield CanvasView(self._draw, id="page")

    def _draw(self, width: int, height: int) -> Canvas:
        state, now, symbols = self.state, self.controls.now(), self.symbols
        canvas, side = Canvas(width, height), min(width - 2, PANEL)
        canvas.paste(panel(state, side, height, now, symbols), 1, 0)
        if width >= NARROW:
            lines = live_lines(state, now, symbols, named=True)
            box = (side + 4, 1, width - side - 5, height - 2)
            draw_chart(canvas, box, lines, money_of(state), symbols)
        return canvas

    def keys(self) -> Keys:
        return (*self.end_race_keys(), *super().keys())

    def facts(self) -> list[str]:
        table = self.state.table
        role = "not in this race" if self.state.is_left_out else "watching"
        facts = [game_title(table.settings.game).upper(), table.code, role]
        return [*facts, race_of_match(table, self.state.match)]

    def clock(self) -> tuple[str, Role]:
        time = race_clock(self.state, self.controls.now())
        return minutes_and_seconds(time.elapsed if time.left is None else time.left), Role.TITLE
