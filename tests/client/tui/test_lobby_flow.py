"""The lobby's screens at a real server: names, tables, other servers, and no server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace
from textual.drivers.headless_driver import HeadlessDriver

from kit.lobbies import SEEN_WITHIN, OpenLobby, Visitor, in_the_lobby, open_lobby
from kit.messages import racer
from kit.scripted_server import ScriptedPeer, scripted_server, snapshot, table, welcome
from saratoga_client.cli.host import OwnServer
from saratoga_client.local.hosting import LocalServer
from saratoga_client.local.settings import Settings, load
from saratoga_client.net.connection import Connection
from saratoga_client.problems import Exit, Problem
from saratoga_client.tui import lobby as lobby_module
from saratoga_client.tui.app import SaratogaApp, open_screen
from saratoga_client.tui.lobby import LobbyScreen, lobby_flow
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_protocol.commands import JoinTable, LeaveTable, ListTables, Ready, player_id
from saratoga_protocol.events import Seat, Table, Tables
from saratoga_protocol.refusals import TAKEN_OVER

NOWHERE = "ws://127.0.0.1:1"


@pytest.fixture
async def lobby() -> AsyncIterator[OpenLobby]:
    async with open_lobby() as opened:
        yield opened


async def test_a_newcomer_takes_a_name_and_a_name_that_is_taken_is_asked_for_again(
    lobby: OpenLobby,
) -> None:
    await lobby.player("Anna")
    async with in_the_lobby(lobby.url) as visitor:
        await visitor.reads("Your name:")
        await visitor.type("ANNA")
        await visitor.reads("was given up lately. Choose another.", "Your name: ANNA")
        await visitor.press("ctrl+u")
        await visitor.type("Zoë B")
        await visitor.reads("You are Zoë B")


async def test_public_tables_stand_there_and_enter_sits_down_at_the_chosen_one(
    lobby: OpenLobby,
) -> None:
    first = await lobby.host("Anna", public=True)
    hidden = await lobby.host("Dora")
    async with in_the_lobby(lobby.url, name="Bert") as visitor:
        await visitor.reads("You are Bert", first, "none yet")
        second = await lobby.host("Cleo", public=True)
        shown = await visitor.reads("You are Bert", first, second, "Lafayette 5 min", "1/16")
        assert hidden not in shown
        chosen = next(line for line in visitor.lines if line.startswith("▸")).split()[1]
        await visitor.press("down")
        other = next(line for line in visitor.lines if line.startswith("▸")).split()[1]
        assert {chosen, other} == {first, second}
        await visitor.press("enter")
        await visitor.reads("SEATS 2 of 16", "Bert", f"saratoga join {lobby.url}/{other}")
        await visitor.press("q")
        await visitor.press("y")
        await visitor.reads("PUBLIC TABLES")


async def test_a_seat_is_not_given_without_a_name(lobby: OpenLobby) -> None:
    await lobby.host("Anna", public=True)
    async with in_the_lobby(lobby.url) as visitor:
        await visitor.reads("Your name:", "Anna")
        await visitor.press("escape")
        await visitor.press("enter")
        await visitor.reads("Your name:")
        assert isinstance(visitor.screen, LobbyScreen)
        await visitor.type("Bert")
        await visitor.reads("SEATS 2 of")


async def test_a_code_with_a_typo_can_be_corrected(lobby: OpenLobby) -> None:
    code = await lobby.host("Anna")
    async with in_the_lobby(lobby.url, name="Bert") as visitor:
        await visitor.reads("You are Bert", "none now")
        await visitor.press("j")
        await visitor.type(code.rpartition("-")[0])
        await visitor.reads("That names no table", f"{code.rpartition('-')[0]}")
        await visitor.press("ctrl+u")
        await visitor.type("not-there-77")
        await visitor.reads("There is no table with that code.", "not-there-77")
        await visitor.press("ctrl+u")
        await visitor.type(f" {code.upper()} ")
        await visitor.reads("SEATS 2 of 16", code)


async def test_a_url_of_another_server_leads_to_its_table_and_to_its_lobby(
    lobby: OpenLobby,
) -> None:
    async with open_lobby() as there, in_the_lobby(lobby.url, name="Bert") as visitor:
        code = await there.host("Cleo")
        await visitor.reads("You are Bert", "none now")
        await visitor.press("j")
        await visitor.type(f"saratoga join {there.url}/{code}")
        await visitor.reads("SEATS 2 of 16", "Bert", code)
        await visitor.press("q", "y")
        await visitor.reads(f"lobby {there.url}", "none now")


async def test_a_table_is_opened_as_the_form_says_and_offered_the_next_time(
    lobby: OpenLobby,
) -> None:
    async with in_the_lobby(lobby.url, name="Bert") as visitor:
        await visitor.reads("You are Bert", "none now")
        await visitor.press("c", "g", "g", "g", "c", "-", "p", "m")
        await visitor.reads("A NEW TABLE", "Lafayette", "20 minutes", "15 seats", "public")
        await visitor.press("enter")
        await visitor.reads("LAFAYETTE", "20 minutes", "SEATS 1 of 15", "public")
    assert (load().game, load().cap, load().races) == ("lafayette", 20, 3)


async def test_without_a_server_the_lobby_lists_what_the_player_can_do(lobby: OpenLobby) -> None:
    async with in_the_lobby(NOWHERE) as visitor:
        await visitor.reads(
            "The server does not answer.", "no server listens there", "WHAT YOU CAN DO"
        )
        await visitor.press("c")
        assert "h runs one here" in visitor.message
        await visitor.press("j")
        await visitor.type("mint-otter-42")
        await visitor.reads("the table can't be looked up")


async def test_an_invalid_server_address_can_be_corrected(lobby: OpenLobby) -> None:
    async with in_the_lobby(NOWHERE) as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("o")
        await visitor.type("cards example")
        await visitor.reads("is not the address of a server", "cards example")
        await visitor.press("ctrl+u")
        await visitor.type("ws://<host>")
        await visitor.reads("is not the address of a server", "ws://<host>")
        await visitor.press("ctrl+u")
        await visitor.type(lobby.url)
        await visitor.reads(f"lobby {lobby.url}", "Your name:")


async def answer_all_but_joins(peer: ScriptedPeer) -> JoinTable:
    """Answer all commands except `JoinTable`; return that command."""
    while True:
        match await peer.command():
            case ListTables(id=asked):
                await peer.send(Tables(re=asked, tables=[]))
            case JoinTable() as command:
                return command


@asynccontextmanager
async def seated_too_late(
    there: Callable[[str], Table],
) -> AsyncIterator[tuple[Visitor, ScriptedPeer]]:
    """A player who began to practise before the server answered with a seat at the table.

    `there` returns that table; its argument is the id of the player.
    """
    async with scripted_server() as server:
        server.greeting = lambda hello: replace(welcome(hello), name="Bert")
        async with in_the_lobby(server.url) as visitor:
            peer = await server.peer()
            answering = asyncio.create_task(answer_all_but_joins(peer))
            await visitor.reads("none now")
            await visitor.press("j")
            await visitor.type("mint-otter-42")
            await asyncio.wait([answering])
            await visitor.press("p", "1")
            await visitor.until(lambda: isinstance(visitor.screen, PracticeScreen))
            assert peer.hello is not None
            seated = there(player_id(peer.hello.token))
            await peer.send(replace(snapshot(re=(await answering).id), table=seated))
            yield visitor, peer


async def test_a_second_press_before_the_answer_keeps_the_seat_of_the_first() -> None:
    async with scripted_server() as server:
        server.greeting = lambda hello: replace(welcome(hello), name="Bert")
        async with in_the_lobby(server.url) as visitor:
            peer = await server.peer()
            answering = asyncio.create_task(answer_all_but_joins(peer))
            await visitor.reads("none now")
            for _ in range(2):
                await visitor.press("j")
                await visitor.type("mint-otter-42")
            await asyncio.wait([answering])
            assert peer.hello is not None
            own = Seat(player=player_id(peer.hello.token), name="Bert")
            there = replace(table(), seats=[own], host=own.player)
            await peer.send(replace(snapshot(re=(await answering).id), table=there))
            await visitor.reads("SEATS 1 of")
            await visitor.press("r")
            assert isinstance(await peer.command(), Ready), "one join, and no leave after it"


async def test_a_seat_that_comes_too_late_is_given_up_again() -> None:
    async with seated_too_late(lambda player: table()) as (visitor, peer):
        assert isinstance(await peer.command(), LeaveTable)
        await visitor.press("q")
        await visitor.until(lambda: isinstance(visitor.screen, LobbyScreen))


async def test_a_seat_in_a_running_race_that_comes_too_late_is_kept() -> None:
    def race(player: str) -> Table:
        own = Seat(player=player, name="Bert")
        return replace(table(phase="running"), racers=[racer(player, "Bert")], seats=[own])

    async with seated_too_late(race) as (visitor, peer):
        await visitor.press("q")
        await visitor.until(lambda: isinstance(visitor.screen, LobbyScreen))
        await visitor.press("j")
        await visitor.type("salty-heron-77")
        assert isinstance(await peer.command(), JoinTable), "no LeaveTable was sent before it"


async def test_the_lobby_reports_a_connection_that_is_closed_during_a_join() -> None:
    async with scripted_server() as server:
        server.greeting = lambda hello: replace(welcome(hello), name="Bert")
        async with in_the_lobby(server.url) as visitor:
            peer = await server.peer()
            answering = asyncio.create_task(answer_all_but_joins(peer))
            await visitor.reads("none now")
            await visitor.press("j")
            await visitor.type("mint-otter-42")
            await answering
            await peer.close(TAKEN_OVER.code, TAKEN_OVER.reason)
            await visitor.reads("You are playing this seat on another device or window.")
            assert isinstance(visitor.screen, LobbyScreen)


async def test_a_lost_connection_is_reported() -> None:
    async with scripted_server() as server:
        server.greeting = lambda hello: replace(welcome(hello), name="Bert")
        async with in_the_lobby(server.url) as visitor:
            peer = await server.peer()
            await visitor.reads("You are Bert")
            peer.cut()
            await visitor.reads("lost")


async def test_an_unexpected_error_of_the_connection_ends_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def open_connection(server: str, *, reports_link: bool) -> Connection:
        raise RuntimeError("a fault of this program")

    monkeypatch.setattr(lobby_module, "open_connection", open_connection)
    monkeypatch.setattr(SaratogaApp, "get_driver_class", lambda app: HeadlessDriver)
    with pytest.raises(Exception, match="a fault of this program"):
        async with asyncio.timeout(SEEN_WITHIN):
            await open_screen(lobby_flow(Settings(), OwnServer()), Settings())


async def test_an_unknown_code_is_reported_before_a_name_is_asked(lobby: OpenLobby) -> None:
    code = await lobby.host("Anna")
    async with in_the_lobby(lobby.url) as visitor:
        await visitor.reads("Your name:")
        await visitor.press("escape", "j")
        await visitor.type("not-there-77")
        await visitor.reads("There is no table with that code.", "not-there-77")
        await visitor.press("ctrl+u")
        await visitor.type(code)
        await visitor.reads("Your name:")
        await visitor.type("Bert")
        await visitor.reads("SEATS 2 of", code)


async def test_the_lobby_offers_the_last_table_after_it_was_left(lobby: OpenLobby) -> None:
    code = await lobby.host("Anna")
    async with in_the_lobby(lobby.url, name="Bert") as visitor:
        await visitor.reads("You are Bert")
        await visitor.press("j")
        await visitor.type(code)
        await visitor.reads("SEATS 2 of")
        await visitor.press("q", "y")
        await visitor.reads(f"your last table: {code}, b goes back", f"b back to {code}")
    # the program is closed and opened again
    async with in_the_lobby(lobby.url) as visitor:
        await visitor.reads(f"your last table: {code}, b goes back")
        await visitor.press("b")
        await visitor.reads("SEATS 2 of")
    assert load().server_url == lobby.url


@pytest.fixture
def server_here(lobby: OpenLobby, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Use the second test server in place of a started one; return a list of its starts and stops."""
    happened: list[str] = []

    @asynccontextmanager
    async def local_server(report: Callable[[str], None]) -> AsyncIterator[LocalServer]:
        report("Starting a server on this machine ...")
        happened.append("started")
        friends = "ws://192.0.2.7:7470"
        yield LocalServer(own=lobby.url, friends=friends, is_ours=True)
        happened.append("closed")

    monkeypatch.setattr(lobby_module, "local_server", local_server)
    return happened


