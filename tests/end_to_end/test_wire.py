"""A real server answers every kind of bad frame, or closes the connection with a reason."""

import json
from collections.abc import AsyncIterator
from typing import Any

import msgpack
import pytest
import pytest_asyncio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from kit.server_process import running_server
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import ServerClosed
from saratoga_protocol.refusals import REASONS
from saratoga_protocol.version import JSON, MAX_COMMAND_BYTES, MSGPACK

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def url() -> AsyncIterator[str]:
    async with running_server() as server_process:
        yield server_process.url


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
        assert (code, re, message) == ("bad_command", 3, "$.token: Expected str, got int.")
        hello = {"type": "hello", "id": 3, "token": new_token()}
        assert (await answer(socket, hello))["type"] == "welcome"


async def test_text_frames_get_the_same_answers(url: str) -> None:
    async with dial(url, JSON) as socket:
        assert (await refusal(socket, "{"))[:2] == ("bad_frame", None)
        assert (await refusal(socket, b"{}"))[:2] == ("wrong_frame_kind", None)
        code, re, message = await refusal(socket, {"type": "fly", "id": 8})
        assert (code, re, message) == ("bad_command", 8, "$.type: Invalid value 'fly'.")


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
