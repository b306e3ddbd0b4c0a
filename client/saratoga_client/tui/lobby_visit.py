"""A stay in the lobby: the house is looked for and listened to, and wishes are carried out.

It ends with where the player goes. Tables and practice are gone to from here, and lead back here;
for another house, or one on this machine, the screen closes first.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from saratoga_client.arriving import TableWanted, freed, joined, opened, title_of
from saratoga_client.connection import Connection, LinkState
from saratoga_client.drawing.roles import Role
from saratoga_client.hosting import friends_address
from saratoga_client.invitation import Destination, Invitation, destination
from saratoga_client.lobby import Entry, Lobby, Purpose
from saratoga_client.practice.dealt import from_seed
from saratoga_client.practice_desk import drawn_seed
from saratoga_client.problems import Exit, Problem
from saratoga_client.settings import Settings, remember_last
from saratoga_client.trouble import Refused, Unanswered
from saratoga_client.tui.app import Errand, SaratogaApp
from saratoga_client.tui.arrivals import alone, at_table, beside_table
from saratoga_client.tui.screens.lobby import LobbyScreen
from saratoga_client.visit import check_address, visiting
from saratoga_protocol import events
from saratoga_protocol.commands import ClaimName, GetLeaderboard, ListTables
from saratoga_rules.games import GAMES

LOOK_EVERY: Final = 2.0
"""Seconds between two looks at the public tables."""
LEADERS_EVERY: Final = 10
"""Looks after which the leaders are looked at too: they change with races, not with seats."""
KNOCK_EVERY: Final = 3.0
"""Seconds after which a house that did not answer is tried again."""


@dataclass(frozen=True, slots=True)
class Seat:
    """To a table where the player has a seat now."""

    table: events.Table


@dataclass(frozen=True, slots=True)
class Beside:
    """To a table to be watched."""

    code: str


@dataclass(frozen=True, slots=True)
class Practice:
    """To a deal of this game."""

    game: str


@dataclass(frozen=True, slots=True)
class HostHere:
    """To a table in a house that is yet to be opened on this machine."""

    table: TableWanted


@dataclass(frozen=True, slots=True)
class OtherHouse:
    """To the lobby of another house, or to a table there."""

    server: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Home:
    """Enough for today."""


Going: TypeAlias = Seat | Beside | Practice | HostHere | OtherHouse | Home


def in_lobby(settings: Settings, notice: str, leave: Callable[[Going], None]) -> Errand:
    """Stay in the lobby, with its tables and practice, until the player leaves it for good."""

    async def errand(app: SaratogaApp) -> None:
        said = notice
        while True:
            going = await LobbyVisit(app, settings, said).stay()
            said = ""
            try:
                match going:
                    case Seat(table):
                        lines = await invitation_lines(settings, table)
                        await at_table(settings.house, table.code, lines)(app)
                    case Beside(code):
                        await beside_table(settings.house, code)(app)
                    case Practice(game):
                        remember_last(game=game)
                        await alone(from_seed(GAMES[game], drawn_seed()))(app)
                    case _:
                        leave(going)
                        return
            except Problem as problem:
                said = str(problem)

    return errand


async def invitation_lines(settings: Settings, table: events.Table) -> tuple[str, ...]:
    """What friends are sent to come to a table of this lobby's house."""
    where = Destination(table.code, await friends_address(settings.house))
    return Invitation(
        where=where,
        game=title_of(table.settings.game),
        cap=table.settings.cap,
        install=settings.install,
    ).lines()