async def test_a_server_here_has_the_table_at_once_and_closes_when_the_table_is_left(
    server_here: list[str],
) -> None:
    async with in_the_lobby(NOWHERE, name="Bert") as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("h", "enter")
        await visitor.reads("SEATS 1 of 16", "saratoga join ws://192.0.2.7:7470/")
        assert server_here == ["started"]
        await visitor.press("q", "y")
        await visitor.reads("WHAT YOU CAN DO", "Your server on this machine has been closed.")
        assert server_here == ["started", "closed"]


async def test_the_server_here_is_not_closed_under_a_friend_without_a_question(
    lobby: OpenLobby, server_here: list[str]
) -> None:
    async with in_the_lobby(NOWHERE, name="Bert") as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("h", "enter")
        await visitor.reads("SEATS 1 of 16")
        code = visitor.lines[0].split()[1]
        await lobby.sit_down("Anna", code)
        await visitor.reads("SEATS 2 of 16")
        await visitor.press("q", "y")
        await visitor.reads(f"Anna is still at {code}. Close this machine's server?")
        await visitor.press("n", "o")
        await visitor.type(NOWHERE)
        await visitor.reads(f"Anna is still at {code}. Close this machine's server?")
        await visitor.press("n", "h", "enter")
        await visitor.reads("SEATS 1 of 16")
        assert server_here == ["started"], "another table on the same server"
        await lobby.sit_down("Cleo", visitor.lines[0].split()[1])
        await visitor.reads("SEATS 2 of 16")
        await visitor.press("q", "y")
        await visitor.reads("Cleo is still at")
        await visitor.press("y")
        await visitor.reads("Your server on this machine has been closed.")


