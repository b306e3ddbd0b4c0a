"""A server in the test's own process, and a player at the screens of the home."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from textual import events

from kit.in_process_server import listening_server
from kit.solo_player import Player
from kit.stepped_store import empty_store
from saratoga_client.cli.host import OwnServer
from saratoga_client.local.identity import new_token
from saratoga_client.local.settings import load
from saratoga_client.net.connection import Connection
from saratoga_client.tui.app import SaratogaApp
from saratoga_client.tui.home import HomeScreen, home_flow
from saratoga_protocol.commands import CreateTable, JoinTable
from saratoga_protocol.events import Snapshot
from saratoga_server.node import Node


@dataclass(frozen=True, slots=True)
class OpenLobby:
    """A server and the players connected to it, who stay until the end of the test."""

    url: str
    node: Node
    _players: AsyncExitStack

    async def player(self, name: str | None = None, token: str = "") -> Connection:
        """Connect a player."""
        return await self._players.enter_async_context(
            Connection(self.url, token or new_token(), name=name)
        )

    async def host(self, name: str, *, seats: int = 16, public: bool = False) -> str:
        """Connect a player who creates a table; return the table's code."""
        player = await self.player(name)
        wish = partial(CreateTable, game="lafayette", cap=5, seats=seats, public=public)
        return (await player.ask(wish, Snapshot)).table.code

    async def sit_down(self, name: str, code: str) -> Connection:
        """Connect a player who joins a table."""
        player = await self.player(name)
        await player.ask(partial(JoinTable, table=code), Snapshot)
        return player


SEEN_WITHIN: Final = 10.0
"""Longest time in seconds that a test waits; a bound, not a measurement."""


@dataclass
class Visitor(Player):
    """A player who uses the home's screens."""

    async def reads(self, *texts: str) -> str:
        """Wait until the screen shows all of `texts`, ignoring line breaks; return the words on the screen."""
        try:
            async with asyncio.timeout(SEEN_WITHIN):
                while not all(text in (words := self.words) for text in texts):
                    await self.pilot.pause()
        except TimeoutError:
            raise AssertionError(f"never seen: {texts}; the last was\n{self.text}") from None
        return words

    @property
    def words(self) -> str:
        """Return the words on the screen, separated by single spaces."""
        return " ".join(self.text.split())

    async def paste(self, text: str) -> None:
        """Paste a text as a terminal does."""
        self.app.post_message(events.Paste(text))
        await self.pilot.pause()

    async def type(self, text: str) -> str:
        """Type a text letter by letter, then press Enter."""
        for sign in text:
            self.app.post_message(events.Key(sign if sign != " " else "space", sign))
        return await self.press("enter")

    async def ended(self) -> None:
        """Wait until the program has ended."""
        async with asyncio.timeout(SEEN_WITHIN):
            while self.app.is_running:
                await self.pilot.pause()


@asynccontextmanager
async def at_home(
    size: tuple[int, int] = (80, 24), hosting: OwnServer | None = None, **chosen: Any
) -> AsyncIterator[Visitor]:
    """Open the home with these settings."""
    app = SaratogaApp(home_flow(load().given(**chosen), hosting or OwnServer()))
    async with app.run_test(size=size) as pilot:
        visitor = Visitor(app, pilot)
        while not isinstance(app.screen, HomeScreen):
            await pilot.pause()
        yield visitor
    # as the program does: the connection is closed before the event loop
    await app.flow_ended()


@asynccontextmanager
async def open_lobby() -> AsyncIterator[OpenLobby]:
    """Open a server without players."""
    async with (
        empty_store() as store,
        listening_server(store) as server,
        AsyncExitStack() as players,
    ):
        yield OpenLobby(server.url, server.node, players)
