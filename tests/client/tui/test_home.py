"""The home: with no server, at a real one, and with one on this machine."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from textual.drivers.headless_driver import HeadlessDriver
from textual.events import Paste

from kit.client_servers import (
    OpenLobby,
    ScriptedPeer,
    open_lobby,
    scripted_server,
    snapshot,
    welcome,
)
from kit.messages import HOSTILE, OBEYED
from kit.screens import SEEN_WITHIN, ScreenPlayer, before
from saratoga_client.cli.host import OwnServer
from saratoga_client.local import settings
from saratoga_client.local.hosting import LocalServer
from saratoga_client.local.settings import Settings, load, remember_server
from saratoga_client.net.connection import Connection
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.history import Raced, Rival, friends_in
from saratoga_client.session.record_store import RecordStore
from saratoga_client.tui import home as home_module
from saratoga_client.tui import home_server
from saratoga_client.tui.app import SaratogaApp, open_screen
from saratoga_client.tui.base_screen import ReadingScreen
from saratoga_client.tui.home import HomeScreen, home_flow
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.tui.theme import Appearance
from saratoga_protocol.commands import JoinTable, ListTables, Ready, player_id
from saratoga_protocol.events import LeaderboardRow, Seat, Tables, TableSummary
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_rules.games import GAMES

NOWHERE = "ws://127.0.0.1:1"
TABLE = TableSummary(
    code="mint-otter-10", game="canfield", cap=10, seats=16, phase="gathering", host="Anna", seated=1
)  # fmt: skip
LEADER = LeaderboardRow(
    rank=1, player="b" * 16, name="Bert", value=31, net=105, elapsed=1, race="a-1/1", races=1, rivals=12
)  # fmt: skip


@asynccontextmanager
async def at_home(
    size: tuple[int, int] = (80, 24), hosting: OwnServer | None = None, **chosen: Any
) -> AsyncIterator[ScreenPlayer]:
    """Open the home with these settings."""
    app = SaratogaApp(home_flow(load().given(**chosen), hosting or OwnServer()))
    async with app.run_test(size=size) as pilot:
        visitor = ScreenPlayer(app, pilot)
        while not isinstance(app.screen, HomeScreen):
            await pilot.pause()
        yield visitor
    # as the program does: the connection is closed before the event loop
    await app.flow_ended()


def marked(visitor: ScreenPlayer) -> str:
    return next(line.split("▸")[1].split()[0] for line in visitor.rows if "▸" in line)


async def test_the_first_evening_needs_no_server_and_shows_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "DEFAULT_SERVER", NOWHERE)
    async with at_home() as visitor:
        await visitor.reads("Race your friends at patience.", "2 Play now", "Your name is asked")
        assert "reach" not in visitor.text
        await visitor.press("down", "up", "up", "enter", "2")
        await visitor.until(lambda: isinstance(visitor.screen, ReadingScreen))
        await visitor.reads("RULES OF CANFIELD")
        await visitor.press("q", "escape", "5", "6")
        await visitor.until(lambda: isinstance(visitor.screen, PracticeScreen))
        await visitor.press("q")
        await visitor.reads("5 Practise")
        await visitor.press("v")
        assert "mark one" in visitor.message
        await visitor.press("4")
        await visitor.enter("nothing")
        await visitor.reads("That names no table", "nothing")
        await visitor.press("escape", "4")
        await visitor.enter("mint-otter-42")
        await visitor.reads("No server answers on this machine")


async def test_the_name_is_asked_once_when_a_table_is_opened(lobby: OpenLobby) -> None:
    await lobby.player("Anna")
    async with at_home(server=lobby.url, game="lafayette", cap=20) as visitor:
        await visitor.reads("2 Play now")
        await visitor.press("3")
        await visitor.reads("Your name at the table:")
        await visitor.press("ctrl+u")
        await visitor.enter("ANNA")
        await visitor.reads("was given up lately. Choose another.", "ANNA")
        await visitor.press("ctrl+u")
        await visitor.enter("Zoë B")
        await visitor.reads("LAFAYETTE", "20 minutes", "SEATS 1 of 16", "YOU")
        code = visitor.rows[0].split()[1]
        await visitor.press("q", "y")
        await visitor.reads(f"2 Race again {code}, your last table")
    # the program is closed and opened again
    async with at_home() as visitor:
        await visitor.reads("Zoë B", f"{code}, your last table")
        await visitor.press("2")
        await visitor.reads("SEATS 1 of 16", "YOU")
    assert load().server_url == lobby.url


async def test_a_code_can_be_corrected_and_is_looked_up_before_a_name_is_asked(
    lobby: OpenLobby,
) -> None:
    code = await lobby.host("Anna")
    async with at_home(server=lobby.url) as visitor:
        await visitor.press("4")
        await visitor.enter("not-there-77")
        await visitor.reads("There is no table with that code.", "not-there-77")
        await visitor.press("ctrl+u")
        await visitor.enter(f" {code.upper()} ")
        await visitor.reads("Your name at the table:")
        await visitor.press("ctrl+u")
        await visitor.enter("Bert")
        await visitor.reads("SEATS 2 of 16", code)
        await visitor.press("q", "y")
        await visitor.reads(f"2 Race again {code}: Anna is there")


async def test_a_pasted_invitation_leads_to_the_table_of_another_server(lobby: OpenLobby) -> None:
    async with open_lobby() as there, at_home(server=lobby.url, name="Bert") as visitor:
        code = await there.host("Cleo")
        visitor.app.post_message(Paste(f"Race me at patience:\nsaratoga join {there.url}/{code}"))
        await visitor.press("enter")
        await visitor.reads("SEATS 2 of 16", "YOU", code)
        await visitor.press("q", "y")
        await visitor.reads(f"{code}: Cleo is there")


async def test_public_tables_are_marked_by_arrows_or_clicks_joined_and_watched(
    lobby: OpenLobby,
) -> None:
    first = await lobby.host("Anna", public=True)
    hidden = await lobby.host("Dora")
    async with at_home(server=lobby.url, name="Bert") as visitor:
        await visitor.reads("PUBLIC TABLES", first)
        second = await lobby.host("Cleo", public=True)
        shown = await visitor.reads(first, second, "Lafayette 5 min", "1/16")
        assert hidden not in shown
        await visitor.press("up")
        last = marked(visitor)
        await visitor.press("up")
        assert {last, marked(visitor)} == {first, second}
        await visitor.press("v")
        await visitor.reads("You are watching this table")
        await visitor.press("q", "y")
        await visitor.reads("PUBLIC TABLES")
        await visitor.press("down")
        await visitor.pilot.click("#tables", offset=(8, 2))
        assert marked(visitor) == last
        await visitor.press("enter")
        await visitor.reads("SEATS 2 of 16", "YOU", last)


async def test_all_rows_of_a_long_list_of_tables_can_be_marked(lobby: OpenLobby) -> None:
    screen = HomeScreen(Settings(), OwnServer())
    async with before(screen) as player:
        screen.server.tables = [replace(TABLE, code=f"mint-otter-{at}") for at in range(10, 36)]
        screen.show()
        for steps, code in ((1, "mint-otter-35"), (25, "mint-otter-10")):
            await player.press(*["up"] * steps)
            await player.pilot.pause()
            assert marked(player) == code


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 20)])
async def test_texts_from_a_server_command_nothing_and_move_no_column(
    size: tuple[int, int],
) -> None:
    screen = HomeScreen(Settings(server="wss://cards.example"), OwnServer())
    async with before(screen, size, Appearance(ascii=size[0] == 60)) as player:
        odd = [
            replace(TABLE, code=HOSTILE, host=HOSTILE, phase=HOSTILE),
            replace(TABLE, host="王" * 20),
        ]
        screen.server.tables = [TABLE, *odd]
        screen.server.name = HOSTILE
        screen.server.leaders = dict.fromkeys(GAMES, replace(LEADER, name=HOSTILE))
        screen.server.problem = Problem(HOSTILE, HOSTILE, Exit.UNREACHABLE)
        rival = Rival(HOSTILE, False, 1, 9)
        screen.races = [Raced(race="a-1/1", game="canfield", at=0, player="a", place=2, banked=1, net=-45, rivals=[rival])]  # fmt: skip
        screen.show()
        await player.pilot.pause()
        assert not OBEYED & set("".join(player.rows))
        assert len({line.index("Canfield") for line in player.rows if " 10 min" in line}) == 1


async def test_own_races_and_friends_come_from_this_machine() -> None:
    store, now = RecordStore(), datetime.now().astimezone()
    for days, place, net in ((0, 1, 8), (1, 2, -17), (9, 2, -50)):
        at = int((now - timedelta(days=days)).timestamp() * 1000)
        ben = Rival("Ben O'Neil", False, 3 - place, 14)
        store.add(
            Raced(
                race=f"mint-otter-42/{9 - days}",
                game="klondike",
                at=at,
                player="a" * 16,
                place=place,
                banked=12,
                net=net,
                rivals=[ben, Rival("Otto", True, 3, 2)],
            )
        )
    assert [(each.theirs, each.yours) for each in friends_in(store.races())] == [(2, 1)]
    async with at_home(size=(100, 30)) as visitor:
        await visitor.reads(
            "today Klondike 1st of 3 12 +$8 second: Ben O'Neil, 14",
            "yesterday Klondike 2nd of 3 12 -$17 won by Ben O'Neil, 14",
            "Ben O'Neil 2 : 1 last raced today",
        )


async def test_a_server_that_is_away_is_one_line_and_the_rest_works(
    lobby: OpenLobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_server, "RETRY_EVERY", 0.01)
    async with at_home(server=NOWHERE) as visitor:
        await visitor.reads(f"No server answers on this machine at {NOWHERE}", "Trying again")
        await visitor.press("3")
        await visitor.reads("No server answers", "Race friends")
        await visitor.press("5", "1")
        await visitor.until(lambda: isinstance(visitor.screen, PracticeScreen))


async def answer_all_but_joins(peer: ScriptedPeer) -> JoinTable:
    """Answer all commands except `JoinTable`; return that command."""
    while True:
        match await peer.command():
            case ListTables(id=asked):
                await peer.send(Tables(re=asked, tables=[]))
            case JoinTable() as command:
                return command


@asynccontextmanager
async def joining() -> AsyncIterator[tuple[ScreenPlayer, ScriptedPeer, JoinTable]]:
    """A player who waits for the answer of a server to a join."""
    async with scripted_server() as server:
        server.greeting = lambda hello: replace(welcome(hello), name="Bert")
        async with at_home(server=server.url) as visitor:
            peer = await server.peer()
            answering = asyncio.create_task(answer_all_but_joins(peer))
            await visitor.press("4")
            await visitor.enter("mint-otter-42")
            yield visitor, peer, await answering


async def test_a_second_command_waits_for_the_answer_to_the_first() -> None:
    async with joining() as (visitor, peer, asked):
        await visitor.press("4")
        assert "has not answered yet" in visitor.message
        assert peer.hello is not None
        own = Seat(player=player_id(peer.hello.token), name="Bert")
        shown = snapshot(re=asked.id)
        there = replace(shown.table, seats=[own], host=own.player)
        await peer.send(replace(shown, table=there))
        await visitor.reads("SEATS 1 of")
        await visitor.press("r")
        assert isinstance(await peer.command(), Ready), "one join, and no leave after it"


async def test_a_connection_that_is_closed_during_a_join_is_reported() -> None:
    async with joining() as (visitor, peer, _):
        await peer.close(TAKEN_OVER.code, TAKEN_OVER.reason)
        await visitor.reads("You are playing this seat on another device or window.")
        assert isinstance(visitor.screen, HomeScreen)


async def test_a_lost_connection_is_reported() -> None:
    async with scripted_server() as server:
        server.greeting = lambda hello: replace(welcome(hello), name="Bert")
        async with at_home(server=server.url) as visitor:
            peer = await server.peer()
            answering = asyncio.create_task(answer_all_but_joins(peer))
            await visitor.reads("Bert")
            peer.cut()
            await visitor.reads("The connection is lost")
            answering.cancel()


async def test_an_unexpected_error_of_the_connection_ends_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def open_connection(server: str, *, reports_link: bool) -> Connection:
        raise RuntimeError("a fault of this program")

    monkeypatch.setattr(home_server, "open_connection", open_connection)
    monkeypatch.setattr(SaratogaApp, "get_driver_class", lambda app: HeadlessDriver)
    with pytest.raises(Exception, match="a fault of this program"):
        async with asyncio.timeout(SEEN_WITHIN):
            await open_screen(home_flow(Settings(), OwnServer()), Settings())


@pytest.fixture
def server_here(lobby: OpenLobby, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Use the test's server in place of a started one; return a list of its starts and stops."""
    happened: list[str] = []

    @asynccontextmanager
    async def local_server(report: Callable[[str], None]) -> AsyncIterator[LocalServer]:
        report("Starting a server on this machine ...")
        happened.append("started")
        yield LocalServer(own=lobby.url, friends="ws://192.0.2.7:7470", is_ours=True)
        happened.append("closed")

    monkeypatch.setattr(home_module, "local_server", local_server)
    return happened


