"""The lobby's connection: tables, leaders, an unavailable server, and a server that refuses."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from kit.lobbies import OpenLobby, open_lobby
from kit.scripted_server import scripted_server
from saratoga_client.board_view.roles import Role
from saratoga_client.net.connection import Connection
from saratoga_client.session.lobby import LobbyState
from saratoga_client.tui.lobby_connection import Change, LobbyConnection

WITHIN = 10.0
"""Longest time in seconds for anything awaited; a bound, not a measurement."""


class Page:
    """A lobby page without a screen."""

    def __init__(self, server: str) -> None:
        self.lobby = LobbyState(server=server)
        self.link = LobbyConnection(server, self.show, self.connected, self.say)
        self.connections: list[Connection] = []
        self.said: list[str] = []
        self._changed = asyncio.Event()

    def show(self, change: Change) -> None:
        self.lobby = change(self.lobby)
        self._changed.set()

    def connected(self, connection: Connection) -> None:
        self.connections.append(connection)

    def say(self, text: str, role: Role) -> None:
        self.said.append(text)

    async def until(self, holds: Callable[[LobbyState], bool]) -> None:
        async with asyncio.timeout(WITHIN):
            while not holds(self.lobby):
                self._changed.clear()
                await self._changed.wait()


@asynccontextmanager
async def kept(server: str) -> AsyncIterator[Page]:
    page = Page(server)
    keeping = asyncio.create_task(page.link.keep())
    try:
        yield page
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping


@pytest.fixture
async def server() -> AsyncIterator[OpenLobby]:
    async with open_lobby() as opened:
        yield opened


async def test_tables_and_leaders_are_requested_while_the_lobby_is_shown(
    server: OpenLobby,
) -> None:
    code = await server.host("Anna", public=True)
    async with kept(server.url) as page:
        await page.until(lambda lobby: lobby.is_open)
        assert page.lobby.tables == ()
        page.link.is_shown.set()
        await page.until(lambda lobby: [table.code for table in lobby.tables] == [code])
        await page.until(lambda lobby: set(lobby.leaders) == set(page.connections[0].welcome.games))
        assert len(page.connections) == 1


async def test_a_server_that_is_away_is_shown_as_away() -> None:
    async with kept("ws://127.0.0.1:1") as page:
        await page.until(lambda lobby: lobby.has_tried)
        assert not page.lobby.is_open
        assert page.lobby.wrong
        assert page.link.current is None


async def test_a_lost_connection_is_reported() -> None:
    async with scripted_server() as server, kept(server.url) as page:
        peer = await server.peer()
        await page.until(lambda lobby: lobby.is_open)
        peer.cut()
        await page.until(lambda lobby: not lobby.is_open)
        assert "lost" in page.said[0]
