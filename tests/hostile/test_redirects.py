"""A server that redirects the opening request, or takes a seat away in the read that gives it: the client stays and says why.

A followed redirect would hand the player's token for this server to another one.
"""

import ast
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

import saratoga_client
from kit.client_servers import PLAYER, TOKEN, ScriptedServer, scripted_server, snapshot
from kit.session_states import CODE
from saratoga_client.bots.choose import CHOOSERS
from saratoga_client.bots.player import stay, steady_pace
from saratoga_client.local.paths import HOME_VARIABLE
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import Redirected
from saratoga_client.net.timing import Backoff
from saratoga_client.problems import Problem
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.table_session import TableSession
from saratoga_protocol.events import Refused, Seat, SeatLost, Snapshot

AT_ONCE = Backoff(first=0.0, largest=0.0, shortest=0.0)


def redirect(server: ScriptedServer, location: str) -> list[Request]:
    """Let a server redirect every opening request from now on; return a list of those that will come."""
    asked: list[Request] = []

    def answer(request: Request) -> Response:
        asked.append(request)
        return Response(302, "Found", Headers({"Location": location, "Content-Length": "0"}))

    server.pages = answer
    return asked


@asynccontextmanager
async def waiting_thief() -> AsyncIterator[tuple[str, list[bytes]]]:
    """Listen on a port; yield its address, and all that anybody has sent there."""
    received: list[bytes] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read(1))
        writer.close()

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", received


async def play(server: str) -> None:
    async with open_connection(server, token=TOKEN):
        pass


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_no_redirect_to_another_server_is_followed(scheme: str) -> None:
    async with waiting_thief() as (thief, received), scripted_server() as server:
        asked = redirect(server, f"{scheme}://{thief}/")
        with pytest.raises(Problem) as problem:
            await play(server.url)
    assert received == []
    assert len(asked) == 1
    assert problem.value.what == f"The server at {server.url} sends you to ws://{thief}."
    assert f"saratoga join ws://{thief}/CODE" in problem.value.remedy


async def test_no_redirect_to_another_page_of_the_same_server_is_followed() -> None:
    async with scripted_server() as server:
        asked = redirect(server, "/other")
        with pytest.raises(Problem, match=f"sends you to {server.url}/other"):
            await play(server.url)
    assert len(asked) == 1


async def test_a_lost_connection_is_not_continued_where_a_redirect_points() -> None:
    async with (
        waiting_thief() as (thief, received),
        scripted_server() as server,
        Connection(server.url, TOKEN, backoff=AT_ONCE) as client,
    ):
        redirect(server, f"ws://{thief}/")
        (await server.peer()).cut()
        with pytest.raises(Redirected, match=thief):
            async for _event in client.events():
                pass
    assert received == []


def test_every_command_connects_through_the_one_module_that_follows_no_redirect() -> None:
    package = Path(saratoga_client.__file__).parent
    importing = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("websockets.")
        and any(alias.name in {"connect", "client", "ClientProtocol"} for alias in node.names)
    }
    assert importing == {"net/websocket.py"}


LOST = SeatLost(table=CODE, reason="The host has kicked you.")
WITHIN = 10.0


def seated(answer: Snapshot, player: str = PLAYER) -> Snapshot:
    seats = [Seat(player=player, name="Anna")]
    return replace(answer, table=replace(answer.table, seats=seats))


async def test_a_seat_lost_before_a_new_one_at_the_same_table_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    async with scripted_server() as server, Connection(server.url, TOKEN) as connection:
        peer = await server.peer()
        session = TableSession(connection)
        joining = asyncio.ensure_future(session.sit_down(CODE))
        join = await peer.command()
        peer.send_together(LOST, seated(snapshot(re=join.id)))
        await joining
        attending = asyncio.ensure_future(session.attend())
        state = await session.until(lambda state: state.seat is not None)
        assert state.seat_lost == ""
        await connection.close()
        await attending


async def test_a_bot_without_its_seat_is_not_stopped_by_the_refusal_of_its_ready_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    async with scripted_server() as server, Connection(server.url, TOKEN) as connection:
        peer = await server.peer()
        session = TableSession(connection)
        entering = asyncio.ensure_future(session.sit_down(CODE))
        join = await peer.command()
        await peer.send(seated(snapshot(re=join.id)))
        await entering
        playing = asyncio.ensure_future(stay(session, CHOOSERS["weak"], steady_pace(0), races=1))
        ready = await peer.command()
        await peer.send(LOST, Refused(re=ready.id, code="not_seated", message="You have no seat."))
        with pytest.raises(Problem, match="kicked"):
            async with asyncio.timeout(WITHIN):
                await playing