async def test_a_server_here_stays_until_the_program_ends_and_not_under_a_friend_without_a_question(
    lobby: OpenLobby, server_here: list[str]
) -> None:
    hosting = OwnServer()
    async with at_home(name="Bert", hosting=hosting) as visitor:
        await visitor.press("3")
        await visitor.reads("SEATS 1 of 16", "saratoga join ws://192.0.2.7:7470/")
        code = visitor.rows[0].split()[1]
        await lobby.sit_down("Anna", code)
        await visitor.reads("SEATS 2 of 16")
        await visitor.press("q", "y")
        await visitor.reads(f"{code}: Anna is there")
        await visitor.press("q")
        await visitor.reads(f"Anna is still at {code}. Close this machine's server?")
        await visitor.press("n", "4")
        await visitor.reads("SEATS 1 of 16")
        assert server_here == ["started"], "another table on the same server"
        other = visitor.rows[0].split()[1]
        await lobby.sit_down("Cleo", other)
        await visitor.reads("SEATS 2 of 16")
        await visitor.press("q", "y")
        await visitor.reads(f"{other}: Cleo is there")
        await visitor.press("q")
        await visitor.reads(f"Cleo is still at {other}.")
        await visitor.press("y")
        await visitor.until(lambda: not visitor.app.is_running)
    assert not hosting.still_here(), "which is who would be asked about again"


async def test_who_hosts_again_returns_to_the_table_where_friends_wait(
    lobby: OpenLobby, server_here: list[str]
) -> None:
    code = await lobby.host("Anna")
    remember_server(lobby.url, code)
    async with at_home(name="Bert") as visitor:
        home = visitor.screen
        assert isinstance(home, HomeScreen)
        home.server = home_server.HomeServer(NOWHERE, home.show)
        await visitor.press("3")
        await visitor.reads("SEATS 2 of 16", code)


async def test_a_server_that_cannot_be_started_here_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def local_server(report: Callable[[str], None]) -> LocalServer:
        said = ("the port is taken",)
        raise Problem("It did not start.", "Its last messages:", Exit.UNREACHABLE, said=said)

    monkeypatch.setattr(home_module, "local_server", local_server)
    async with at_home() as visitor:
        await visitor.press("2")
        await visitor.reads("It did not start. Its last messages: the port is taken")
