"""The flow of the lobby: its connection to one server, and the tables and practice opened from it.

The lobby and the tables share one connection. The lobby's screen stays open below the screens that are opened from it.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from textual.worker import Worker, WorkerError

from saratoga_client.board_view.roles import Role
from saratoga_client.local.hosting import THIS_MACHINE, is_server, last_port, local_server
from saratoga_client.local.origins import bad_address
from saratoga_client.local.settings import Settings, last_choices, remember, remember_server
from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import ClientClosed, CommandRefused, RequestTimedOut
from saratoga_client.practice.deals import drawn_seed, from_seed
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.error_messages import CONNECTION_ERRORS, problem_for
from saratoga_client.session.invitation import Destination, destination, inviter_for
from saratoga_client.session.join import (
    NAME_REFUSALS,
    claim_name,
    give_up,
    is_racing_at,
    is_seated_at,
    kept_table,
    kept_table_text,
    look_at,
    stop_watching,
    take_seat,
    way_back,
)
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.state import MOST_SEATS
from saratoga_client.session.table_session import TableSession
from saratoga_client.tui.app import Flow, SaratogaApp, practice_flow, table_flow
from saratoga_client.tui.lobby import Entry, LobbyScreen, Purpose
from saratoga_protocol import events
from saratoga_protocol.commands import GetLeaderboard
from saratoga_protocol.events import TableSettings
from saratoga_rules.games import GAMES

if TYPE_CHECKING:
    from saratoga_client.cli.host import OwnServer

LEADERS_EVERY: Final = 20.0
"""The interval between requests for the leaders, in seconds."""
RETRY_EVERY: Final = 3.0
"""The interval between attempts to reach a server that does not answer, in seconds."""

CORRECTABLE: Final = NAME_REFUSALS | {"no_such_table"}
"""Codes of refusals after which the player may correct the typed line."""


@dataclass(frozen=True, slots=True)
class FirstTable:
    """A table that the player joins, watches or creates as soon as the server answers."""

    table: str | TableSettings
    """The code of a table, or the settings of a new one."""
    is_watching: bool = False


@dataclass(frozen=True, slots=True)
class Leaving:
    """The reason for leaving the lobby of one server: another server, one on this machine, or the end of the program."""

    server: str = ""
    """The address of another server."""
    here: TableSettings | None = None
    """The new table at a server on this machine."""
    first: FirstTable | None = None
    """The table at the other server."""


class LobbyFlow:
    """The lobby of one server.

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
        self._first = first
        self._hosting = hosting
        self._friends = friends
        self._open: Connection | None = None
        """The open connection; `None` while no server answers."""
        self._entering: Worker[None] | None = None
        """The last command that goes to a table."""
        self._next: asyncio.Future[Flow | Leaving] = asyncio.get_running_loop().create_future()
        self._is_shown, self._is_hidden = asyncio.Event(), asyncio.Event()
        """One of them is set: the list of tables is followed only while no other screen covers the lobby."""
        offered = TableSettings(
            game=settings.game,
            cap=settings.cap,
            seats=MOST_SEATS,
            public=False,
            races=settings.races,
        )
        self._screen = LobbyScreen(self, settings.server_url, offered, notice)

    async def run(self) -> Leaving:
        """Show the lobby, and the screens opened from it, until the player leaves the lobby."""
        await self._app.push_screen(self._screen)
        self._is_shown.set()
        connecting = self._app.run_worker(self._keep(), group="connection")
        try:
            while not isinstance(step := await self._next, Leaving):
                self._is_shown.clear()
                self._is_hidden.set()
                notice = ""
                try:
                    await step(self._app)
                except Problem as problem:
                    notice = str(problem)
                self._rest(notice)
            return step
        finally:
            connecting.cancel()
            with suppress(WorkerError):
                await connecting.wait()
            if self._app.is_running and self._screen in self._app.screen_stack:
                await self._app.pop_screen()

    def _rest(self, notice: str) -> None:
        """Show the lobby again after another screen."""
        self._next = asyncio.get_running_loop().create_future()
        self._is_hidden.clear()
        self._is_shown.set()
        self._screen.rest(notice)
        if self._open is not None:
            self._do(self._offer_return(self._open))
        if self._hosting is not None and self._hosting.session is not None:
            # the server on this machine is open for this one table
            self.quit()

    # The connection

    async def _keep(self) -> None:
        """Keep a connection to the server open; retry while no server answers.

        After any other `Problem`, show it and do nothing more.
        """
        while True:
            try:
                async with open_connection(
                    self._settings.server_url, reports_link=False
                ) as connection:
                    await self._use(connection)
            except Problem as problem:
                self._open, screen = None, self._screen
                # The page itself shows the remedy when no server answers.
                is_away = problem.code == Exit.UNREACHABLE
                screen.wrong = problem.what if is_away else str(problem)
                screen.is_open, screen.has_tried = False, True
                screen.tables, screen.leaders = None, {}
                screen.show()
                if not is_away:
                    # Another attempt would fail in the same way.
                    return
            await asyncio.sleep(RETRY_EVERY)

    async def _use(self, connection: Connection) -> None:
        screen, welcome = self._screen, connection.welcome
        screen.is_open, screen.has_tried, screen.wrong = True, True, ""
        screen.player_name, screen.seat = welcome.name or "", welcome.table or ""
        screen.is_seated = bool(screen.seat)
        self._open = connection
        stop = connection.subscribe(self._link_changed)
        try:
            screen.show()
            self._connected(connection)
            await self._follow_tables(connection)
        finally:
            stop()

    def _link_changed(self, state: LinkState) -> None:
        self._screen.is_open = state is LinkState.CONNECTED
        self._screen.show()
        if not self._screen.is_open:
            self._say("The connection is lost; reconnecting ...", Role.WARNING)

    async def _follow_tables(self, connection: Connection) -> None:
        """Follow the tables while the lobby is shown, and ask for the leaders, which change less often."""
        while True:
            await self._is_shown.wait()
            with suppress(CommandRefused, RequestTimedOut):
                await connection.follow_tables(self._show_tables)
                while self._is_shown.is_set():
                    await self._request_leaders(connection)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(LEADERS_EVERY):
                            await self._is_hidden.wait()
                await connection.unfollow_tables()
                continue
            await asyncio.sleep(RETRY_EVERY)

    def _show_tables(self, found: events.Tables) -> None:
        self._screen.tables = found.tables
        self._screen.show()

    async def _request_leaders(self, connection: Connection) -> None:
        for game in connection.welcome.games:
            request = partial(GetLeaderboard, game=game, limit=1)
            rows = (await connection.ask(request, events.Leaderboard)).rows
            self._screen.leaders[game] = rows[0] if rows else None
            self._screen.show()

    @property
    def _connection(self) -> Connection:
        if self._open is None:
            raise Problem(
                "Can't reach the server, so the table can't be looked up.",
                "h starts a server here, o goes to another.",
                Exit.UNREACHABLE,
            )
        return self._open

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
            await look_at(self._connection, first.table)
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
        self._screen.seat, self._screen.is_seated = code, is_seated
        self._screen.show()

    # Names

    def take_name(self, name: str) -> None:
        self._do(self._take_name(name), Entry(Purpose.NAME, name))

    async def _take_name(self, name: str) -> None:
        claimed = await claim_name(self._connection, name)
        self._screen.player_name = claimed
        self._screen.show()
        self._say(f"You are {claimed}.")
        self._go_to_first_table()

    def _ask(self, entry: Entry) -> None:
        """Ask the player for a line, unless the player is typing one already."""
        self._screen.entry = self._screen.entry or entry
        self._screen.show()

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
            first = FirstTable(found.code, is_watching) if found.code else None
            self._leave(Leaving(found.server, first=first))
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
        connection = self._connection
        if not self._screen.player_name:
            await self._ask_name_for(FirstTable(table))
            return
        session, joined = await take_seat(connection, table, self._say)
        await self._go_to_table(session, joined)

    async def _watch(self, code: str) -> None:
        session = TableSession(self._connection)
        await self._go_to_table(session, await session.watch(code))

    async def _go_to_table(self, session: TableSession, table: events.Table) -> None:
        """Show a table, unless the player opened another screen before the server answered.

        Its seat is then given up, except in a running race.
        """
        if not self._next.done():
            self._go(partial(self._play, session, table.code))
        elif not is_racing_at(table, self._connection.player):
            await give_up(self._connection, table.code)

    async def _play(self, session: TableSession, code: str, app: SaratogaApp) -> None:
        """Show a table until the player leaves it; raises `Problem` if the seat is lost."""
        if self._hosting is not None:
            self._hosting.session = session
        server = self._settings.server_url
        remember_server(server, code)
        inviter = await inviter_for(self._settings, self._friends)
        try:
            await table_flow(session, server, inviter)(app)
        finally:
            self._screen.seat, self._screen.is_seated = "", False
            if self._open is not None:
                await stop_watching(self._open, code)

    def _is_elsewhere(self, found: Destination) -> bool:
        """Return whether the destination is at another server."""
        return found.server not in ("", self._settings.server_url.rstrip("/"))

    # Leaving

    def look_here(self) -> None:
        self._do(self._look_here())

    async def _look_here(self) -> None:
        """Show whether a server runs on this machine."""
        self._screen.runs_here = await is_server(THIS_MACHINE, last_port())
        self._screen.show()

    def host_here(self, table: TableSettings) -> None:
        """Open the table on this machine: in this lobby, if its server is the one that runs here."""
        if self._hosting is not None:
            self.open_table(table)
            return
        remember(game=table.game, cap=table.cap, races=table.races)
        self._leave(Leaving(here=table))

    def go_to_server(self, text: str) -> None:
        found = destination(text)
        if found is None or not found.server:
            self._ask(Entry(Purpose.SERVER, text, str(bad_address(text))))
            return
        first = FirstTable(found.code) if found.code else None
        self._leave(Leaving(found.server, first=first))

    def practise(self, game: str) -> None:
        remember(game=game)
        self._go(practice_flow(from_seed(GAMES[game], drawn_seed())))

    def quit(self) -> None:
        self._leave(Leaving())

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

    def _go(self, step: "Flow | Leaving") -> None:
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
        at, leaving = settings, await LobbyFlow(app, settings, notice).run()
        while leaving != Leaving():
            shown = ""
            if leaving.here is not None:
                shown, leaving = await _host_here(app, at, hosting, leaving.here)
                if leaving != Leaving():
                    continue
            else:
                at = at.given(server=leaving.server)
            leaving = await LobbyFlow(app, at, shown, leaving.first).run()

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
            return f"{problem} {others} Your server here stays open.", Leaving()
        await hosting.close()
        return str(problem), Leaving()
    await hosting.close()
    return "Your server on this machine has been closed." if server.is_ours else "", leaving
