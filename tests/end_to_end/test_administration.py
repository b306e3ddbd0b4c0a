"""Administrators' commands take effect at once on a running server and its players."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from urllib.request import urlopen

import pytest
import pytest_asyncio

from kit.in_process_server import gathered
from kit.player_sockets import SocketPlayer, connected_player, player_at
from kit.players import token_of
from kit.server_process import ServerProcess, running_server
from saratoga_protocol.commands import Heartbeat, Hello, JoinTable
from saratoga_protocol.events import Announcement, SeatLost, TableChanged
from saratoga_protocol.refusals import BANNED

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server_process() -> AsyncIterator[ServerProcess]:
    """A server process that the tests share; a player keeps its seat, so each test seats other players."""
    async with running_server() as opened:
        yield opened


async def seats_become(player: SocketPlayer, count: int) -> None:
    """Wait until the player's table has so many seats."""
    while len(player.table.seats) != count:
        await player.expect(TableChanged, len(player.received.events))


async def test_an_announcement_reaches_every_player(server_process: ServerProcess) -> None:
    async with (
        player_at(server_process.url, "Anna") as anna,
        player_at(server_process.url, "Bert") as bert,
    ):
        assert (
            await server_process.admin("announce", "The server restarts at ten.")
            == "Sent to the players on 1 server.\n"
        )
        for each in (anna, bert):
            await each.expect(Announcement, text="The server restarts at ten.")


async def test_the_players_of_a_closed_table_are_notified(server_process: ServerProcess) -> None:
    async with (
        player_at(server_process.url, "Anna") as anna,
        player_at(server_process.url, "Bert") as bert,
    ):
        code = await gathered(anna, bert)
        listed = json.loads(await server_process.admin("tables", "--json"))
        (line,) = [line for line in listed if line["code"] == code]
        assert (line["seated"], line["host"]) == (2, "Anna")
        await server_process.admin("close", code, "--yes", "--reason", "Closing time.")
        for each in (anna, bert):
            await each.expect(SeatLost, table=code, reason="Closing time.")
        assert await bert.refused(JoinTable, table=code) == "table_closed"
        # A player of a closed table may join another table.
        await gathered(bert)
        assert code not in await server_process.admin("tables")


async def test_a_banned_player_is_refused_until_unbanned(server_process: ServerProcess) -> None:
    async with (
        player_at(server_process.url, "Cleo") as cleo,
        player_at(server_process.url, "Otto") as otto,
    ):
        await gathered(cleo, otto)
        await server_process.admin("ban", "Otto", "--yes")
        assert await otto.closed() == (BANNED.code, BANNED.reason)
        await seats_become(cleo, 1)
        async with connected_player(server_process.url, "Otto") as again:
            assert await again.refused(Hello, token=otto.token) == "banned"
        await server_process.admin("unban", "Otto")
        async with player_at(server_process.url, "Otto") as back:
            assert back.player == otto.player


async def test_a_renamed_player_has_the_new_name_at_the_table(
    server_process: ServerProcess,
) -> None:
    async with player_at(server_process.url, "Joan") as joan:
        code = await gathered(joan)
        since = len(joan.received.events)
        await server_process.admin("rename", "Joan", "Joanna")
        changed = await joan.expect(TableChanged, since)
        assert [seat.name for seat in changed.table.seats] == ["Joanna"]
        # Joining the table again only returns its state.
        again = await joan.at_table(JoinTable, table=code)
        assert [seat.name for seat in again.table.seats] == ["Joanna"]


async def test_a_forgotten_player_is_removed_from_server_and_table(
    server_process: ServerProcess,
) -> None:
    async with (
        player_at(server_process.url, "Ella") as ella,
        player_at(server_process.url, "Dora") as dora,
    ):
        await gathered(ella, dora)
        await server_process.admin("forget", "Dora", "--yes")
        await dora.closed()
        await seats_become(ella, 1)
        async with connected_player(server_process.url, "Dora") as another:
            another.token = token_of("another Dora")
            assert (await another.hello(name="Doris")).name == "Doris"
        await server_process.admin("rename", "Doris", "Dora")
        async with connected_player(server_process.url, "Doris") as again:
            again.token = token_of("another Dora")
            assert (await again.hello()).name == "Dora"


async def test_every_command_is_in_the_audit_log(server_process: ServerProcess) -> None:
    async with player_at(server_process.url, "Maud"):
        await server_process.admin("rename", "Maud", "Maude")
        await server_process.admin("announce", "hello")
        lines = (await server_process.admin("audit")).splitlines()
    assert [re.split(r"\s{2,}", line)[2] for line in lines[:2]] == ["announce", "rename"]


async def test_the_http_pages_report_the_server(server_process: ServerProcess) -> None:
    assert await server_process.get("/healthz") == (200, {"status": "alive"})
    assert await server_process.get("/readyz") == (200, {"status": "ready"})
    status, board = await server_process.get("/api/leaderboards/canfield?bots=true")
    assert (status, board["rows"], board["bots"]) == (200, [], True)
    status, page = await server_process.get("/api/records/mint-otter-42/1")
    assert (status, page["error"]) == (404, "no_such_table")


async def test_metrics_are_served_on_their_own_port() -> None:
    # this option overrides the kit's own one, which turns metrics off
    async with running_server("--metrics-port", "0", "--log-level", "info") as server_process:
        [opened] = [event for event in server_process.events() if event["event"] == "metrics_open"]
        async with player_at(server_process.url, "Anna") as anna:
            await anna.ask(Heartbeat)
            assert await anna.refused(JoinTable, table="no-such-01") == "no_such_table"
            page = await asyncio.to_thread(
                urlopen, f"http://127.0.0.1:{opened['port']}/metrics", timeout=10
            )
            with page:
                lines = page.read().decode().splitlines()
    assert "saratoga_connections 1.0" in lines
    assert 'saratoga_commands_total{type="hello"} 1.0' in lines
    assert 'saratoga_refusals_total{code="no_such_table"} 1.0' in lines


async def test_a_server_stops_in_order() -> None:
    async with running_server() as server_process, player_at(server_process.url, "Anna") as anna:
        assert await server_process.stop() == 0
        code, _ = await anna.closed()
        assert 4000 <= code < 4500
        events = [event["event"] for event in server_process.events()]
    assert events[-1] == "server_closed"
