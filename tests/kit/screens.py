"""A player at the program's own screens, run by Textual without a terminal: tests press keys and read what is painted.

`before` opens any screen, such as practice or a review. `table_player` opens the screens of a table
without a server: the test changes the table's state.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any, Final, cast

from msgspec import structs
from rich.console import Console, RenderableType
from textual.errors import NoWidget
from textual.events import Key
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from kit.positions import draw
from kit.session_states import START, board, player, snapshot, state_after, table
from saratoga_client.board_view.layout import Tile
from saratoga_client.local.terminal import Colours
from saratoga_client.net.connection import LinkState
from saratoga_client.problems import Exit, Problem
from saratoga_client.review.boards import OpenBoard, open_boards, par_board
from saratoga_client.review.share_text import race_text
from saratoga_client.session.invitation import Inviter
from saratoga_client.session.own_board import OwnBoard, with_move, without
from saratoga_client.session.state import SessionState, confirm, link_changed, next_state
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.table_session import TableSession
from saratoga_client.tui.app import SaratogaApp
from saratoga_client.tui.base_screen import MessageLine
from saratoga_client.tui.game_screen import BoardPane
from saratoga_client.tui.screens.race import RaceScreen
from saratoga_client.tui.screens.review import ReviewScreen
from saratoga_client.tui.table_flow import TableFlow
from saratoga_client.tui.table_screen import TableScreen
from saratoga_client.tui.theme import Appearance, paint
from saratoga_client.tui.widgets import Ink
from saratoga_protocol import commands, events
from saratoga_protocol.commands import Command
from saratoga_protocol.events import Event
from saratoga_rules.games import GAMES
from saratoga_rules.moves import Move
from saratoga_rules.par import Line
from saratoga_rules.play import play
from saratoga_rules.position import Position
from saratoga_rules.records.record import RaceRecord

INK: Final = Ink(paint(Colours.NONE))


def page_text(page: RenderableType, width: int = 80) -> str:
    """Return a page's text at a width in cells, without blanks at the ends of lines."""
    printed = StringIO()
    Console(file=printed, width=width, color_system=None, legacy_windows=False).print(page)
    return "\n".join(line.rstrip() for line in printed.getvalue().split("\n"))


SEEN_WITHIN: Final = 30.0
"""Longest time in seconds that a test waits; a bound, not a measurement."""


@dataclass
class ScreenPlayer:
    """A player who uses screens by keys and mouse clicks."""

    app: SaratogaApp
    pilot: Pilot[int]

    @property
    def screen(self) -> Screen[Any]:
        return self.app.screen

    def sees(self, screen: Screen[Any]) -> bool:
        """Return whether this screen is the active one."""
        return self.app.screen is screen

    @property
    def painted(self) -> list[Strip]:
        """Every row of the active screen as a strip of styled text; blank rows if it has no layout yet."""
        screen = self.app.screen
        try:
            screen.get_widget_at(0, 0)
        except NoWidget:
            return [Strip.blank(screen.size.width)] * screen.size.height
        return [_row(screen, y) for y in range(screen.size.height)]

    @property
    def rows(self) -> list[str]:
        """The text of every row, without blanks at its end."""
        return [row.text.rstrip() for row in self.painted]

    @property
    def cells(self) -> list[list[tuple[str, str]]]:
        """Every row as a list of texts, each with its style."""
        return [[(piece.text, str(piece.style)) for piece in row] for row in self.painted]

    @property
    def text(self) -> str:
        return "\n".join(self.rows)

    @property
    def words(self) -> str:
        """The words on the screen, separated by single spaces."""
        return " ".join(self.text.split())

    @property
    def message(self) -> str:
        """The text of the message line; empty on a screen without one."""
        lines = self.app.screen.query(MessageLine)
        return lines.first().text if lines else ""

    async def press(self, *keys: str) -> str:
        """Press keys and wait for their effects; return the message shown after the last key."""
        await self.pilot.press(*keys)
        await self.settled()
        return self.message

    async def enter(self, text: str) -> None:
        """Type a text letter by letter, then press Enter."""
        for sign in text:
            self.app.post_message(Key(sign if sign != " " else "space", sign))
        await self.press("enter")

    async def settled(self) -> None:
        """Wait until the screens show the current state, and what they read in the background."""
        reading = [each for each in self.app.workers if each.name == "read the record"]
        if reading:
            await self.app.workers.wait_for_complete(reading)
        for _ in range(3):
            await self.pilot.pause(0)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition holds."""
        async with asyncio.timeout(SEEN_WITHIN):
            while not holds():
                await self.pilot.pause(0.01)

    async def reads(self, *texts: str) -> str:
        """Wait until the screen shows all of `texts`, ignoring line breaks; return the words on the screen."""
        try:
            await self.until(lambda: all(text in self.words for text in texts))
        except TimeoutError:
            raise AssertionError(f"never seen: {texts}; the last was\n{self.text}") from None
        return self.words

    @property
    def board(self) -> BoardPane:
        return self.app.screen.query_one(BoardPane)

    def tiles(self, pile: str) -> list[Tile]:
        """Return the places of a pile's cards on the board."""
        layout = self.board.layout_shown
        assert layout is not None
        return [tile for tile in layout.tiles if tile.pile == pile]

    def point(self, pile: str) -> tuple[int, int]:
        """Return a cell of a pile's first card, counted from the board's corner."""
        first = self.tiles(pile)[0]
        return first.x + 1, first.y

    def board_column(self, pile: str) -> str:
        """Return the text at a pile and below it, row by row."""
        tiles = self.tiles(pile)
        left, right = min((tile.x, tile.x + tile.width) for tile in tiles)
        first = self.board.region.y + min(tile.y for tile in tiles)
        return "\n".join(row[left:right] for row in self.rows[first:-2])


