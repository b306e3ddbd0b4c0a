"""The flow of the lobby of one server, and of everything opened from it: tables and practice.

The lobby and the tables share one connection.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from textual.worker import Worker

from saratoga_client.board_view.roles import Role
from saratoga_client.local.hosting import THIS_MACHINE, is_server, last_port, local_server
from saratoga_client.local.origins import bad_address
from saratoga_client.local.settings import (
    Settings,
    last_choices,
    remember,
    remember_server,
)
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import ClientClosed
from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.practice_session import drawn_seed
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.error_messages import CONNECTION_ERRORS, problem_for
from saratoga_client.session.invitation import Destination, destination, inviter_for
from saratoga_client.session.join import (
    NAME_REFUSALS,
    check_table,
    claim_name,
    give_up,
    is_racing_at,
    is_seated_at,
    kept_table,
    kept_table_text,
    stop_watching,
    take_seat,
    way_back,
)
from saratoga_client.session.lobby import Entry, LobbyState, Purpose
from saratoga_client.session.state import MOST_SEATS
from saratoga_client.session.table_session import TableSession
from saratoga_client.tui.app import Flow, SaratogaApp, practice_flow, table_flow
from saratoga_client.tui.lobby_connection import LobbyConnection
from saratoga_client.tui.screens.lobby import LobbyScreen
from saratoga_protocol import events
from saratoga_protocol.events import TableSettings
from saratoga_rules.games import GAMES

if TYPE_CHECKING:
    from saratoga_client.cli.own_server import OwnServer


@dataclass(frozen=True, slots=True)
class AtTable:
    """The next step: a table where the player has a seat, or which the player watches."""

    session: TableSession
    table: events.Table


@dataclass(frozen=True, slots=True)
class Practising:
    """The next step: practice of a game."""

    game: str


@dataclass(frozen=True, slots=True)
class HostHere:
    """The next step: a new table at a server on this machine."""

    table: TableSettings


@dataclass(frozen=True, slots=True)
class OtherServer:
    """The next step: another server, and a table there unless `code` is empty."""

    server: str
    code: str = ""
    is_watching: bool = False


@dataclass(frozen=True, slots=True)
class Quit:
    """The next step: the end of this lobby."""


Leaving: TypeAlias = HostHere | OtherServer | Quit
"""The reason for leaving the lobby of one server."""


@dataclass(frozen=True, slots=True)
class FirstTable:
    """A table that the player joins, watches or creates as soon as the server answers."""

    table: str | TableSettings
    """The code of a table, or the settings of a new one."""
    is_watching: bool = False


CORRECTABLE: Final = NAME_REFUSALS | {"no_such_table"}
"""Codes of refusals after which the player may correct the typed line."""


class LobbyFlow:
    """The lobby of one server, with the tables and the practice reached from it.

    If the server is the one given as `hosting`, it closes when the player leaves
    the lobby, so the player is asked first if other people are at the table there. `friends` is its address for friends.
    """

    def __init__(
        self,
        app: SaratogaApp,
        settings: Settings,
        notice: str = "",
        first: FirstTable | None = None,
        hosting: "OwnServer | None" = None,
        friends: str = "",
    ) -> None:
        self._app = app
        self._settings = settings
        self._notice = notice
        self._first = first
        self._hosting = hosting
        self._friends = friends
        self._link = LobbyConnection(settings.server_url, self._change, self._connected, self._say)
        self._next: asyncio.Future[AtTable | Practising | Leaving]
        self._entering: Worker[None] | None = None
        """The last command that goes to a table."""
        self._screen = self._new_screen(LobbyState(server=settings.server_url))

    async def run(self) -> Leaving:
        """Show the lobby, and the screens opened from it, until the player leaves the lobby."""
        connecting = asyncio.create_task(self._link.keep(), name="lobby connection")
        try:
            while True:
                step = await self._show(connecting)
                try:
                    match step:
                        case AtTable(session, table):
                            await self._play(session, table)
                            if self._hosting is not None and not self._hosting.still_here():
                                return Quit()
                        case Practising(game):
                            remember(game=game)
                            await practice_flow(from_seed(GAMES[game], drawn_seed()))(self._app)
                        case _:
                            return step
                except Problem as problem:
                    self._notice = str(problem)
        finally:
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)

    async def _show(self, connecting: asyncio.Task[None]) -> AtTable | Practising | Leaving:
        """Show the lobby's screen until the player opens another screen or leaves."""
        self._next = asyncio.get_running_loop().create_future()
        former = self._screen.lobby
        self._screen = self._new_screen(replace(former, entry=None, form=None, is_practice=False))
        self._notice = ""
        await self._app.push_screen(self._screen)
        self._link.be_shown(True)
        if self._link.current is not None:
            self._do(self._offer_return(self._link.current))
        if self._hosting is not None and self._hosting.session is not None:
            self.quit()
        try:
            await asyncio.wait((connecting, self._next), return_when=asyncio.FIRST_COMPLETED)
            if connecting.done():
                connecting.result()  # raises the error that ended the task
            return await self._next
        finally:
            self._link.be_shown(False)
            if self._app.is_running and self._screen in self._app.screen_stack:
                await self._app.pop_screen()

    def _new_screen(self, lobby: LobbyState) -> LobbyScreen:
        chosen = self._settings
        form = TableSettings(
            game=chosen.game, cap=chosen.cap, seats=MOST_SEATS, public=False, races=chosen.races
        )
        return LobbyScreen(self, lobby, form, self._notice)

    async def _play(self, session: TableSession, table: events.Table) -> None:
        """Show a table until the player leaves it; raises `Problem` if the seat is lost."""
        if self._hosting is not None:
            self._hosting.session = session
        server = self._settings.server_url
        remember_server(server, table.code)
        inviter = await inviter_for(self._settings, self._friends)
        try:
            await table_flow(session, server, inviter)(self._app)
        finally:
            self._screen.lobby = replace(self._screen.lobby, seat="", is_seated=False)
            connection = self._link.current
            if connection is not None:
                await stop_watching(connection, table.code)

    def _connected(self, connection: Connection) -> None:
        """Go to the first table; ask a player without a name for one first, except to watch."""
        first = self._first
        remember_server(self._settings.server_url)
        if first is None:
            self._do(self._offer_return(connection))
        if connection.welcome.name is not None or (first is not None and first.is_watching):
            self._go_to_first_table()
        elif self._settings.name:
            self.take_name(self._settings.name)
        elif first is not None and isinstance(first.table, str):
            self._do(self._ask_name_for(first), Entry(Purpose.TABLE, first.table))
        else:
            self._ask(Entry(Purpose.NAME))

    async def _ask_name_for(self, first: FirstTable) -> None:
        """Ask for a name, and then go to a table; an unknown code is reported before."""
        self._first = None
        if isinstance(first.table, str):
            await check_table(self._connection, first.table)
        self._first = first
        self._say("Choose a name first.", Role.WARNING)
        self._ask(Entry(Purpose.NAME))

    def _go_to_first_table(self) -> None:
        first, self._first = self._first, None
        match first:
            case FirstTable(table=str() as code, is_watching=True):
                self.watch(code)
            case FirstTable(table=str() as code):
                self.join(code)
            case FirstTable(table=TableSettings() as table):
                self._do(self._open_or_return(table))

    async def _open_or_return(self, wanted: TableSettings) -> None:
        """Create a table; ask first if the player has one where friends wait."""
        connection = self._connection
        kept = await kept_table(connection, last_choices().last_table_at(self._settings.server_url))
        if kept is None:
            self.open_table(wanted)
            return
        self._show_way_back(kept, connection.player)
        self._screen.ask(
            f"{kept_table_text(kept, connection.player)} Return there? (y/n)",
            y=("return", lambda: self.join(kept.code)),
            n=("new table", lambda: self.open_table(wanted)),
        )
        self._screen.redraw()

    async def _offer_return(self, connection: Connection) -> None:
        """Offer the table where the player has a seat, or else the last one here, if it is open."""
        table = await way_back(connection, last_choices().last_table_at(self._settings.server_url))
        self._show_way_back(table, connection.player)

    def _show_way_back(self, table: events.Table | None, player: str) -> None:
        code = "" if table is None else table.code
        is_seated = table is not None and is_seated_at(table, player)
        self._change(lambda lobby: replace(lobby, seat=code, is_seated=is_seated))

    def _change(self, change: Callable[[LobbyState], LobbyState]) -> None:
        self._screen.show(change)

    # Names

    def take_name(self, name: str) -> None:
        self._do(self._take_name(name), Entry(Purpose.NAME, name))

    async def _take_name(self, name: str) -> None:
        claimed = await claim_name(self._connection, name)
        self._screen.show(lambda lobby: replace(lobby, name=claimed))
        self._say(f"You are {claimed}.")
        self._go_to_first_table()

    def _ask(self, entry: Entry) -> None:
        """Ask the player for a line, unless the player is typing one already."""
        self._screen.show(lambda lobby: lobby if lobby.entry else replace(lobby, entry=entry))

    # Tables

    def join(self, text: str) -> None:
        self._follow(Entry(Purpose.TABLE, text))

    def watch(self, text: str) -> None:
        self._follow(Entry(Purpose.WATCH, text))

    def _follow(self, entry: Entry) -> None:
        """Join or watch the table of a typed code or URL; ask again if the text names no table."""
        found, is_watching = destination(entry.text), entry.purpose is Purpose.WATCH
        if found is None or not (found.code or self._is_elsewhere(found)):
            wrong = "That names no table; a code looks like mint-otter-42."
            self._ask(replace(entry, wrong=wrong))
        elif self._is_elsewhere(found):
            self._leave(OtherServer(found.server, found.code, is_watching))
        else:
            self._enter((self._watch if is_watching else self._take_seat)(found.code), entry)

    def open_table(self, table: TableSettings) -> None:
        remember(game=table.game, cap=table.cap, races=table.races)
        self._enter(self._take_seat(table))

    def _enter(self, action: Coroutine[Any, Any, None], entry: Entry | None = None) -> None:
        """Run a command that goes to a table, unless one is running or another screen opens already."""
        is_running = self._entering is not None and not self._entering.is_finished
        if is_running or self._next.done():
            action.close()
        else:
            self._entering = self._do(action, entry)

    async def _take_seat(self, table: str | TableSettings) -> None:
        connection, following = self._connection, self._next
        if not self._screen.lobby.name:
            await self._ask_name_for(FirstTable(table))
            return
        session, joined = await take_seat(connection, table, self._say)
        await self._go_to_table(session, joined, following)

    async def _watch(self, code: str) -> None:
        following = self._next
        session = TableSession(self._connection)
        await self._go_to_table(session, await session.watch(code), following)

    async def _go_to_table(
        self,
        session: TableSession,
        table: events.Table,
        following: "asyncio.Future[AtTable | Practising | Leaving]",
    ) -> None:
        if not following.done():
            following.set_result(AtTable(session, table))
            return
        # The player opened another screen before the server answered. A running race is not given up.
        if not is_racing_at(table, self._connection.player):
            await give_up(self._connection, table.code)

    def _is_elsewhere(self, found: Destination) -> bool:
        """Return whether the destination is at another server."""
        return found.server not in ("", self._settings.server_url.rstrip("/"))

    @property
    def _connection(self) -> Connection:
        if self._link.current is None:
            raise Problem(
                "Can't reach the server, so the table can't be looked up.",
                "h starts a server here, o goes to another.",
                Exit.UNREACHABLE,
            )
        return self._link.current

    # Leaving

    def look_here(self) -> None:
        self._do(self._look_here())

    async def _look_here(self) -> None:
        """Show whether a server runs on this machine."""
        runs = await is_server(THIS_MACHINE, last_port())
        self._change(lambda lobby: replace(lobby, runs_here=runs))

    def host_here(self, table: TableSettings) -> None:
        """Open the table on this machine: in this lobby, if its server is the one that runs here."""
        if self._hosting is not None:
            self.open_table(table)
            return
        remember(game=table.game, cap=table.cap, races=table.races)
        self._leave(HostHere(table))

    def go_to_server(self, text: str) -> None:
        found = destination(text)
        if found is None or not found.server:
            self._ask(Entry(Purpose.SERVER, text, str(bad_address(text))))
            return
        self._leave(OtherServer(found.server, found.code))

    def practise(self, game: str) -> None:
        self._go(Practising(game))

    def quit(self) -> None:
        self._leave(Quit())

    def _leave(self, step: Leaving) -> None:
        """Leave the lobby; ask first if this closes the server on this machine while others are at the table."""
        others = "" if self._hosting is None else self._hosting.still_here()
        if not others:
            self._go(step)
            return
        self._screen.ask(
            f"{others} Close this machine's server? (y/n)",
            y=("close it", lambda: self._go(step)),
        )
        self._screen.redraw()

    def _go(self, step: AtTable | Practising | Leaving) -> None:
        if not self._next.done():
            self._next.set_result(step)

    # Commands

    def _do(self, action: Coroutine[Any, Any, None], entry: Entry | None = None) -> Worker[None]:
        """Run a command in the background; report errors, and let the player correct `entry`."""
        return self._app.run_worker(self._run(action, entry), group="lobby commands")

    async def _run(self, action: Coroutine[Any, Any, None], entry: Entry | None) -> None:
        try:
            await action
        except ClientClosed:
            # The player has gone to another server in the meantime.
            return
        except CONNECTION_ERRORS as error:
            self._report(problem_for(self._settings.server_url, error), entry)
        except Problem as problem:
            self._report(problem, entry)

    def _report(self, problem: Problem, entry: Entry | None) -> None:
        if entry is not None and problem.refusal in CORRECTABLE:
            self._ask(replace(entry, wrong=problem.what))
        else:
            self._say(str(problem), Role.WARNING)

    def _say(self, text: str, role: Role = Role.TEXT) -> None:
        if self._screen.can_draw:
            self._screen.say(text, role)


