"""The home: what the player can do, one line and one key each, and what this machine and a server remember.

It needs no server. The connection to one is shared with the tables opened from here, and the home's screen
stays open below them. Texts from a server are kept as they were sent; `Ink` sanitises them.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from getpass import getuser
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text
from textual import events as textual_events
from textual import on
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker, WorkerError

from saratoga_client.board_view.roles import Role, money_role
from saratoga_client.local.hosting import local_server
from saratoga_client.local.origins import check_address
from saratoga_client.local.settings import Settings, remember, remember_server
from saratoga_client.net.connection import Connection
from saratoga_client.practice.deals import drawn_seed, from_seed
from saratoga_client.problems import Problem
from saratoga_client.session.error_messages import CONNECTION_ERRORS, problem_for
from saratoga_client.session.history import Raced, friends_in
from saratoga_client.session.invitation import Destination, destination, inviter_for
from saratoga_client.session.join import (
    NAME_REFUSALS,
    claim_guest_name,
    claim_name,
    is_seated_at,
    look_at,
    others_at,
    stop_watching,
    take_seat,
)
from saratoga_client.session.quick_start import QUICK_TABLE, race_bots
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import MOST_SEATS
from saratoga_client.session.table_session import TableSession
from saratoga_client.text import fitted
from saratoga_client.tui.app import Flow, SaratogaApp, practice_flow, table_flow
from saratoga_client.tui.base_screen import BaseScreen, Key, Keys
from saratoga_client.tui.home_server import HomeServer
from saratoga_client.tui.line_input import LineInput, one_line
from saratoga_client.tui.rich_view import Ink, RichView, ScrollPage
from saratoga_client.tui.screens.help import HelpScreen
from saratoga_client.wording import dollars, game_title, listed, ordinal, rivals
from saratoga_protocol.events import TableSettings
from saratoga_rules.games import GAMES

if TYPE_CHECKING:
    from saratoga_client.cli.host import OwnServer

CORRECTABLE: Final = NAME_REFUSALS | {"no_such_table"}
"""Codes of refusals after which the player may correct the typed line."""

PITCH: Final = (
    "Race your friends at patience.",
    "The same deal for everyone, at the same moment.",
    "A pack costs $50; every card you bank pays $5.",
)
NAME_ONCE: Final = "Your name is asked once, when you sit down for the first time."
NO_TABLE: Final = "That names no table; a code looks like mint-otter-42."
BUSY: Final = "One moment: the server has not answered yet."

FAN: Final = (
    "\u256d5\u2666\u2500\u256d9\u2663\u2500\u256dJ\u2665\u2500\u256dA\u2660\u2500\u2500\u256e",
    "\u2502   \u2502   \u2502   \u2502    \u2502",
    "\u2502   \u2502   \u2502   \u2502    \u2502",
    "\u2570\u2500\u2500\u2500\u2570\u2500\u2500\u2500\u2570\u2500\u2500\u2500\u2570\u2500\u2500A\u2660\u256f",
)
"""Four cards, drawn beside the first words."""

NAME: Final = 21
"""Width in cells of a player's name."""
MOST_RACES: Final = 5
MOST_FRIENDS: Final = 4


class Choice(NamedTuple):
    """A line of the menu."""

    name: str
    text: str
    open: Callable[[], object]
    watch: Callable[[], object] | None = None
    """Watch the line's table; `None` if the line is no table."""


class Cancelled(Exception):
    """The error that the player did not type the line that a command needs."""


