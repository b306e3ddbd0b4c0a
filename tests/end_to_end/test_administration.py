"""Administrators' commands take effect at once on a running server and its players."""

import asyncio
import contextlib
import json
import re
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any
from urllib.request import urlopen

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from kit.server_process import ServerProcess, running_server
from saratoga_protocol.refusals import BANNED
from saratoga_protocol.version import JSON

RECEIVED_WITHIN = 20.0
"""Longest time in seconds to wait for an event; a bound that no test should reach."""


class JsonPlayer:
    """A player that sends and receives plain JSON."""

    def __init__(self, socket: ClientConnection, token: str) -> None:
        self.socket = socket
        self.token = token
        self.ids = count(1)

    async def say(self, kind: str, **fields: object) -> dict[str, Any]:
        """Send a command; return the response."""
        number = next(self.ids)
        await self.socket.send(json.dumps({"type": kind, "id": number, **fields}))
        return await self.hear(re=number)

    async def hear(self, **wanted: object) -> dict[str, Any]:
        """Wait for the next event with these fields."""
        async with asyncio.timeout(RECEIVED_WITHIN):
            while True:
                event: dict[str, Any] = json.loads(await self.socket.recv())
                if all(event.get(name) == value for name, value in wanted.items()):
                    return event

    async def closed(self) -> int:
        """Wait until the server closes the connection; return the close code."""
        async with asyncio.timeout(RECEIVED_WITHIN):
            async for _ in self.unheard():
                pass
        assert self.socket.close_code is not None
        return self.socket.close_code

    async def unheard(self) -> AsyncIterator[str | bytes]:
        """Return all events until the connection ends."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                yield await self.socket.recv()


@asynccontextmanager
async def json_player(
    server_process: ServerProcess, name: str, token: str = ""
) -> AsyncIterator[JsonPlayer]:
    token = token or secrets.token_hex(32)
    async with connect(
        server_process.url, subprotocols=[Subprotocol(JSON)], compression=None
    ) as socket:
        arrived = JsonPlayer(socket, token)
        welcome = await arrived.say("hello", token=token, name=name)
        arrived.ids = count(max(2, welcome.get("next_id", 2)))
        yield arrived


async def run_admin(server_process: ServerProcess, *words: str) -> str:
    """Run `saratoga-server admin`; return its output."""
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "saratoga_server",
            "--data",
            str(server_process.data),
            "admin",
            *words,
        ),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def test_an_announcement_reaches_every_player(server_process: ServerProcess) -> None:
    async with (
        json_player(server_process, "Anna") as anna,
        json_player(server_process, "Bert") as bert,
    ):
        assert (
            await run_admin(server_process, "announce", "The server restarts at ten.")
            == "Sent to the players on 1 server.\n"
        )
        for each in (anna, bert):
            heard = await each.hear(type="announcement")
            assert heard["text"] == "The server restarts at ten."


async def test_the_players_of_a_closed_table_are_notified(server_process: ServerProcess) -> None:
    async with (
        json_player(server_process, "Anna") as anna,
        json_player(server_process, "Bert") as bert,
    ):
        code = (await anna.say("create_table", game="canfield"))["table"]["code"]
        await bert.say("join_table", table=code)
        listed = json.loads(await run_admin(server_process, "tables", "--json"))
        assert [(line["code"], line["seated"], line["host"]) for line in listed] == [
            (code, 2, "Anna")
        ]
        await run_admin(server_process, "close", code, "--yes", "--reason", "Closing time.")
        for each in (anna, bert):
            lost = await each.hear(type="seat_lost")
            assert (lost["table"], lost["reason"]) == (code, "Closing time.")
        assert (await bert.say("join_table", table=code))["code"] == "table_closed"
        # A player of a closed table may join another table.
        assert (await bert.say("create_table", game="canfield"))["type"] == "snapshot"
        assert code not in await run_admin(server_process, "tables")


async def test_a_banned_player_is_refused_until_unbanned(server_process: ServerProcess) -> None:
    async with (
        json_player(server_process, "Anna") as anna,
        json_player(server_process, "Bert") as bert,
    ):
        code = (await anna.say("create_table", game="canfield"))["table"]["code"]
        await bert.say("join_table", table=code)
        await run_admin(server_process, "ban", "Bert", "--yes")
        assert await bert.closed() == BANNED.code
        while len((await anna.hear(type="table_changed"))["table"]["seats"]) != 1:
            pass
        async with connect(server_process.url, subprotocols=[Subprotocol(JSON)]) as socket:
            again = JsonPlayer(socket, bert.token)
            assert (await again.say("hello", token=bert.token))["code"] == "banned"
        await run_admin(server_process, "unban", "Bert")
        async with json_player(server_process, "Bert", bert.token) as back:
            assert (await back.say("heartbeat"))["type"] == "alive"


async def test_a_renamed_player_has_the_new_name_at_the_table(
    server_process: ServerProcess,
) -> None:
    async with json_player(server_process, "Anna") as anna:
        code = (await anna.say("create_table", game="canfield"))["table"]["code"]
        await run_admin(server_process, "rename", "Anna", "Annabel")
        changed = await anna.hear(type="table_changed")
        assert [seat["name"] for seat in changed["table"]["seats"]] == ["Annabel"]
        # Joining the table again only returns its state.
        again = await anna.say("join_table", table=code)
        assert [seat["name"] for seat in again["table"]["seats"]] == ["Annabel"]


async def test_a_forgotten_player_is_removed_from_server_and_table(
    server_process: ServerProcess,
) -> None:
    async with (
        json_player(server_process, "Anna") as anna,
        json_player(server_process, "Bert") as bert,
    ):
        code = (await anna.say("create_table", game="canfield"))["table"]["code"]
        await bert.say("join_table", table=code)
        await run_admin(server_process, "forget", "Bert", "--yes")
        await bert.closed()
        while len((await anna.hear(type="table_changed"))["table"]["seats"]) != 1:
            pass
        async with json_player(server_process, "Bert") as another:
            assert another.token != bert.token


async def test_every_command_is_in_the_audit_log(server_process: ServerProcess) -> None:
    async with json_player(server_process, "Anna"):
        await run_admin(server_process, "rename", "Anna", "Annabel")
        await run_admin(server_process, "announce", "hello")
        lines = (await run_admin(server_process, "audit")).splitlines()
    assert [re.split(r"\s{2,}", line)[2] for line in lines] == ["announce", "rename"]


async def test_the_http_pages_report_the_server(server_process: ServerProcess) -> None:
    assert await server_process.get("/healthz") == (200, {"status": "alive"})
    assert await server_process.get("/readyz") == (200, {"status": "ready"})
    status, board = await server_process.get("/leaderboards/canfield?bots=true")
    assert (status, board["rows"], board["bots"]) == (200, [], True)
    status, page = await server_process.get("/records/mint-otter-42/1")
    assert (status, page["error"]) == (404, "no_such_table")


async def test_metrics_are_served_on_their_own_port() -> None:
    # this option overrides the kit's own one, which turns metrics off
    async with running_server("--metrics-port", "0", "--log-level", "info") as server_process:
        [opened] = [event for event in server_process.events() if event["event"] == "metrics_open"]
        async with json_player(server_process, "Anna") as anna:
            await anna.say("heartbeat")
            await anna.say("join_table", table="no-such-01")
            page = await asyncio.to_thread(
                urlopen, f"http://127.0.0.1:{opened['port']}/metrics", timeout=10
            )
            with page:
                lines = page.read().decode().splitlines()
    assert "saratoga_connections 1.0" in lines
    assert 'saratoga_commands_total{type="hello"} 1.0' in lines
    assert 'saratoga_refusals_total{code="no_such_table"} 1.0' in lines


async def test_a_server_stops_in_order(server_process: ServerProcess) -> None:
    async with json_player(server_process, "Anna") as anna:
        assert await server_process.stop() == 0
        assert 4000 <= await anna.closed() < 4500
    events = [event["event"] for event in server_process.events()]
    assert events[-1] == "server_closed"
