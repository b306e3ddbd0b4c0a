"""A player at the screens of a table, without a server: the test changes the table's state.

The screens are the program's own, run by Textual without a terminal. Tests read the painted cells.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any, Final, TypeVar, cast

from msgspec import structs
from rich.console import Console, RenderableType
from textual.errors import NoWidget
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from kit.positions import draw
from kit.session_states import START, YOU, board, player, snapshot, state_after, table
from saratoga_client.local.terminal import Colours
from saratoga_client.net.connection import LinkState
from saratoga_client.problems import Exit, Problem
from saratoga_client.review.boards import OpenBoard, par_board
from saratoga_client.session.invitation import Inviter
from saratoga_client.session.own_board import OwnBoard, with_move, without
from saratoga_client.session.state import SessionState, confirm, link_changed, next_state
from saratoga_client.session.state_store import StateStore
from saratoga_client.session.table_session import TableSession
from saratoga_client.tui.app import SaratogaApp
from saratoga_client.tui.game_screen import BoardPane
from saratoga_client.tui.screens.race import RaceScreen
from saratoga_client.tui.table_flow import TableFlow
from saratoga_client.tui.table_screen import TableScreen
from saratoga_client.tui.theme import Appearance, paint
from saratoga_client.tui.widgets import Ink
from saratoga_protocol import commands, events
from saratoga_protocol.commands import Command
from saratoga_protocol.events import BoardView, Event
from saratoga_protocol.views import wire_view
from saratoga_rules.games import GAMES
from saratoga_rules.money import net
from saratoga_rules.moves import Move
from saratoga_rules.par import Line
from saratoga_rules.play import play
from saratoga_rules.position import Position, redact
from saratoga_rules.records.record import RaceRecord

INK: Final = Ink(paint(Colours.NONE))


def page_text(page: RenderableType, width: int = 80) -> str:
    """Return a page's text at a width in cells, without blanks at the ends of lines."""
    printed = StringIO()
    Console(file=printed, width=width, color_system=None, legacy_windows=False).print(page)
    return "\n".join(line.rstrip() for line in printed.getvalue().split("\n"))


def painted_rows(screen: Screen[Any]) -> list[Strip]:
    """Return every row of the screen as a strip of styled text; blank rows if it has no layout yet."""
    try:
        screen.get_widget_at(0, 0)
    except NoWidget:
        return [Strip.blank(screen.size.width)] * screen.size.height
    return [_row(screen, y) for y in range(screen.size.height)]


def painted_text(screen: Screen[Any]) -> list[str]:
    """Return the text of every row, without blanks at its end."""
    return [row.text.rstrip() for row in painted_rows(screen)]


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


INVITER: Final = Inviter(server="ws://192.168.1.7:7470")
REFUSAL: Final = "The server refuses this."

SomeWidget = TypeVar("SomeWidget", bound=Widget)


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
        board = BoardView(
            race=own.race,
            count=count,
            view=wire_view(redact(self.position)),
            banked=self.position.banked,
            net=net(own.game, self.position.banked),
            state=state,
            head="0" * 16,
        )
        self.change_to(confirm(self._now(), board))

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
class TablePlayer:
    """A player at the screens of a table."""

    app: SaratogaApp
    pilot: Pilot[int]
    seat: FakeSession
    flow: TableFlow

    async def press(self, *keys: str) -> None:
        """Press keys and wait for their effects."""
        await self.pilot.press(*keys)
        await self.settled()

    async def receive(self, *received: Event) -> None:
        """Apply events as if the server had sent them, and wait for their effects."""
        for event in received:
            self.seat.receive(event)
        await self.settled()

    async def settled(self) -> None:
        """Wait until the screens show the current state."""
        for _ in range(3):
            await self.pilot.pause(0)

    @property
    def screen(self) -> TableScreen:
        """The table's screen, even while another screen covers it."""
        shown = [screen for screen in self.app.screen_stack if isinstance(screen, TableScreen)]
        return shown[-1]

    @property
    def rows(self) -> list[str]:
        """The painted characters of every row."""
        return ["".join(text for text, _ in row) for row in self.cells]

    @property
    def cells(self) -> list[list[tuple[str, str]]]:
        """Every row as a list of texts, each with its style."""
        rows = painted_rows(self.app.screen)
        return [[(piece.text, str(piece.style)) for piece in row] for row in rows]

    @property
    def text(self) -> str:
        """All rows as one text, without blanks at the ends of rows."""
        return "\n".join(row.rstrip() for row in self.rows)

    def widget(self, kind: type[SomeWidget], selector: str = "") -> SomeWidget:
        if selector:
            return self.app.screen.query_one(selector, kind)
        return self.app.screen.query_one(kind)

    @property
    def board(self) -> BoardPane:
        return self.widget(BoardPane)

    def board_column(self, pile: str) -> str:
        """Return the text at a pile and below it, row by row."""
        layout = self.board.layout_shown
        assert layout is not None
        columns = {
            (place.x, place.x + place.width) for place in layout.tiles if place.spot.pile == pile
        }
        left, right = min(columns)
        top = min(place.y for place in layout.tiles if place.spot.pile == pile)
        first = self.board.region.y + top
        return "\n".join(row[left:right] for row in self.rows[first:-2])

    def point(self, pile: str) -> tuple[int, int]:
        """Return a cell of a pile's first card, counted from the board's corner."""
        layout = self.board.layout_shown
        assert layout is not None
        place = next(tile for tile in layout.tiles if tile.pile == pile)
        return place.x + 1, place.y


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


__all__ = ["INVITER", "REFUSAL", "YOU", "FakeSession", "TablePlayer", "table_player"]


CANFIELD: Final = GAMES["canfield"]
PICTURE: Final = """
t1: QS
t2: KH
t3: 9D 8S
t4: 6C
reserve: 4H
waste: 5D
stock: 2S 3S 4S 5S 6S 7S
up: D4
base: A
"""
POSITION: Final = draw(CANFIELD, PICTURE)
"""A position in which QS goes on KH, 5D goes on 6C or to its foundation, and 4H goes nowhere."""


def racing(
    position: Position = POSITION, shorthand: str = "y4 a3 r2", game: str = "canfield"
) -> SessionState:
    return state_after(first=snapshot(shorthand, board(position, game=game), table(game=game)))


@asynccontextmanager
async def race(
    position: Position = POSITION, size: tuple[int, int] = (80, 24), shorthand: str = "y4 a3 r2"
) -> AsyncIterator[TablePlayer]:
    async with table_player(racing(position, shorthand), position=position, size=size) as at_table:
        assert isinstance(at_table.screen, RaceScreen)
        yield at_table


def said(at_table: TablePlayer) -> str:
    """Return the message line of an 80x24 screen; the message must fit on one line."""
    return at_table.rows[-2].strip()


def last_racer(letter: str, host: str = "y") -> events.TableChanged:
    """Return the event that names the last racer; from then on the host may end the race in 5 s."""
    shown = structs.replace(
        table(host=host, version=9), last_racer=player(letter), end_from=START + 70_000
    )
    return events.TableChanged(table=shown, now=START)