class HomeScreen(BaseScreen):
    """The screen of the home.

    `hosting` closes at the end of the program, so the player is asked first if other people are at the table there.
    """

    DEFAULT_CSS = """
    HomeScreen #body { height: 1fr; overflow: hidden hidden; }
    HomeScreen #menu { margin: 1 0; }
    """
    LEAVE = ("quit", "quit")
    HEADING = "KEYS AT HOME"
    TICK = 0

    def __init__(self, settings: Settings, hosting: "OwnServer") -> None:
        super().__init__()
        self._settings = settings
        self._hosting = hosting
        self.server = HomeServer(settings.server_url, self.show)
        """The server whose tables are shown."""
        self._keeping: Worker[None] | None = None
        self._command: Worker[None] | None = None
        """The last command that may wait for a server or for a typed line."""
        self._line: asyncio.Future[str] | None = None
        """The line that the player is typing."""
        self._menu: Callable[[], Iterator[Choice]] = self._first_menu
        self._marked = 0
        """The index of the marked line."""
        self._rested = ""
        """The last message of `resting`."""
        self.races: list[Raced] = []
        """The player's races, the newest first."""
        self._left: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def body(self) -> Iterable[Widget]:
        with Vertical(id="body"):
            yield RichView(self._draw_pitch, id="pitch")
            yield RichView(self._draw_menu, id="menu")
            with ScrollPage():
                yield RichView(self._draw_tables, id="tables")
                yield RichView(self._draw_races, id="races")
                yield RichView(self._draw_friends, id="friends")
                yield RichView(self._draw_leaders, id="leaders")
        yield LineInput()

    def begin(self) -> None:
        self.races = RecordStore().races()
        self._rest()

    def show(self) -> None:
        """Show what has changed."""
        if self.can_draw and self.is_current:
            self._rest()
            self.redraw()

    def _rest(self) -> None:
        """Say what is so while nothing happens, unless a message stands there."""
        if not self.is_asking and self._line is None and self.message in ("", self._rested):
            self._rested = self.resting
            self.say(self._rested)

    # Drawing

    def facts(self) -> list[str]:
        return ["SARATOGA"]

    def status(self) -> list[tuple[str, Role]]:
        return [(self.server.name, Role.YOU)] if self.server.name else []

    @property
    def resting(self) -> str:
        server, problem = self.server, self.server.problem
        is_expected = bool(self._settings.server or self._settings.last_server or server.table)
        if problem is not None and is_expected:
            return f"{problem.what} Trying again; all the rest works."
        if server.connection is not None and not server.is_open:
            return "The connection is lost; reconnecting ..."
        return NAME_ONCE if not (server.name or self.races) else ""

    def _draw_pitch(self, ink: Ink) -> RenderableType:
        if self.races:
            return ""
        grid = ink.grid(56, None)
        fan = () if self.program.appearance.ascii else FAN
        for number in range(4):
            words = PITCH[number] if number < len(PITCH) else ""
            role = Role.TITLE if number == 0 else Role.TEXT
            grid.add_row(ink.text(f"   {words}", role), _card_line(fan, number, ink))
        return Group("", grid)

    def _draw_menu(self, ink: Ink) -> RenderableType:
        grid = ink.grid(3, 2, 3, 21, None)
        for number, choice in enumerate(self._menu()):
            is_marked = number == self._marked
            grid.add_row(
                "",
                ink.text(self.symbols.mark if is_marked else "", Role.YOU),
                ink.text(f"{number + 1}", Role.KEY),
                ink.text(choice.name, Role.YOU if is_marked else Role.TEXT),
                ink.text(fitted(choice.text, max(1, self.size.width - 30)), Role.DIM),
            )
        return grid

    def _draw_tables(self, ink: Ink) -> RenderableType:
        tables, first = self.server.tables or [], len(list(self._menu()))
        if not tables:
            return ""
        grid = ink.grid(3, 2, 21, 21, 9, 11, 6, None)
        for number, table in enumerate(tables, first):
            is_marked = number == self._marked
            room = max(1, self.size.width - 73)
            grid.add_row(
                "",
                ink.text(self.symbols.mark if is_marked else "", Role.YOU),
                ink.text(fitted(table.code, 20), Role.YOU if is_marked else Role.TEXT),
                ink.text(fitted(game_title(table.game), 20)),
                ink.text(f"{table.cap} min" if table.cap else "untimed", Role.DIM),
                ink.text(fitted(table.phase, 10), Role.DIM),
                ink.text(f"{table.seated}/{table.seats}", Role.COUNT),
                ink.text(fitted(table.host, room, self.symbols.dots), Role.DIM),
            )
        return Group(ink.text("   PUBLIC TABLES", Role.LABEL), grid, "")

    def _draw_races(self, ink: Ink) -> RenderableType:
        if not self.races:
            return ""
        grid = ink.grid(5, 12, 21, 10, 5, 7, 2, None, right={4, 5})
        for raced in self.races[:MOST_RACES]:
            others = len(raced.rivals)
            place = f"{ordinal(raced.place)} of {others + 1}" if others else "alone"
            best = raced.rivals[0] if raced.rivals else None
            how = "won by" if best is not None and best.place < raced.place else "second:"
            told = f"{how} {best.name}, {best.banked}" if best is not None else ""
            grid.add_row(
                "",
                ink.text(_day(raced.at), Role.DIM),
                ink.text(game_title(raced.game)),
                ink.text(place, Role.YOU if raced.place == 1 and others else Role.TEXT),
                ink.text(f"{raced.banked}", Role.COUNT),
                ink.text(dollars(raced.net), money_role(raced.net)),
                "",
                ink.text(fitted(told, max(1, self.size.width - 62)), Role.DIM),
            )
        return Group(ink.text("   YOUR LAST RACES", Role.LABEL), grid, "")

    def _draw_friends(self, ink: Ink) -> RenderableType:
        friends = friends_in(self.races)[:MOST_FRIENDS]
        if not friends:
            return ""
        grid = ink.grid(5, NAME + 1, 10, None)
        for friend in friends:
            score = f"{friend.theirs} : {friend.yours}"
            name = fitted(friend.name, NAME, self.symbols.dots)
            last = ink.text(f"last raced {_day(friend.last)}", Role.DIM)
            grid.add_row("", ink.text(name), ink.text(score, Role.COUNT), last)
        return Group(ink.text("   FRIENDS (races they won : you won)", Role.LABEL), grid, "")

    def _draw_leaders(self, ink: Ink) -> RenderableType:
        leaders = [(game, row) for game, row in self.server.leaders.items() if row is not None]
        if not leaders:
            return ""
        grid = ink.grid(5, 22, NAME + 1, 10, 7, 1, None, right={4})
        for game, leader in leaders:
            grid.add_row(
                "",
                ink.text(game_title(game)),
                ink.text(fitted(leader.name, NAME, self.symbols.dots), Role.LEADER),
                ink.text(f"{leader.value} banked", Role.COUNT),
                ink.text(dollars(leader.net), money_role(leader.net)),
                "",
                ink.text(f"vs {rivals(leader.rivals)}", Role.DIM),
            )
        return Group(ink.text("   TODAY'S LEADERS", Role.LABEL), grid)

    # The menu

    def _first_menu(self) -> Iterator[Choice]:
        if (table := self.server.table) is not None:
            yield Choice("Race again", self._who_waits(), partial(self.join, table.code))
        yield Choice("Play now", "Klondike against two bots, in a few seconds", self.play_now)
        yield Choice("Race friends", "open a table and send them the link", self.race_friends)
        yield Choice("Join a friend", "paste the line or the link that they sent you", self.join)
        practice = "alone, with undo and hints; needs no server"
        yield Choice("Practise", practice, partial(self._open_games, self.practise))
        rules = "six games, a page each"
        yield Choice("How it is played", rules, partial(self._open_games, self._show_rules))

    def _who_waits(self) -> str:
        table = self.server.table
        assert table is not None
        player = "" if self.server.connection is None else self.server.connection.player
        others = others_at(table, player)
        if others:
            return f"{table.code}: {listed(others)} {'is' if len(others) == 1 else 'are'} there"
        if is_seated_at(table, player):
            return f"{table.code}, where you have a seat"
        return f"{table.code}, your last table"

    def _open_games(self, use: Callable[[str], object]) -> None:
        """Show a menu of the games."""

        def games() -> Iterator[Choice]:
            for game in GAMES.values():
                yield Choice(game.title, "", partial(use, game.name))

        self._menu, self._marked = games, 0
        self.say("Which game? escape goes back.")

    def _lines(self) -> list[Choice]:
        """Return the lines of the menu, and the public tables below it."""
        tables = self.server.tables or []
        return [
            *self._menu(),
            *(
                Choice(t.code, "", partial(self.join, t.code), partial(self.watch_table, t.code))
                for t in tables
            ),
        ]

    def keys(self) -> Keys:
        if self._line is not None:
            # every other key is part of the typed line
            return (
                Key("enter", "done", "", self._cancel),
                Key("escape", "cancel", "", self._cancel),
            )
        lines = self._lines()
        marked = lines[self._marked % len(lines)]
        is_first = self._menu == self._first_menu
        picks = (Key(f"{at}", "", "", line.open) for at, line in enumerate(list(self._menu()), 1))
        return (
            Key("enter", "open", "open the marked line", marked.open),
            Key("1", "pick", "open that line", lines[0].open, shown=f"1-{len(list(self._menu()))}"),
            *picks,
            Key("up", "choose", "mark another line", partial(self._mark, -1), shown="up down"),
            Key("down", "", "", partial(self._mark, 1)),
            Key("v", "watch", "watch the marked table", marked.watch or self._cancel, marked.watch is not None,
                "Only a public table can be watched from here: mark one."),
            Key("n", "name", "choose a name at this server", self.choose_name, is_first),
            Key("escape", "back", "", self._cancel, not is_first),
            *super().keys(),
        )  # fmt: skip

    def _mark(self, step: int) -> None:
        self._marked = (self._marked + step) % len(self._lines())
        if (row := self._marked - len(list(self._menu()))) >= 0:
            page, tables = self.query_one(ScrollPage), self.query_one("#tables")
            self.call_after_refresh(page.show_line, tables, row + 1)

    @on(textual_events.Click, "#menu")
    def _clicked(self, event: textual_events.Click) -> None:
        for choice in list(self._menu())[event.y : event.y + 1]:
            choice.open()
            self.redraw()

    @on(textual_events.Click, "#tables")
    def _clicked_table(self, event: textual_events.Click) -> None:
        if 0 < event.y <= len(self.server.tables or ()):
            self._marked = len(list(self._menu())) + event.y - 1
            self.redraw()

    def _cancel(self) -> None:
        if self._line is not None and not self._line.done():
            self._line.cancel()
        self._menu, self._marked = self._first_menu, 0
        self.say("")
        self._rest()

    # A typed line

    def takes_key(self, key: str) -> bool:
        # every other key is part of the typed line
        return self._line is None or key == "escape"

    def type_key(self, event: textual_events.Key) -> None:
        self.query_one(LineInput).type_key(event)

    def on_paste(self, event: textual_events.Paste) -> None:
        """Treat pasted text as an invitation, unless the player is typing a line."""
        event.stop()
        self._do(self._join(typed=one_line(event.text)))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        if self._line is not None and not self._line.done():
            self._line.set_result(event.value.strip())

    async def _ask(self, prompt: str, text: str = "", wrong: str = "") -> str:
        """Return the line that the player types; `text` stands in the field, `wrong` in the message. Raises `Cancelled`."""
        self._line = asyncio.get_running_loop().create_future()
        self.query_one(LineInput).open(prompt, text)
        self.say(wrong, Role.WARNING)
        self.redraw()
        try:
            typed = await self._line
        except asyncio.CancelledError:
            if self._line.cancelled() and not self._left.done():
                raise Cancelled from None
            raise
        finally:
            self._line = None
            if self.can_draw:
                self.query_one(LineInput).close()
                self.redraw()
        if not typed:
            raise Cancelled
        self.say("")
        return typed

    # Commands

    def _do(self, action: Coroutine[Any, Any, None]) -> None:
        """Run a command in the background, one at a time; report its errors."""
        if self._command is not None and not self._command.is_finished:
            action.close()
            self.say(BUSY)
            return
        self._command = self.app.run_worker(self._run(action), group="home")

    async def _run(self, action: Coroutine[Any, Any, None]) -> None:
        try:
            await action
        except Cancelled:
            self._tell("")
            self.show()
        except (*CONNECTION_ERRORS, Problem) as error:
            problem = self._problem(error)
            self._tell(" ".join((str(problem), *problem.said)), Role.WARNING)

    def _problem(self, error: Exception) -> Problem:
        return error if isinstance(error, Problem) else problem_for(self.server.url, error)

    def _tell(self, text: str, role: Role = Role.TEXT) -> None:
        if self.can_draw:
            self.say(text, role)

    def practise(self, game: str) -> None:
        remember(game=game)
        if self._command is not None:
            # it needs no server, so it waits for none
            self._command.cancel()
            self._command = None
        self._do(self._visit(practice_flow(from_seed(GAMES[game], drawn_seed()))))

    def play_now(self) -> None:
        self._do(self._play_now())

    def _show_rules(self, game: str) -> None:
        self.cover(HelpScreen(GAMES[game], (), ""))

    def join(self, code: str = "") -> None:
        self._do(self._join(code))

    def watch_table(self, code: str) -> None:
        self._do(self._watch(code))

    def choose_name(self) -> None:
        self._do(self._choose_name())

    def race_friends(self) -> None:
        chosen = self._settings
        table = TableSettings(
            game=chosen.game, cap=chosen.cap, seats=MOST_SEATS, public=False, races=chosen.races
        )
        self._do(self._open_table(table))

    async def _connected(self, server: str = "") -> Connection:
        """Return the connection to the server at an address, by default the one at hand. Raises `Problem`."""
        if server and server != self.server.url:
            check_address(server)
            await self._go_to(server)
        return await self.server.opened()

    async def _go_to(self, server: str) -> None:
        """Show another server in place of the one at hand."""
        await self._stop(self._keeping)
        self.server = HomeServer(server, self.show)
        self._keeping = self.app.run_worker(self.server.keep(), group="connection")

    async def _connected_here(self) -> Connection:
        """Return the connection to the server that the settings name, or to one on this machine. Raises `Problem`."""
        if self._settings.server:
            return await self._connected(self._settings.server)
        if self._hosting.server is None:
            here = await self._hosting.open(local_server(report=self._tell))
            self._tell(here.warning, Role.WARNING)
        assert self._hosting.server is not None
        return await self._connected(self._hosting.server.own)

    async def _named(self, connection: Connection) -> None:
        """Ask for a name until the player has one at the server. Raises `Cancelled`, `Problem`."""
        if not self.server.name and self._settings.name:
            with suppress(*CONNECTION_ERRORS):
                self.server.name = await claim_name(connection, self._settings.name)
        if not self.server.name:
            await self._choose_name(connection)

    async def _choose_name(self, connection: Connection | None = None) -> None:
        connection = connection or await self._connected()
        name, wrong = self.server.name or login_name(), ""
        while True:
            name = await self._ask("Your name at the table", name, wrong)
            try:
                self.server.name = await claim_name(connection, name)
            except CONNECTION_ERRORS as error:
                problem = self._problem(error)
                if problem.refusal not in NAME_REFUSALS:
                    raise
                wrong = problem.what
            else:
                self._tell(f"You are {self.server.name}.")
                return

    async def _join(self, code: str = "", typed: str = "") -> None:
        """Sit down at the table of a code, or of a line that the player types or pastes."""
        wrong = ""
        while True:
            typed = code or await self._ask("A link, a line or a code", typed, wrong)
            found = destination(typed)
            if found is None:
                wrong = NO_TABLE
                continue
            try:
                await self._sit_down(found)
            except (*CONNECTION_ERRORS, Problem) as error:
                problem = self._problem(error)
                if code or problem.refusal not in CORRECTABLE:
                    raise
                wrong = problem.what
            else:
                return

    async def _sit_down(self, found: Destination) -> None:
        connection = await self._connected(found.server)
        if not found.code:
            self._tell(f"This is {self.server.url}.")
            return
        if not self.server.name:
            # an unknown code is reported before the question for a name
            await look_at(connection, found.code)
        await self._named(connection)
        await self._play(connection, found.code)

    async def _watch(self, code: str) -> None:
        connection = await self._connected()
        session = TableSession(connection)
        await session.watch(code)
        await self._stay(session, code)

    async def _open_table(self, table: TableSettings) -> None:
        shown = self.server.table
        connection = await self._connected_here()
        await self._named(connection)
        kept = self.server.table
        if kept is not None and shown is None and others_at(kept, connection.player):
            # friends wait there, and the player could not see it before
            await self._play(connection, kept.code)
        else:
            await self._play(connection, table)

    async def _play_now(self) -> None:
        """Race against bots at once; a player without a name becomes a guest."""
        connection = await self._connected_here()
        if not self.server.name:
            self.server.name = await claim_guest_name(connection, self._settings.name)
        session, joined = await take_seat(connection, QUICK_TABLE, self._tell)
        starting = asyncio.create_task(race_bots(session))
        try:
            await self._stay(session, joined.code)
        finally:
            starting.cancel()
            await asyncio.wait([starting])
        if not starting.cancelled() and isinstance(problem := starting.exception(), Problem):
            raise problem

    async def _play(self, connection: Connection, table: str | TableSettings) -> None:
        session, joined = await take_seat(connection, table, self._tell)
        await self._stay(session, joined.code)

    async def _stay(self, session: TableSession, code: str) -> None:
        """Show a table until the player leaves it; raises `Problem` if the seat is lost."""
        remember_server(self.server.url, code)
        here = self._hosting.server
        is_here = here is not None and here.own == self.server.url
        if is_here:
            self._hosting.session = session
        friends = here.friends if is_here and here is not None else ""
        inviter = await inviter_for(self._settings.given(server=self.server.url), friends)
        try:
            await self._visit(table_flow(session, inviter))
        finally:
            if self.server.connection is not None:
                await stop_watching(self.server.connection, code)

    async def _visit(self, flow: Flow) -> None:
        """Show other screens over the home until they close. Raises `Problem`."""
        self.server.show(False)
        try:
            await flow(self.program)
        finally:
            self._menu, self._marked = self._first_menu, 0
            self.drop_question()
            self.races = RecordStore().races()
            self.server.show(True)
            self._tell("")
            self.show()

    # The flow

    async def run(self, app: SaratogaApp) -> None:
        """Show the home, and the screens opened from it, until the player leaves the program."""
        await app.push_screen(self)
        self._keeping = app.run_worker(self.server.keep(), group="connection")
        try:
            await self._left
        finally:
            await self._stop(self._command)
            await self._stop(self._keeping)

    async def _stop(self, worker: Worker[None] | None) -> None:
        if worker is not None:
            worker.cancel()
            with suppress(WorkerError):
                await worker.wait()

    def leave(self) -> None:
        """Leave the program; ask first if this closes the server on this machine while others are there."""
        go = partial(self._left.set_result, None)
        if others := self._hosting.still_here():
            self.ask(f"{others} Close this machine's server? (y/n)", y=("close it", go))
        elif not self._left.done():
            go()


def login_name() -> str:
    """Return the name under which the player works at this machine, with a capital; empty if it has none."""
    try:
        return getuser().capitalize()
    except OSError:
        return ""


def _day(at: int) -> str:
    """Return the day of a time in milliseconds since 1970, as people say it."""
    then, now = datetime.fromtimestamp(at / 1000).astimezone(), datetime.now().astimezone()
    days = (now.date() - then.date()).days
    if days < 2:
        return "yesterday" if days else "today"
    return f"{then:%A}" if days < 7 else f"{then.day} {then:%B}"


def _card_line(fan: tuple[str, ...], number: int, ink: Ink) -> Text:
    """Return one line of the fan of cards."""
    if not fan:
        return Text()
    line = ink.text(fan[number], Role.CARD_BLACK)
    line.highlight_regex("[\u2666\u2665]|[5J](?=[\u2666\u2665])", ink.style(Role.CARD_RED))
    return line


def home_flow(settings: Settings, hosting: "OwnServer") -> Flow:
    """Return the flow of the home; it returns when the player quits the program."""

    async def flow(app: SaratogaApp) -> None:
        await HomeScreen(settings, hosting).run(app)

    return flow
