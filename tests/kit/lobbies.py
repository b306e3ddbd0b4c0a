"""A house in the test's own process, without a store of its own: for whoever looks in from the lobby."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from textual import events

from kit.fake_store import fake_store
from kit.listening_server import listening_server
from kit.solo import Player
from saratoga_client.local.identity import new_token
from saratoga_client.local.settings import Settings
from saratoga_client.net.connection import Connection
from saratoga_client.tui.app import SaratogaApp
from saratoga_client.tui.lobby_flow import Going, in_lobby
from saratoga_client.tui.screens.lobby import LobbyScreen
from saratoga_protocol.commands import CreateTable, JoinTable
from saratoga_protocol.events import Snapshot


@dataclass(frozen=True, slots=True)
class OpenLobby:
    """A house, and the people who are there already; they stay until the end."""

    url: str
    _guests: AsyncExitStack

    async def guest(self, name: str | None = None, token: str = "") -> Connection:
        """Somebody comes in."""
        return await self._guests.enter_async_context(
            Connection(self.url, token or new_token(), name=name)
        )

    async def host(self, name: str, *, seats: int = 16, public: bool = False) -> str:
        """Somebody comes in and opens a table; its code."""
        guest = await self.guest(name)
        wish = partial(CreateTable, game="lafayette", cap=5, seats=seats, public=public)
        return (await guest.ask(wish, Snapshot)).table.code

    async def sit_down(self, name: str, code: str) -> Connection:
        """Somebody comes in and joins a table."""
        guest = await self.guest(name)
        await guest.ask(partial(JoinTable, table=code), Snapshot)
        return guest


SEEN_WITHIN: Final = 10.0
"""Seconds: a bound for what is awaited, never a measure."""


@dataclass
class Visitor(Player):
    """Somebody before the screens of the lobby."""

    gone: list[Going] = field(default_factory=list)
    """Where they went when they left for good."""

    async def reads(self, *texts: str) -> str:
        """Wait until all of that is to be read, wherever lines break; all that is to be read then."""
        try:
            async with asyncio.timeout(SEEN_WITHIN):
                while not all(text in self.words for text in texts):
                    await self.pilot.pause()
        except TimeoutError:
            raise AssertionError(f"never seen: {texts}; the last was\n{self.text}") from None
        return self.words

    @property
    def words(self) -> str:
        """What is to be read, with a blank between any two words."""
        return " ".join(self.text.split())

    async def paste(self, text: str) -> None:
        """As the terminal hands over what is pasted."""
        self.app.post_message(events.Paste(text))
        await self.pilot.pause()

    async def type(self, text: str) -> str:
        """Type letter by letter, and enter."""
        for sign in text:
            self.screen.post_message(events.Key(sign if sign != " " else "space", sign))
        return await self.press("enter")

    async def left(self) -> Going:
        """Wait until the lobby is left for good."""
        async with asyncio.timeout(SEEN_WITHIN):
            while not self.gone:
                await self.pilot.pause()
        return self.gone[-1]


@asynccontextmanager
async def in_the_lobby(
    server: str, size: tuple[int, int] = (80, 24), notice: str = "", **chosen: Any
) -> AsyncIterator[Visitor]:
    """Come to the lobby of that house."""
    gone: list[Going] = []
    settings = Settings(server=server).given(**chosen)
    app = SaratogaApp(in_lobby(settings, notice, gone.append))
    async with app.run_test(size=size) as pilot:
        visitor = Visitor(app, pilot, gone=gone)
        while not isinstance(app.screen, LobbyScreen):
            await pilot.pause()
        yield visitor


@asynccontextmanager
async def open_lobby() -> AsyncIterator[OpenLobby]:
    """A house with nobody in it yet."""
    async with listening_server(fake_store()) as server, AsyncExitStack() as guests:
        yield OpenLobby(server.url, guests)