def lobby_flow(settings: Settings, hosting: "OwnServer", notice: str = "") -> Flow:
    """Return the flow of the lobby; it returns when the player quits the program."""

    async def flow(app: SaratogaApp) -> None:
        at, shown = settings, notice
        first: FirstTable | None = None
        leaving: Leaving = await LobbyFlow(app, at, shown).run()
        while True:
            match leaving:
                case Quit():
                    return
                case OtherServer(server, code, is_watching):
                    at, shown = at.given(server=server), ""
                    first = FirstTable(code, is_watching) if code else None
                case HostHere(table):
                    first = None
                    shown, leaving = await _host_here(app, at, hosting, table)
                    if not isinstance(leaving, Quit):
                        continue
            leaving = await LobbyFlow(app, at, shown, first).run()

    return flow


async def _host_here(
    app: SaratogaApp, settings: Settings, hosting: "OwnServer", table: TableSettings
) -> tuple[str, Leaving]:
    """Open a table at a server on this machine; return a notice and the reason for leaving."""
    try:
        server = hosting.server or await hosting.open(local_server(report=app.show_progress))
        here = settings.given(server=server.own)
        own = hosting if server.is_ours else None
        first = FirstTable(table)
        leaving = await LobbyFlow(app, here, server.warning, first, own, server.friends).run()
    except Problem as problem:
        if others := hosting.still_here():
            return f"{problem} {others} Your server here stays open.", Quit()
        await hosting.close()
        return str(problem), Quit()
    await hosting.close()
    return "Your server on this machine has been closed." if server.is_ours else "", leaving