def _row(screen: Screen[Any], y: int) -> Strip:
    x, pieces = 0, []
    while x < screen.size.width:
        widget, region = screen.get_widget_at(x, y)
        if widget.children:
            # a container shows only between its children
            end = x + 1
            while end < screen.size.width and screen.get_widget_at(end, y)[0] is widget:
                end += 1
        else:
            end = screen.find_widget(widget).visible_region.right
        (line,) = widget.render_lines(Region(0, y - region.y, region.width, 1))
        pieces.append(line.crop(x - region.x, end - region.x))
        x = end
    return Strip.join(pieces)


@asynccontextmanager
async def before(
    screen: Screen[None],
    size: tuple[int, int] = (80, 24),
    appearance: Appearance = Appearance(),  # noqa: B008 - frozen
) -> AsyncIterator[ScreenPlayer]:
    """Run the app with this screen in a terminal of this size, and yield its player."""

    async def errand(app: SaratogaApp) -> None:
        await app.push_screen_wait(screen)

    app = SaratogaApp(errand, appearance)
    async with app.run_test(size=size) as pilot:
        while app.screen is not screen:
            await pilot.pause()
        await pilot.pause()
        yield ScreenPlayer(app, pilot)


@dataclass
class StoppedClock:
    """A clock that a test sets."""

    at: float = 0.0

    def __call__(self) -> float:
        return self.at


def reviewed(
    record: RaceRecord, player: str = "", clock: StoppedClock | None = None
) -> ReviewScreen:
    """Return the screen of a finished race."""
    boards = open_boards(record)
    share = race_text(record, boards, player)
    return ReviewScreen(record.race_id, boards, player, share, seconds=clock or StoppedClock())


INVITER: Final = Inviter(server="ws://192.168.1.7:7470")
REFUSAL: Final = "The server refuses this."


class Faults(logging.Handler):
    """Raise a logged error of the screens, which go on after it."""

    def emit(self, record: logging.LogRecord) -> None:
        raise AssertionError(record.getMessage())


class FakeSession:
    """A table session whose state the test changes; it records the screens' commands as words."""

    def __init__(
        self, first: SessionState, position: Position | None, record: RaceRecord | None
    ) -> None:
        self.time = START + 65_000
        self._store = StateStore(self.now)
        self._store.replace(first)
        self.asked: list[str] = []
        self.inputs = 0
        """The number of keys, clicks and scrolls that were noted."""
        self.position = position
        self.is_checking = False
        self.refuses = False
        """If true, the server refuses every command."""
        self._record = record
        self._line: Line | None = None
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def state(self) -> SessionState | None:
        return self._store.state

    def states(self) -> AsyncIterator[SessionState]:
        return self._store.states()

    # For the test

    def change_to(self, state: SessionState) -> None:
        """Change the state and notify the screens."""
        self._store.replace(state)

    def look(self) -> None:
        """Look at what changes with the time alone."""
        self.change_to(self._now())

    def receive(self, event: Event) -> None:
        """Apply an event to the state, as if the server had sent it."""
        self.change_to(next_state(self._now(), event, self.time))

    def link(self, state: LinkState) -> None:
        """Set the state of the connection, and notify the screens."""
        self.change_to(link_changed(self._now(), state))

    def confirm(self, state: str = "racing") -> None:
        """Confirm the first unconfirmed move; a state other than racing also ends the board."""
        own = self.own
        assert self.position is not None, "a test that moves says where the cards lie"
        count = own.count
        if own.in_flight:
            self.position = play(own.game, self.position, own.in_flight[0].move)
            count += 1
        if state != "racing":
            count += 1
        shown = board(self.position, count, state, own.game.name, own.race)
        self.change_to(confirm(self._now(), shown))

    def refuse(self, reason: str) -> None:
        """Refuse the first unconfirmed move."""
        own = self.own
        refused = without(own, own.in_flight[0].ticket, reason)
        self.change_to(replace(self._now(), own=refused))

    def offer(self, record: RaceRecord, line: Line | None = None) -> None:
        """Have this record from now on, and this par."""
        self._record, self._line = record, line

    def lose(self, problem: Problem | None = None) -> None:
        """End the session with a problem, for example a lost seat."""
        if problem is None:
            self._end.set_result(None)
        else:
            self._end.set_exception(problem)

    @property
    def own(self) -> OwnBoard:
        own = self._now().own
        assert own is not None
        return own

    def _now(self) -> SessionState:
        assert self.state is not None
        return self.state

    # For the screens

    def now(self) -> int:
        return self.time

    def note_activity(self) -> None:
        self.inputs += 1
        if self._now().idle_left:
            self.change_to(replace(self._now(), idle_left=0))

    async def attend(self) -> None:
        await self._end

    def play(self, move: Move) -> bool:
        if not self.own.may_move:
            return False
        self.asked.append(str(move))
        self.change_to(replace(self._now(), own=with_move(self.own, move)))
        return True

    async def cash_out(self) -> None:
        self._ask("cash out")

    async def record(self, race: str) -> RaceRecord:
        self._ask(f"record {race}")
        if self._record is None:
            raise Problem("There is no such record.", "", Exit.NOT_FOUND)
        return self._record

    async def par(self, record: RaceRecord) -> OpenBoard | None:
        line = self._line
        return line and par_board(record, line.banked, [str(move) for move in line.moves])

    async def ready(self) -> None:
        self._ask("ready")

    async def not_ready(self) -> None:
        self._ask("not ready")

    async def send(self, kind: type[Command], **fields: object) -> None:
        words = {
            commands.AddBot: f"{fields.get('level')} bot",
            commands.EndRace: "end race",
            commands.React: f"react {fields.get('reaction')}",
            commands.HandOver: f"hand over to {fields.get('player')}",
            commands.NextRace: "next race",
            commands.LockTable: "lock" if fields.get("locked", True) else "unlock",
            commands.Kick: f"kick {fields.get('player')}",
            commands.AllowReady: f"allow {fields.get('player')}",
            commands.ChangeSettings: ", ".join(f"{key} {value}" for key, value in fields.items()),
            commands.Start: "start",
        }
        self._ask(words[kind])

    async def leave(self) -> bool:
        self._ask("leave")
        self.lose()
        return True

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.refuses:
            raise Problem(REFUSAL, "", Exit.REFUSED)