async def test_a_server_that_cannot_be_started_here_is_reported_in_the_lobby(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def local_server(report: Callable[[str], None]) -> LocalServer:
        raise Problem("The server is not installed here.", "Install it.", Exit.UNREACHABLE)

    monkeypatch.setattr(lobby_module, "local_server", local_server)
    async with in_the_lobby(NOWHERE) as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("h", "enter")
        await visitor.reads("The server is not installed here. Install it.")


@pytest.mark.parametrize(("key", "seen"), [("y", "SEATS 2 of 16"), ("n", "SEATS 1 of 16")])
async def test_a_host_whose_friends_wait_is_asked_before_a_new_table_is_opened(
    lobby: OpenLobby, server_here: list[str], key: str, seen: str
) -> None:
    code = await lobby.host("Anna")
    async with in_the_lobby(lobby.url, name="Bert") as visitor:
        await visitor.reads("You are Bert")
        await visitor.press("j")
        await visitor.type(code)
        await visitor.reads("SEATS 2 of 16")
        await visitor.press("q", "y")
        await visitor.reads(f"your last table: {code}")
    async with in_the_lobby(NOWHERE, name="Bert") as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("h", "enter")
        await visitor.reads(
            f"Your table {code} is still open: Lafayette, 5 minutes, with Anna. Return there?"
        )
        await visitor.press(key)
        await visitor.reads(seen)
        assert (visitor.lines[0].split()[1] == code) == (key == "y")


async def test_the_way_back_stays_offered_after_the_question_is_dropped(
    lobby: OpenLobby, server_here: list[str]
) -> None:
    async with in_the_lobby(lobby.url, name="Bert") as visitor:
        await visitor.reads("You are Bert")
        await visitor.press("c", "enter")
        await visitor.reads("SEATS 1 of 16")
        code = visitor.lines[0].split()[1]
    async with in_the_lobby(NOWHERE, name="Bert") as visitor:
        await visitor.reads("WHAT YOU CAN DO")
        await visitor.press("h", "enter")
        await visitor.reads("Return there?")
        await visitor.press("escape")
        await visitor.reads(f"you have a seat at {code}; b goes back")
