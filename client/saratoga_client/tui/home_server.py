"""The server of the home: the connection to it, its public tables, its leaders, and the player's table there."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from saratoga_client.local.settings import last_choices, remember_server
from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import CommandRefused, RequestTimedOut
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.join import way_back
from saratoga_client.session.open_connection import open_connection
from saratoga_protocol import events
from saratoga_protocol.commands import GetLeaderboard
from saratoga_protocol.events import LeaderboardRow, Table, TableSummary

LEADERS_EVERY: Final = 20.0
"""The interval between requests for the leaders and for the player's table, in seconds."""
RETRY_EVERY: Final = 3.0
"""The interval between attempts to reach a server that does not answer, in seconds."""


class HomeServer:
    """A server and what it tells, as long as `keep` runs."""

    def __init__(self, url: str, changed: Callable[[], None]) -> None:
        """Call `changed` after each change of what the home shows."""
        self.url = url
        self._changed = changed
        self.connection: Connection | None = None
        """The connection; `None` while no server answers."""
        self.problem: Problem | None = None
        """The reason why there is no connection; `None` before the first attempt has ended."""
        self.name = ""
        """The player's name there; empty for none."""
        self.tables: list[TableSummary] | None = None
        """The public tables; `None` until the server has sent them."""
        self.leaders: dict[str, LeaderboardRow | None] = {}
        """Today's leader of each game; `None` if there is none."""
        self.table: Table | None = None
        """The table where the player has a seat, or else the last one here if it is open."""
        self._has_tried, self._tries_now = asyncio.Event(), asyncio.Event()
        self._is_shown, self._is_hidden = asyncio.Event(), asyncio.Event()
        self.show(True)

    @property
    def is_open(self) -> bool:
        """True while the server can be reached."""
        return self.connection is not None and self.connection.state is LinkState.CONNECTED

    def show(self, shown: bool) -> None:
        """Follow the tables only while the home is shown."""
        (self._is_shown if shown else self._is_hidden).set()
        (self._is_hidden if shown else self._is_shown).clear()
        self.leaders = {}  # a race may change them meanwhile

    async def opened(self) -> Connection:
        """Return the connection, after another attempt if no server has answered. Raises `Problem`."""
        if self.connection is None:
            if self.problem is not None:
                self._has_tried.clear()
                self._tries_now.set()
            await self._has_tried.wait()
        if self.connection is None:
            assert self.problem is not None
            raise self.problem
        return self.connection

    async def keep(self) -> None:
        """Keep a connection to the server; try again while none answers, and after a call of `opened`."""
        while True:
            try:
                async with open_connection(self.url, reports_link=False) as connection:
                    await self._use(connection)
            except Problem as problem:
                self.problem = problem
            self.connection, self.tables, self.leaders = None, None, {}
            self._tries_now.clear()
            self._has_tried.set()
            self._changed()
            # after any other problem an attempt would fail in the same way
            is_away = self.problem is None or self.problem.code == Exit.UNREACHABLE
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_EVERY if is_away else None):
                    await self._tries_now.wait()

    async def _use(self, connection: Connection) -> None:
        self.connection, self.problem = connection, None
        self.name = connection.welcome.name or ""
        remember_server(self.url)
        stop = connection.subscribe(lambda _: self._changed())
        try:
            await self._find_table(connection)
            self._has_tried.set()
            self._changed()
            await self._follow_tables(connection)
        finally:
            stop()

    async def _follow_tables(self, connection: Connection) -> None:
        """Follow the tables while the home is shown, and ask for what changes less often."""
        while True:
            await self._is_shown.wait()
            with suppress(CommandRefused, RequestTimedOut):
                await connection.follow_tables(self._show_tables)
                while self._is_shown.is_set():
                    await self._find_table(connection)
                    await self._request_leaders(connection)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(LEADERS_EVERY):
                            await self._is_hidden.wait()
                await connection.unfollow_tables()
                continue
            await asyncio.sleep(RETRY_EVERY)

    def _show_tables(self, found: events.Tables) -> None:
        self.tables = found.tables
        self._changed()

    async def _find_table(self, connection: Connection) -> None:
        with suppress(RequestTimedOut):
            self.table = await way_back(connection, last_choices().last_table_at(self.url))
            self._changed()

    async def _request_leaders(self, connection: Connection) -> None:
        for game in connection.welcome.games:
            request = partial(GetLeaderboard, game=game, limit=1)
            rows = (await connection.ask(request, events.Leaderboard)).rows
            self.leaders[game] = rows[0] if rows else None
        self._changed()
