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

from saratoga_client.board_view.roles import Role
from saratoga_client.local.setting_values import MOST_SEATS
from saratoga_client.local.settings import Settings, remember_last
from saratoga_client.net.connection import Connection, LinkState
from saratoga_client.net.errors import (
    ClientClosed,
    CommandRefused,
    RequestTimedOut,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.invitation import Destination, destination
from saratoga_client.session.join import BAD_NAMES, TableWanted, freed, joined, opened
from saratoga_client.session.lobby import Entry, LobbyState, Purpose
from saratoga_client.session.open_connection import bad_address, open_connection, problem_of
from saratoga_client.tui.app import Flow, SaratogaApp
from saratoga_client.tui.flows import alone, at_table, beside_table
from saratoga_client.tui.screens.lobby import LobbyScreen
from saratoga_protocol import events
from saratoga_protocol.commands import ClaimName, GetLeaderboard, ListTables
from saratoga_rules.games import GAMES

LOOK_EVERY: Final = 2.0
"""Seconds between two looks at the public tables."""
LEADERS_EVERY: Final = 10
"""Looks after which the leaders are looked at too: they change with races, not with seats."""
KNOCK_EVERY: Final = 3.0
"""Seconds after which a house that did not answer is tried again."""

MISTYPED: Final = BAD_NAMES | {"no_such_table"}
"""Refusals after which what was typed may be mended."""


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
    is_watching: bool = False
    """The table there is to be watched."""


@dataclass(frozen=True, slots=True)
class Home:
    """Enough for today."""


Going: TypeAlias = Seat | Beside | Practice | HostHere | OtherHouse | Home


def in_lobby(settings: Settings, notice: str, leave: Callable[[Going], None]) -> Flow:
    """Stay in the lobby, with its tables and practice, until the player leaves it for good."""

    async def errand(app: SaratogaApp) -> None:
        said = notice
        while True:
            going = await LobbyFlow(app, settings, said).stay()
            said = ""
            try:
                match going:
                    case Seat(table):
                        from saratoga_client.session.invitation import invitation_to

                        lines = await invitation_to(table, settings)
                        await at_table(settings.server_url, table.code, lines)(app)
                    case Beside(code):
                        await beside_table(settings.server_url, code)(app)
                    case Practice(game):
                        from saratoga_client.practice.deals import from_seed
                        from saratoga_client.practice.practice_session import drawn_seed

                        remember_last(game=game)
                        await alone(from_seed(GAMES[game], drawn_seed()))(app)
                    case _:
                        leave(going)
                        return
            except Problem as problem:
                said = str(problem)

    return errand


class LobbyFlow:
    """One stay; `stay` returns where the player goes next."""

    def __init__(self, app: SaratogaApp, settings: Settings, notice: str = "") -> None:
        self._app = app
        self._settings = settings
        self._house: Connection | None = None
        self._going: asyncio.Future[Going] = asyncio.get_running_loop().create_future()
        form = TableWanted(game=settings.game, cap=settings.cap, seats=MOST_SEATS, public=False)
        self.screen = LobbyScreen(self, LobbyState(server=settings.server_url), form, notice)

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
                async with open_connection(self._settings.server_url) as house:
                    await self._listen(house)
            except Problem as problem:
                self._house = None
                self.screen.show(partial(_without_house, problem=problem))
                if problem.code != Exit.UNREACHABLE:
                    # knocking again would not change it
                    await asyncio.get_running_loop().create_future()
            await asyncio.sleep(KNOCK_EVERY)

    async def _listen(self, house: Connection) -> None:
        self._house = house
        self.screen.show(partial(_with_house, house=house))
        stop = house.subscribe(self._turned)
        if house.welcome.name is None:
            self._offer_name()
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
        self._ask(Entry(Purpose.NAME))

    def _ask(self, entry: Entry) -> None:
        """Ask for a line, unless the player is typing one."""
        self.screen.show(lambda lobby: lobby if lobby.entry else replace(lobby, entry=entry))

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
        self._do(self._take_name(name), Entry(Purpose.NAME, name))

    async def _take_name(self, name: str) -> None:
        claimed = await self._here.ask(partial(ClaimName, name=name[:64]), events.NameClaimed)
        self.screen.show(lambda lobby: replace(lobby, name=claimed.name))
        self._say(f"You are {claimed.name}.")

    def join(self, text: str) -> None:
        entry = Entry(Purpose.TABLE, text)
        found = self._found(entry)
        if found is not None and self._is_elsewhere(found):
            self._go(OtherHouse(found.server, found.code))
        elif found is not None:
            self._do(self._join(found.code), entry)

    def _found(self, entry: Entry) -> Destination | None:
        """What a typed code or URL leads to; where it leads nowhere, it is asked for again."""
        found = destination(entry.text)
        if found is not None and (found.code or self._is_elsewhere(found)):
            return found
        self._ask(replace(entry, wrong="That names no table; a code looks like mint-otter-42."))
        return None

    def _is_elsewhere(self, found: Destination) -> bool:
        """Whether it is in another house than this one."""
        return found.server not in ("", self._settings.server_url.rstrip("/"))

    async def _join(self, code: str) -> None:
        house = self._here
        if self._has_name():
            back = await freed(house, code)
            self._go(Seat(await joined(house, back or code)))

    def watch(self, text: str) -> None:
        found = self._found(Entry(Purpose.WATCH, text))
        if found is not None and self._is_elsewhere(found):
            self._go(OtherHouse(found.server, found.code, is_watching=True))
        elif found is not None:
            self._go(Beside(found.code))

    def open_table(self, table: TableWanted) -> None:
        remember_last(game=table.game, cap=table.cap)
        self._do(self._open_table(table))

    async def _open_table(self, table: TableWanted) -> None:
        house = self._here
        if self._has_name():
            back = await freed(house)
            self._go(Seat(await (joined(house, back) if back else opened(house, table))))

    def host_here(self, table: TableWanted) -> None:
        remember_last(game=table.game, cap=table.cap)
        self._go(HostHere(table))

    def go_to_server(self, text: str) -> None:
        found = destination(text)
        if found is None or not found.server:
            self._ask(Entry(Purpose.SERVER, text, str(bad_address(text))))
            return
        self._go(OtherHouse(found.server, found.code))

    def practise(self, game: str) -> None:
        self._go(Practice(game))

    def quit(self) -> None:
        self._go(Home())

    @property
    def _here(self) -> Connection:
        if self._house is None:
            raise Problem(
                "No house answers, so nobody knows that table.",
                "h opens a house here, o goes to another.",
                Exit.UNREACHABLE,
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

    def _do(self, deed: Coroutine[Any, Any, None], entry: Entry | None = None) -> None:
        """Carry out a wish beside the screen, and say there if it cannot be.

        What was typed for it is asked for again where something else may do.
        """
        self._app.run_worker(self._doing(deed, entry), group="wishes")

    async def _doing(self, deed: Coroutine[Any, Any, None], entry: Entry | None) -> None:
        try:
            await deed
        except CommandRefused as no:
            if entry is not None and no.code in MISTYPED:
                self._ask(replace(entry, wrong=no.message))
            else:
                self._say(no.message, Role.WARNING)
        except RequestTimedOut:
            self._say(
                "The house gave no answer in time. It may have been done all the same: look first.",
                Role.WARNING,
            )
        except ClientClosed:
            # the player has gone somewhere else meanwhile
            return
        except (ServerClosed, Unreachable, UnexpectedAnswer) as trouble:
            self._say(str(problem_of(self._settings.server_url, trouble)), Role.WARNING)
        except Problem as problem:
            self._say(str(problem), Role.WARNING)

    def _say(self, text: str, role: Role = Role.TEXT) -> None:
        if self.screen.is_mounted:
            self.screen.say(text, role)


def _with_house(lobby: LobbyState, house: Connection) -> LobbyState:
    welcome = house.welcome
    return replace(
        lobby,
        is_open=True,
        is_met=True,
        wrong="",
        name=welcome.name or "",
        seat=welcome.table or "",
    )


def _without_house(lobby: LobbyState, problem: Problem) -> LobbyState:
    return replace(
        lobby,
        is_open=False,
        is_met=True,
        # where nobody answers the page itself says what can be done
        wrong=problem.what if problem.code == Exit.UNREACHABLE else str(problem),
        tables=(),
        leaders=MappingProxyType({}),
    )


def _with_leader(lobby: LobbyState, game: str, leader: events.LeaderboardRow | None) -> LobbyState:
    return replace(lobby, leaders=MappingProxyType({**lobby.leaders, game: leader}))
