"""The connection of a lobby: it reconnects, and follows the tables and leaders for the lobby."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, TypeAlias

from saratoga_client.board_view.roles import Role
from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import CommandRefused, RequestTimedOut
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.lobby import LobbyState
from saratoga_client.session.open_connection import open_connection
from saratoga_protocol import events
from saratoga_protocol.commands import GetLeaderboard

LEADERS_EVERY: Final = 20.0
"""The interval between requests for the leaders, in seconds."""
RETRY_EVERY: Final = 3.0
"""The interval between attempts to reach a server that does not answer, in seconds."""

Change: TypeAlias = Callable[[LobbyState], LobbyState]


class LobbyConnection:
    """The connection to one server, which the lobby and its tables share."""

    def __init__(
        self,
        server: str,
        show: Callable[[Change], None],
        on_connected: Callable[[Connection], None],
        say: Callable[[str, Role], None],
    ) -> None:
        """Use `show` to change the lobby's state, and `say` to show messages there."""
        self._server = server
        self._show = show
        self._on_connected = on_connected
        self._say = say
        self.current: Connection | None = None
        """The open connection; `None` while no server answers."""
        self._is_shown = asyncio.Event()
        self._is_hidden = asyncio.Event()

    def be_shown(self, is_shown: bool) -> None:
        """Follow the tables from now on, or do not any more: they are only wanted while the lobby is shown."""
        now, then = (self._is_shown, self._is_hidden)[:: 1 if is_shown else -1]
        now.set()
        then.clear()

    async def keep(self) -> None:
        """Keep a connection to the server open; retry while no server answers.

        After any other `Problem`, show it and wait until this task is cancelled.
        """
        while True:
            try:
                async with open_connection(self._server, reports_link=False) as connection:
                    await self._use(connection)
            except Problem as problem:
                self.current = None
                # The page itself shows the remedy when no server answers.
                is_away = problem.code == Exit.UNREACHABLE
                why = problem.what if is_away else str(problem)
                self._show(lambda lobby, why=why: lobby.without_server(why))  # type: ignore[misc]
                if not is_away:
                    # Another attempt would fail in the same way.
                    await asyncio.get_running_loop().create_future()
            await asyncio.sleep(RETRY_EVERY)

    async def _use(self, connection: Connection) -> None:
        self.current = connection
        welcome = connection.welcome
        self._show(lambda lobby: lobby.with_server(welcome.name or "", welcome.table or ""))
        stop = connection.subscribe(self._link_changed)
        try:
            self._on_connected(connection)
            await self._follow(connection)
        finally:
            stop()

    def _link_changed(self, state: LinkState) -> None:
        is_open = state is LinkState.CONNECTED
        self._show(lambda lobby: lobby.with_link(is_open))
        if not is_open:
            self._say("The connection is lost; reconnecting ...", Role.WARNING)

    async def _follow(self, connection: Connection) -> None:
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
        self._show(lambda lobby: lobby.with_tables(found.tables))

    async def _request_leaders(self, connection: Connection) -> None:
        for game in connection.welcome.games:
            request = partial(GetLeaderboard, game=game, limit=1)
            rows = (await connection.ask(request, events.Leaderboard)).rows
            leader = rows[0] if rows else None
            self._show(partial(LobbyState.with_leader, game=game, leader=leader))