@dataclass
class TablePlayer(ScreenPlayer):
    """A player at the screens of a table."""

    seat: FakeSession
    flow: TableFlow

    async def receive(self, *received: Event) -> None:
        """Apply events as if the server had sent them, and wait for their effects."""
        for event in received:
            self.seat.receive(event)
        await self.settled()

    async def change_to(self, state: SessionState) -> None:
        """Change the state of the session, and wait for the effects."""
        self.seat.change_to(state)
        await self.settled()

    @property
    def screen(self) -> TableScreen:
        """The table's screen, even while another screen covers it."""
        shown = [screen for screen in self.app.screen_stack if isinstance(screen, TableScreen)]
        return shown[-1]


@asynccontextmanager
async def table_player(
    first: SessionState,
    *,
    position: Position | None = None,
    record: RaceRecord | None = None,
    size: tuple[int, int] = (80, 24),
    appearance: Appearance = Appearance(),  # noqa: B008 - frozen
    inviter: Inviter = INVITER,
) -> AsyncIterator[TablePlayer]:
    """Open the screens of a table in this state; `position` includes the hidden cards."""
    seat = FakeSession(first, position, record)
    flows: list[TableFlow] = []

    async def stay(app: SaratogaApp) -> None:
        flows.append(TableFlow(app, cast(TableSession, seat), inviter=inviter))
        await flows[0].stay()

    app = SaratogaApp(stay, appearance)
    async with app.run_test(size=size) as pilot:
        at_table = TablePlayer(app, pilot, seat, None)  # type: ignore[arg-type]
        await at_table.settled()
        at_table.flow = flows[0]
        log, faults = logging.getLogger("saratoga.racing"), Faults(logging.ERROR)
        log.addHandler(faults)
        try:
            yield at_table
        finally:
            log.removeHandler(faults)


POSITION: Final = draw(
    GAMES["canfield"],
    "t1: QS\nt2: KH\nt3: 9D 8S\nt4: 6C\nreserve: 4H\nwaste: 5D\nstock: 2S 3S 4S 5S 6S 7S\nup: D4\nbase: A",
)
"""A position in which QS goes on KH, 5D goes on 6C or to its foundation, and 4H goes nowhere."""


@asynccontextmanager
async def race(
    position: Position = POSITION, size: tuple[int, int] = (80, 24), shorthand: str = "y4 a3 r2"
) -> AsyncIterator[TablePlayer]:
    first = state_after(first=snapshot(shorthand, board(position)))
    async with table_player(first, position=position, size=size) as at_table:
        assert isinstance(at_table.screen, RaceScreen)
        yield at_table


def last_racer(letter: str, host: str = "y") -> events.TableChanged:
    """Return the event that names the last racer; from then on the host may end the race in 5 s."""
    shown = structs.replace(
        table(host=host, version=9), last_racer=player(letter), end_from=START + 70_000
    )
    return events.TableChanged(table=shown, now=START)
