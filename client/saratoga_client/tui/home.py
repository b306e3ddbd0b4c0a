"""The home: what the player can do, one line and one key each, and what this machine and a server remember.

It needs no server. The connection to one is shared with the tables opened from here, and the home's
screen stays open below them. Texts from a server are kept as they were sent; `Ink` sanitises them.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from functools import partial
from getpass import getuser
from typing import TYPE_CHECKING, Any, Final

from rich.console import RenderableType
from textual import events as textual_events
from textual import on
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker, WorkerError

from saratoga_client.board_view.roles import Role
from saratoga_client.local.hosting import local_server
from saratoga_client.local.origins import check_address
from saratoga_client.local.settings import Settings, remember, remember_server
from saratoga_client.net.connection import Connection
from saratoga_client.practice.deals import drawn_seed, from_seed
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.history import Raced
from saratoga_client.session.invitation import (
    Destination,
    Inviter,
    destination,
    inviter_for,
    is_open_race,
)
from saratoga_client.session.join import (
    NAME_REFUSALS,
    claim_guest_name,
    claim_name,
    is_seated_at,
    look_at,
    others_at,
    release_other_seat,
    stop_watching,
    take_seat,
)
from saratoga_client.session.open_connection import CONNECTION_ERRORS, problem_for
from saratoga_client.session.open_race import (
    PRACTICE_DAY,
    day_id,
    look,
    new_results,
    open_challenge,
    own_ratings,
)
from saratoga_client.session.open_race import about as about_race
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.run_watch import OpenBook
from saratoga_client.session.starting import QUICK_TABLE, Begin, race_bots
from saratoga_client.session.state import MOST_SEATS
from saratoga_client.session.table_session import TableSession
from saratoga_client.tui.app import Flow, SaratogaApp, practice_flow, table_flow
from saratoga_client.tui.base_screen import BaseScreen, Key, Keys, ReadingScreen, help_screen
from saratoga_client.tui.home_page import (
    Choice,
    friends_part,
    leaders_part,
    menu_part,
    pitch_part,
    races_part,
    tables_part,
)
from saratoga_client.tui.home_server import HomeServer
from saratoga_client.tui.reading import history_page
from saratoga_client.tui.screens.open_race import open_flow
from saratoga_client.tui.widgets import Ink, LineInput, RichView, ScrollPage, one_line
from saratoga_client.wording import listed
from saratoga_protocol.events import TableSettings
from saratoga_rules.games import GAMES

if TYPE_CHECKING:
    from saratoga_client.cli.host import OwnServer

CORRECTABLE: Final = NAME_REFUSALS | {"no_such_table"}
"""Codes of refusals after which the player may correct the typed line."""

NAME_ONCE: Final = "Your name is asked once, when you sit down for the first time."
NO_TABLE: Final = "That names no table; a code looks like mint-otter-42."
BUSY: Final = "One moment: the server has not answered yet."


class Cancelled(Exception):
    """The error that the player did not type the line that a command needs."""


class HomeScreen(BaseScreen):
    """The screen of the home.

    `hosting` closes at the end of the program, so the player is asked first if other people are at
    the table there.
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
        self._use_game: Callable[[str], object] | None = None
        """What to do with the game that the player chooses; `None` while no game is chosen."""
        self._about: Mapping[str, str] = {}
        """A text on each game while one is chosen."""
        self._marked = 0
        """The index of the marked line."""
        self._rested = ""
        """The last message of `resting`."""
        self.races: list[Raced] = []
        """The player's races, the newest first."""
        self._left: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def body(self) -> Iterable[Widget]:
        with Vertical(id="body"):
            yield RichView(
                lambda ink: "" if self.races else pitch_part(self.symbols, ink), id="pitch"
            )
            yield RichView(self._draw_menu, id="menu")
            with ScrollPage():
                yield RichView(self._draw_tables, id="tables")
                yield RichView(lambda ink: races_part(self.races, ink, self.size.width))
                yield RichView(lambda ink: friends_part(self.races, self.symbols, ink))
                yield RichView(lambda ink: leaders_part(self.server.leaders, self.symbols, ink))
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

    def _draw_menu(self, ink: Ink) -> RenderableType:
        return menu_part(self._menu(), self._marked, self.symbols, ink, self.size.width)

    def _draw_tables(self, ink: Ink) -> RenderableType:
        marked = self._marked - len(self._menu())
        tables = self.server.tables or []
        return tables_part(tables, marked, self.symbols, ink, self.size.width)

    # The menu

    def _menu(self) -> list[Choice]:
        """Return the lines of the menu: the games, while the player chooses one."""
        if (use := self._use_game) is not None:
            return [
                Choice(game.title, self._about.get(game.name, ""), partial(use, game.name))
                for game in GAMES.values()
            ]
        days, play, friends, join = map(
            self._doing, (self._open_days, self._play_now, self._race_friends, self._join)
        )
        practise, rules = (
            partial(self._open_games, use) for use in (self._practise, self._show_rules)
        )
        menu = [
            Choice("Today's deal", "one for each game, the same for everyone", days),
            Choice("Play now", "Klondike against two bots, in a few seconds", play),
            Choice("Race friends", "open a table and send them the link", friends),
            Choice("Join a friend", "paste the line or the link that they sent you", join),
            Choice("Practise", "alone, with undo and hints; needs no server", practise),
            Choice("How it is played", "six games, a page each", rules),
        ]
        if (table := self.server.table) is not None:
            back = self._doing(self._join, table.code)
            menu.insert(1, Choice("Race again", self._who_waits(), back))
        return menu

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

    def _open_games(
        self, use: Callable[[str], object], about: Mapping[str, str] | None = None
    ) -> None:
        """Let the player choose a game; `about` has a text for games."""
        self._use_game, self._marked, self._about = use, 0, about or {}
        self.say("Which game? escape goes back.")

    def _lines(self) -> list[Choice]:
        """Return the lines of the menu, and the public tables below it."""
        tables = self.server.tables or []
        return [
            *self._menu(),
            *(
                Choice(
                    t.code, "", self._doing(self._join, t.code), self._doing(self._watch, t.code)
                )
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
        is_first = self._use_game is None
        picks = (Key(f"{at}", "", "", line.open) for at, line in enumerate(self._menu(), 1))
        return (
            Key("enter", "open", "open the marked line", marked.open),
            Key("1", "pick", "open that line", lines[0].open, shown=f"1-{len(self._menu())}"),
            *picks,
            Key("up", "choose", "mark another line", partial(self._mark, -1), shown="up down"),
            Key("down", "", "", partial(self._mark, 1)),
            Key("v", "watch", "watch the marked table", marked.watch or self._cancel, marked.watch is not None,
                "Only a public table can be watched from here: mark one."),
            Key("n", "name", "choose a name at this server", self._doing(self._choose_name), is_first),
            Key("c", "challenge", "open a challenge, which friends run when they like", self._choose_challenge, is_first),
            Key("h", "history", "your races on this machine, game by game", self._doing(self._show_history), is_first),
            Key("escape", "back", "", self._cancel, not is_first),
            *super().keys(),
        )  # fmt: skip

    def _mark(self, step: int) -> None:
        self._marked = (self._marked + step) % len(self._lines())
        if (row := self._marked - len(self._menu())) >= 0:
            page, tables = self.query_one(ScrollPage), self.query_one("#tables")
            self.call_after_refresh(page.show_line, tables, row + 1)

    @on(textual_events.Click, "#menu")
    def _clicked(self, event: textual_events.Click) -> None:
        for choice in self._menu()[event.y : event.y + 1]:
            choice.open()
            self.redraw()

    @on(textual_events.Click, "#tables")
    def _clicked_table(self, event: textual_events.Click) -> None:
        if 0 < event.y <= len(self.server.tables or ()):
            self._marked = len(self._menu()) + event.y - 1
            self.redraw()

    def _cancel(self) -> None:
        if self._line is not None and not self._line.done():
            self._line.cancel()
        self._use_game, self._marked = None, 0
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

    def _doing(
        self, command: Callable[..., Coroutine[Any, Any, None]], *arguments: object
    ) -> Callable[[], None]:
        """Return a function that runs a command in the background."""
        return lambda: self._do(command(*arguments))

    def _practise(self, game: str) -> None:
        remember(game=game)
        if self._command is not None:
            # it needs no server, so it waits for none
            self._command.cancel()
            self._command = None
        self._do(self._visit(practice_flow(from_seed(GAMES[game], drawn_seed()))))

    def _choose_challenge(self) -> None:
        self._open_games(lambda game: self._do(self._open_challenge(game)))

    async def _show_history(self) -> None:
        server, races = self.server, self.races
        ratings = await own_ratings(server.connection if server.is_open else None, races)
        facts = ["YOUR RACES", f"{len(races)} on this machine"]
        self.cover(ReadingScreen("h", facts, partial(history_page, races, ratings)))

    def _show_rules(self, game: str) -> None:
        self.cover(help_screen(GAMES[game], (), ""))

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
        if is_open_race(found.code):
            await self._run_open(found.code, asks=True)
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

    async def _race_friends(self) -> None:
        chosen, shown = self._settings, self.server.table
        connection = await self._connected_here()
        await self._named(connection)
        kept = self.server.table
        if kept is not None and shown is None and others_at(kept, connection.player):
            # friends wait there, and the player could not see it before
            await self._play(connection, kept.code)
            return
        table = TableSettings(
            game=chosen.game, cap=chosen.cap, seats=MOST_SEATS, public=False, races=chosen.races
        )
        await self._play(connection, table)

    async def _open_days(self) -> None:
        """Show how today's deals stand, and let the player choose one; without a server, a deal by date."""
        try:
            connection = await (
                self._connected() if self.server.is_open else self._connected_here()
            )
        except Problem as problem:
            if problem.code is not Exit.UNREACHABLE:
                raise
            day = day_id("", round(time.time() * 1000)).rpartition("/")[2]
            self._open_games(lambda game: self._practise_day(game, day))
            self._tell(PRACTICE_DAY)
            return
        about = {}
        for game in GAMES:
            shown, alarms = await look(connection, day_id(game, connection.now()), OpenBook())
            self.program.alarms.extend(alarms)
            about[game] = about_race(shown, connection.player)
        told = await new_results(connection, OpenBook())
        self._open_games(
            lambda game: self._do(self._run_open(day_id(game, connection.now()))), about
        )
        self._tell(
            " ".join(told) or "Which game? Your run of ten minutes begins after the countdown."
        )
        self.show()

    def _practise_day(self, game: str, day: str) -> None:
        self._do(self._visit(practice_flow(from_seed(GAMES[game], day))))

    async def _run_open(self, race: str, *, asks: bool = False) -> None:
        """Run an open race, or show it after the player's run; a player without a name becomes a guest."""
        connection = await self._connected()
        await self._be_guest(connection)
        await release_other_seat(connection, report=self._tell)
        friends = self._friends
        await self._visit(
            open_flow(connection, race, await self._inviter(), friends=friends, asks=asks)
        )

    async def _open_challenge(self, game: str) -> None:
        connection = await self._connected_here()
        await self._named(connection)
        race = await open_challenge(connection, OpenBook(), game)
        await self._run_open(race.id, asks=True)

    async def _play_now(self) -> None:
        """Race against bots at once; a player without a name becomes a guest."""
        connection = await self._connected_here()
        await self._be_guest(connection)
        session, joined = await take_seat(connection, QUICK_TABLE, self._tell)
        await self._stay(session, joined.code, race_bots)

    async def _play(self, connection: Connection, table: str | TableSettings) -> None:
        session, joined = await take_seat(connection, table, self._tell)
        await self._stay(session, joined.code)

    async def _stay(self, session: TableSession, code: str, begin: Begin | None = None) -> None:
        """Show a table until the player leaves it; raises `Problem` if the seat is lost. `begin` runs meanwhile."""
        remember_server(self.server.url, code)
        if self._friends:
            self._hosting.session = session
        try:
            await self._visit(table_flow(session, await self._inviter(), begin))
        finally:
            if self.server.connection is not None:
                await stop_watching(self.server.connection, code)

    async def _be_guest(self, connection: Connection) -> None:
        """Give a player without a name that of a guest."""
        if not self.server.name:
            self.server.name = await claim_guest_name(connection, self._settings.name)

    @property
    def _friends(self) -> str:
        """The address for friends of the server on this machine, if it is the one at hand; else empty."""
        here = self._hosting.server
        return here.friends if here is not None and here.own == self.server.url else ""

    async def _inviter(self) -> Inviter:
        return await inviter_for(self._settings.given(server=self.server.url), self._friends)

    async def _visit(self, flow: Flow) -> None:
        """Show other screens over the home until they close. Raises `Problem`."""
        self.server.show(False)
        try:
            await flow(self.program)
        finally:
            self._use_game, self._marked = None, 0
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

        def close() -> None:
            self._hosting.session = None  # nothing is asked again
            self._left.set_result(None)

        if others := self._hosting.still_here():
            self.ask(f"{others} Close this machine's server? (y/n)", y=("close it", close))
        elif not self._left.done():
            self._left.set_result(None)


def login_name() -> str:
    """Return the name under which the player works at this machine, with a capital; empty if it has none."""
    try:
        return getuser().capitalize()
    except OSError:
        return ""


def home_flow(settings: Settings, hosting: "OwnServer") -> Flow:
    """Return the flow of the home; it returns when the player quits the program."""

    async def flow(app: SaratogaApp) -> None:
        await HomeScreen(settings, hosting).run(app)

    return flow