class LobbyVisit:
    """One stay; `stay` returns where the player goes next."""

    def __init__(self, app: SaratogaApp, settings: Settings, notice: str = "") -> None:
        self._app = app
        self._settings = settings
        self._house: Connection | None = None
        self._going: asyncio.Future[Going] = asyncio.get_running_loop().create_future()
        form = TableWanted(game=settings.game, cap=settings.cap, seats=16, public=False)
        self.screen = LobbyScreen(self, Lobby(server=settings.house), form, notice)

    async def stay(self) -> Going:
        await self._app.push_screen(self.screen)
        listening = asyncio.create_task(self._keep_house(), name="lobby")
        try:
            await asyncio.wait((listening, self._going), return_when=asyncio.FIRST_COMPLETED)
            if listening.done():
                # it never ends by itself: this raises what ended it
                listening.result()
            return await self._going
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            if self._app.is_running and self.screen in self._app.screen_stack:
                await self._app.pop_screen()

    # The house

    async def _keep_house(self) -> None:
        """Look for the house until it is there, and then listen to it."""
        while True:
            try:
                async with visiting(self._settings.house) as house:
                    await self._listen(house)
            except Problem as problem:
                self._house = None
                self.screen.show(partial(_without_house))
                self._say(str(problem), Role.WARNING)
                if problem.code != Exit.UNREACHABLE:
                    # knocking again would not change it
                    await asyncio.get_running_loop().create_future()
            await asyncio.sleep(KNOCK_EVERY)

    async def _listen(self, house: Connection) -> None:
        self._house = house
        self.screen.show(partial(_with_house, name=house.welcome.name or ""))
        stop = house.on_turn(self._turned)
        if house.welcome.name is None:
            self._offer_name()
        elif (code := house.welcome.table) is not None:
            self._say(f"You still have a seat at {code}: j and this code, or enter, go back.")
        try:
            await self._look(house)
        finally:
            stop()

    def _offer_name(self) -> None:
        """Claim the name that was chosen; where there is none, or it is taken, ask for one."""
        if self._settings.name:
            self.take_name(self._settings.name)
        else:
            self._ask_name()

    def _ask_name(self) -> None:
        self.screen.show(
            lambda lobby: lobby if lobby.entry else replace(lobby, entry=Entry(Purpose.NAME))
        )

    def _turned(self, state: LinkState) -> None:
        is_open = state is LinkState.CONNECTED
        self.screen.show(lambda lobby: replace(lobby, is_open=is_open))
        if not is_open:
            self._say("The connection is lost; trying again ...", Role.WARNING)

    async def _look(self, house: Connection) -> None:
        """Look around again and again."""
        looks = 0
        while True:
            tables = (await house.ask(ListTables, events.Tables)).tables
            self.screen.show(lambda lobby, found=tables: lobby.with_tables(found))  # type: ignore[misc]
            if looks % LEADERS_EVERY == 0:
                await self._look_at_leaders(house)
            looks += 1
            await asyncio.sleep(LOOK_EVERY)

    async def _look_at_leaders(self, house: Connection) -> None:
        for game in house.welcome.games:
            draft = partial(GetLeaderboard, game=game, limit=1)
            rows = (await house.ask(draft, events.Leaderboard)).rows
            self.screen.show(partial(_with_leader, game=game, leader=rows[0] if rows else None))

    # Wishes

    def take_name(self, name: str) -> None:
        self._do(self._take_name(name))

    async def _take_name(self, name: str) -> None:
        claimed = await self._here.ask(partial(ClaimName, name=name[:64]), events.NameClaimed)
        self.screen.show(lambda lobby: replace(lobby, name=claimed.name))
        self._say(f"You are {claimed.name}.")

    def join(self, text: str) -> None:
        found = destination(text)
        if found is None:
            self._say("That is no code and no URL. A code looks like mint-otter-42.", Role.WARNING)
        elif found.server and found.server != self._settings.house.rstrip("/"):
            self._go(OtherHouse(found.server, found.code))
        elif not found.code:
            self._say("That names no table; its code is missing.", Role.WARNING)
        else:
            self._do(self._join(found.code))

    async def _join(self, code: str) -> None:
        if self._has_name():
            back = await freed(self._here, code)
            self._go(Seat(await joined(self._here, back or code)))

    def watch(self, code: str) -> None:
        self._go(Beside(code))

    def open_table(self, table: TableWanted) -> None:
        remember_last(game=table.game, cap=table.cap)
        self._do(self._open_table(table))

    async def _open_table(self, table: TableWanted) -> None:
        if self._has_name():
            back = await freed(self._here)
            seat = joined(self._here, back) if back else opened(self._here, table)
            self._go(Seat(await seat))

    def host_here(self, table: TableWanted) -> None:
        remember_last(game=table.game, cap=table.cap)
        self._go(HostHere(table))

    def go_to_house(self, text: str) -> None:
        found = destination(text)
        server = found.server if found is not None else ""
        try:
            check_address(server)
        except Problem as problem:
            self._say(str(problem), Role.WARNING)
            return
        assert found is not None
        self._go(OtherHouse(server, found.code))

    def practise(self, game: str) -> None:
        self._go(Practice(game))

    def quit(self) -> None:
        self._go(Home())

    @property
    def _here(self) -> Connection:
        if self._house is None:
            raise Problem(
                "No house answers.", "h opens one here, o goes to another.", Exit.UNREACHABLE
            )
        return self._house

    def _has_name(self) -> bool:
        if self.screen.lobby.name:
            return True
        self._say("Take a name first.", Role.WARNING)
        self._ask_name()
        return False

    def _go(self, going: Going) -> None:
        if not self._going.done():
            self._going.set_result(going)

    def _do(self, deed: Coroutine[Any, Any, None]) -> None:
        """Carry out a wish beside the screen, and say there if it cannot be."""
        self._app.run_worker(self._doing(deed), group="wishes")

    async def _doing(self, deed: Coroutine[Any, Any, None]) -> None:
        try:
            await deed
        except Refused as no:
            self._say(no.message, Role.WARNING)
            if no.code in ("name_taken", "bad_name"):
                self._ask_name()
        except Unanswered:
            self._say("The house gave no answer in time; nothing was done.", Role.WARNING)
        except Problem as problem:
            self._say(str(problem), Role.WARNING)

    def _say(self, text: str, role: Role = Role.TEXT) -> None:
        if self.screen.is_mounted:
            self.screen.say(text, role)


def _with_house(lobby: Lobby, name: str) -> Lobby:
    return replace(lobby, is_open=True, is_met=True, name=name)


def _without_house(lobby: Lobby) -> Lobby:
    return replace(lobby, is_open=False, is_met=True, tables=(), leaders=MappingProxyType({}))


def _with_leader(lobby: Lobby, game: str, leader: events.LeaderboardRow | None) -> Lobby:
    return replace(lobby, leaders=MappingProxyType({**lobby.leaders, game: leader}))
