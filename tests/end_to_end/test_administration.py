"""Administrators' commands take effect at once on a running server, and it answers every bad frame or closes with a reason."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.request import urlopen

import msgpack
import pytest
import pytest_asyncio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from kit.in_process_server import gathered
from kit.player_sockets import SocketPlayer, connected_player, player_at
from kit.players import token_of
from kit.server_process import ServerProcess, running_server
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import ServerClosed
from saratoga_protocol.codec import JSON, MAX_COMMAND_BYTES, MSGPACK
from saratoga_protocol.commands import Heartbeat, Hello, JoinTable
from saratoga_protocol.events import Announcement, SeatLost, TableChanged
from saratoga_protocol.refusals import BANNED, REASONS

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


@pytest.fixture
def url(server_process: ServerProcess) -> str:
    return server_process.url


def dial(url: str, *subprotocols: str) -> connect:
    return connect(url, subprotocols=[Subprotocol(name) for name in subprotocols], compression=None)


async def answer(socket: ClientConnection, frame: Any) -> dict[str, Any]:
    """Send a frame, or a command as a map; return the response."""
    is_packed = socket.subprotocol == MSGPACK
    if isinstance(frame, dict):
        frame = msgpack.packb(frame) if is_packed else json.dumps(frame)
    await socket.send(frame)
    while True:
        said = await socket.recv()
        event: dict[str, Any] = msgpack.unpackb(said) if is_packed else json.loads(said)
        if event["type"] != "alive":
            return event


async def refusal(socket: ClientConnection, frame: Any) -> tuple[str, int | None, str]:
    event = await answer(socket, frame)
    assert event["type"] == "refused"
    assert event["code"] in REASONS
    return event["code"], event.get("re"), event["message"]


async def test_undecodable_frames_are_answered_and_the_connection_stays_open(url: str) -> None:
    async with dial(url, MSGPACK) as socket:
        code, re, _ = await refusal(socket, b"\xc1")
        assert (code, re) == ("bad_frame", None)
        code, re, _ = await refusal(socket, "text")
        assert (code, re) == ("wrong_frame_kind", None)
        code, re, message = await refusal(socket, {"type": "hello", "id": 3, "token": 4})
        assert (code, re, message) == (
            "bad_command",
            3,
            "Expected `str`, got `int` - at `$.token`.",
        )
        hello = {"type": "hello", "id": 3, "token": new_token()}
        assert (await answer(socket, hello))["type"] == "welcome"


async def test_text_frames_get_the_same_answers(url: str) -> None:
    async with dial(url, JSON) as socket:
        assert (await refusal(socket, "{"))[:2] == ("bad_frame", None)
        assert (await refusal(socket, b"{}"))[:2] == ("wrong_frame_kind", None)
        code, re, message = await refusal(socket, {"type": "fly", "id": 8})
        assert (code, re, message) == ("bad_command", 8, "Invalid value 'fly' - at `$.type`.")


async def test_hello_must_come_first_and_only_once(url: str) -> None:
    async with dial(url, MSGPACK) as socket:
        assert (await refusal(socket, {"type": "list_tables", "id": 2}))[:2] == ("hello_first", 2)
        hello = {"type": "hello", "id": 1, "token": new_token()}
        assert (await answer(socket, hello))["type"] == "welcome"
        assert (await refusal(socket, hello))[:2] == ("hello_twice", 1)


async def test_the_refusal_names_the_bad_field(url: str) -> None:
    async with dial(url, MSGPACK) as socket:
        await answer(socket, {"type": "hello", "id": 1, "token": new_token()})
        table = {"type": "create_table", "id": 2, "game": "canfield"}
        assert (await refusal(socket, table))[0] == "name_needed"
        await answer(socket, {"type": "claim_name", "id": 3, "name": "Wilhelmina"})
        for command, code in (
            ({"type": "create_table", "game": "freecell"}, "no_such_game"),
            ({"type": "create_table", "game": "canfield", "cap": 4}, "bad_settings"),
            ({"type": "join_table", "table": "mint-otter-42"}, "no_such_table"),
            ({"type": "get_record", "race": "mint-otter-42/1"}, "no_such_table"),
            ({"type": "get_leaderboard", "game": "freecell"}, "no_such_leaderboard"),
            ({"type": "move", "race": "mint-otter-42/1", "after": 0, "move": "draw"}, "not_seated"),
        ):
            assert (await refusal(socket, {"id": 4, **command}))[:2] == (code, 4)


async def test_a_frame_that_is_too_long_closes_the_connection_with_a_reason(url: str) -> None:
    async with dial(url, MSGPACK) as socket:
        await socket.send(b"x" * (MAX_COMMAND_BYTES + 1))
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        assert str(MAX_COMMAND_BYTES) in closed.value.rcvd.reason


@pytest.mark.parametrize("offered", [[], ["saratoga.v9.msgpack"]])
async def test_another_protocol_version_is_refused(url: str, offered: list[str]) -> None:
    with pytest.raises(InvalidStatus):
        async with dial(url, *offered):
            pass


async def test_a_client_of_another_version_gets_a_message(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Connection(url, new_token())
    monkeypatch.setattr("saratoga_client.net.websocket.Subprotocol", lambda name: f"{name}.later")
    with pytest.raises(ServerClosed) as closed:
        async with client:
            pass
    assert closed.value.is_of_another_version
