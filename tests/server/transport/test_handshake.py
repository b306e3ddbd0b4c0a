"""The first request of a connection: bounded in size, answered once, then freed."""

import gc
from collections.abc import AsyncIterator

import msgspec
import pytest
from websockets.http11 import Request

from kit.gateways import OpenGateway, open_gateway
from kit.player_sockets import connected_player
from kit.raw_client import PING, frame, handshake, raw_socket
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import Done
from saratoga_server.transport.handshake import MOST_HEAD


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET / HTTP/1.1\r\n" + b"a: " + b"x" * 9000 + b"\r\n\r\n", b" 431 "),
        (b"GET / HTTP/1.1\r\n" + (b"a: " + b"x" * 4000 + b"\r\n") * 9, b" 431 "),
        (b"GET / HTTP/1.1\r\n" + b"a: x\r\n" * 500 + b"\r\n", b" 431 "),
        (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n\r\n", b" 414 "),
        (b"x" * (MOST_HEAD - 1) + b"\r\n\r\n", b" 431 "),
        (b"x" * (MOST_HEAD + 1), b" 431 "),
        (b"GET / HTTP/1.1\r\nContent-Length: 2\r\n\r\nab", b" 400 "),
        (b"POST / HTTP/1.1\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5000, b" 400 "),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b" 400 "),
        (b"GET /\xff HTTP/1.1\r\n\r\n", b" 400 "),
        (b"GET / HTTP/1.1\r\na: \x01\r\n\r\n", b" 400 "),
        (b"GET / HTTP/9.9\r\n\r\n", b" 400 "),
        (b"\r\n\r\n", b" 400 "),
    ],
)
async def test_a_head_of_any_shape_has_its_bounds_and_one_answer(
    opened: OpenGateway, head: bytes, status: bytes
) -> None:
    with raw_socket(opened.port, window=None) as socket:
        await socket.say(head)
        answer = await socket.read_to_the_end()
    assert status in answer.partition(b"\r\n")[0]
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"\r\nConnection: close\r\n" in answer
    assert opened.commands.sessions == []
    async with connected_player(opened.url, "Anna") as anna:
        assert await anna.ask(Heartbeat) == Done(re=1)


async def test_a_head_may_come_byte_by_byte(opened: OpenGateway) -> None:
    with raw_socket(opened.port, window=None) as socket:
        for byte in b"GET / HTTP/1.1\r\nHost: server\r\n\r\n":
            await socket.say(bytes((byte,)))
        assert b" 404 " in await socket.read_to_the_end()


@pytest.mark.parametrize("pieces", [1, 2, 70])
async def test_what_comes_behind_a_request_does_not_cost_it_its_answer(
    opened: OpenGateway, pieces: int
) -> None:
    refused = b"GET / HTTP/1.1\r\nHost: server\r\n\r\n" + b"no frame at all" * 3
    with raw_socket(opened.port, window=None) as socket:
        step = -(-len(refused) // pieces)
        for at in range(0, len(refused), step):
            await socket.say(refused[at : at + step])
        assert b" 404 " in (await socket.read_to_the_end()).partition(b"\r\n")[0]


async def test_frames_that_come_with_the_handshake_are_read_after_it(opened: OpenGateway) -> None:
    command = frame(msgspec.msgpack.encode(Heartbeat(id=1)))
    with raw_socket(opened.port, window=None) as socket:
        await socket.say(handshake() + frame(b"", PING) + command)
        answer = b""
        while not answer.endswith(msgspec.msgpack.encode(Done(re=1))):
            answer += await socket.read()
    head, _, frames = answer.partition(b"\r\n\r\n")
    assert b" 101 " in head
    assert frames.startswith(b"\x8a\x00")


async def test_a_client_that_stops_in_the_handshake_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("saratoga_server.transport.connection.OPEN_WITHIN", 0.1)
    async with open_gateway() as opened:
        with raw_socket(opened.port) as socket:
            await socket.say(b"GET / HTTP/1.1\r\nHost: ")
            assert await socket.read_to_the_end() == b""


async def test_a_client_that_does_not_hang_up_after_its_answer_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("saratoga_server.transport.connection.READ_WITHIN", 0.1)
    async with open_gateway() as opened:
        with raw_socket(opened.port) as socket:
            await socket.say(b"GET / HTTP/1.1\r\n\r\n")
            assert b" 404 " in await socket.read_to_the_end()
            while opened.gateway.connections:
                await socket.read()


def requests_in_memory() -> list[Request]:
    """Return every request of a handshake that is not garbage."""
    gc.collect()
    found = [each for each in gc.get_objects() if isinstance(each, Request)]
    return [each for each in found if "Sec-WebSocket-Key" in each.headers]


async def test_what_was_sent_in_the_handshake_is_forgotten(opened: OpenGateway) -> None:
    of_earlier_tests = {id(each): each for each in requests_in_memory()}
    async with connected_player(opened.url, "Anna") as anna:
        await anna.ask(Heartbeat)
        kept = [each for each in requests_in_memory() if id(each) not in of_earlier_tests]
        assert all(each is anna.socket.request for each in kept)
