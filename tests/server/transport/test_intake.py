"""What strangers may send before it is a command: heads, floods of frames, pings and fragments."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
from websockets.asyncio.server import ServerConnection
from websockets.server import ServerProtocol

from kit.hall import OpenGateway, open_gateway
from kit.raw_sockets import (
    BINARY,
    CONTINUATION,
    HEAD,
    PING,
    PONG,
    RawSocket,
    frame,
    raw_socket,
)
from kit.sockets import stranger
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import Done, Refused
from saratoga_protocol.refusals import ABUSE
from saratoga_server.transport.frames import read_whole
from saratoga_server.transport.intake import AT_ONCE, MOST_FRAGMENTS, MOST_HEAD, MOST_UNANSWERED
from saratoga_server.transport.outbox import Outbox


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


@asynccontextmanager
async def raw(opened: OpenGateway) -> AsyncIterator[RawSocket]:
    with raw_socket(port(opened), window=None) as socket:
        assert b" 101 " in await socket.shake_hands()
        yield socket


def port(opened: OpenGateway) -> int:
    return int(opened.url.rpartition(":")[2])


def beat(number: int) -> bytes:
    return frame(msgspec.msgpack.encode(Heartbeat(id=number)))


async def all_answered(socket: RawSocket, numbers: range) -> bool:
    wanted = b"".join(
        bytes((0x82, len(packed))) + packed
        for packed in (msgspec.msgpack.encode(Done(re=number)) for number in numbers)
    )
    found = b""
    while len(found) < len(wanted) and (piece := await socket.read()):
        found += piece
    return found == wanted


# The head


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET / HTTP/1.1\r\n" + b"a: " + b"x" * 9000 + b"\r\n\r\n", b" 431 "),
        (b"GET / HTTP/1.1\r\n" + (b"a: " + b"x" * 4000 + b"\r\n") * 9, b" 431 "),
        (b"GET / HTTP/1.1\r\n" + b"a: x\r\n" * 500, b" 431 "),
        (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n\r\n", b" 414 "),
        (b"x" * (MOST_HEAD - 1) + b"\r\n\r\n", b" 4"),
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
    with raw_socket(port(opened), window=None) as socket:
        await socket.say(head)
        answer = await socket.read_to_the_end()
    assert status in answer.partition(b"\r\n")[0]
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"\r\nConnection: close\r\n" in answer
    assert opened.hall.sessions == []
    async with stranger(opened.url, "Anna") as anna:
        assert await anna.ask(Heartbeat) == Done(re=1)


async def test_a_head_may_come_byte_by_byte(opened: OpenGateway) -> None:
    with raw_socket(port(opened), window=None) as socket:
        for byte in b"GET / HTTP/1.1\r\nHost: house\r\n\r\n":
            await socket.say(bytes((byte,)))
        assert await socket.read_to_the_end()


@pytest.mark.parametrize("pieces", [1, 2, 70])
async def test_what_comes_behind_a_request_does_not_cost_it_its_answer(
    opened: OpenGateway, pieces: int
) -> None:
    refused = b"GET / HTTP/1.1\r\nHost: house\r\n\r\n" + b"no frame at all" * 3
    with raw_socket(port(opened), window=None) as socket:
        step = -(-len(refused) // pieces)
        for at in range(0, len(refused), step):
            await socket.say(refused[at : at + step])
        assert b" 426 " in (await socket.read_to_the_end()).partition(b"\r\n")[0]


async def test_who_stops_in_mid_handshake_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saratoga_server.transport.gateway.OPEN_WITHIN", 0.1)
    async with open_gateway() as opened:
        with raw_socket(port(opened)) as socket:
            await socket.say(b"GET / HTTP/1.1\r\nHost: ")
            assert await socket.read_to_the_end() == b""


# Frames


async def test_many_commands_in_one_piece_are_all_answered_in_order(opened: OpenGateway) -> None:
    numbers = range(1, 1001)
    async with raw(opened) as socket:
        told = asyncio.create_task(all_answered(socket, numbers))
        await socket.say(b"".join(map(beat, numbers)))
        assert await told


async def test_a_command_may_come_in_pieces(opened: OpenGateway) -> None:
    whole = frame(b"\x82\xa4type\xa9heartbeat\xa2id\x07")
    async with raw(opened) as socket:
        for cut in range(1, len(whole), 5):
            await socket.say(whole[:cut])
            await socket.say(whole[cut:])
            assert await all_answered(socket, range(7, 8))


async def test_long_reads_are_taken_apart_and_others_served_in_between(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces: list[int] = []
    async with raw(opened) as socket, stranger(opened.url, "Bert") as bert:
        await bert.ask(Heartbeat)
        receive = ServerConnection.data_received

        def noted(self: ServerConnection, data: bytes) -> None:
            pieces.append(len(data))
            receive(self, data)

        monkeypatch.setattr(ServerConnection, "data_received", noted)
        numbers = range(1, 2001)
        told = asyncio.create_task(all_answered(socket, numbers))
        await socket.say(b"".join(map(beat, numbers)))
        assert await bert.ask(Heartbeat) == Done(re=2)
        assert await told
    assert max(pieces) <= AT_ONCE
    assert sum(pieces) > 10 * AT_ONCE


@pytest.mark.parametrize("opcode", [PING, PONG])
async def test_a_flood_of_pings_is_abuse(
    opened: OpenGateway, opcode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.outbox.CLOSE_WITHIN", 0.1)
    async with raw(opened) as socket:
        await socket.say(frame(b"", opcode) * 500)
        end = await socket.read_to_the_end()
    assert ABUSE.code.to_bytes(2, "big") in end
    assert opened.metrics.limited["commands"] == 1
    await opened.hall.sees_out()


async def test_some_pings_are_answered(opened: OpenGateway) -> None:
    async with raw(opened) as socket:
        for _ in range(3):
            await socket.say(frame(b"here?", PING))
            assert await socket.read(7) == b"\x8a\x05here?"


async def test_a_message_in_more_fragments_than_anybody_needs_is_abuse(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.outbox.CLOSE_WITHIN", 0.1)
    async with raw(opened) as socket:
        await socket.say(frame(b"", BINARY, fin=False))
        await socket.say(frame(b"", CONTINUATION, fin=False) * MOST_FRAGMENTS)
        assert ABUSE.code.to_bytes(2, "big") in await socket.read_to_the_end()


async def test_a_message_in_a_few_fragments_is_read(opened: OpenGateway) -> None:
    packed = msgspec.msgpack.encode(Heartbeat(id=3))
    async with raw(opened) as socket:
        for _ in range(3):
            await socket.say(frame(packed[:1], BINARY, fin=False))
            for byte in packed[1:10]:
                await socket.say(frame(bytes((byte,)), CONTINUATION, fin=False))
            await socket.say(frame(packed[10:], CONTINUATION))
            assert await all_answered(socket, range(3, 4))


async def test_who_ends_in_mid_frame_is_seen_out(opened: OpenGateway) -> None:
    async with raw(opened) as socket:
        await socket.say(frame(bytes(4000), BINARY)[:100])
    await opened.hall.sees_out()


async def test_frames_before_the_door_is_open_make_no_trouble(opened: OpenGateway) -> None:
    with raw_socket(port(opened), window=None) as socket:
        await socket.say(f"{HEAD}\r\n".encode() + frame(b"", PING) + beat(1))
        assert await socket.read()
    async with stranger(opened.url, "Anna") as anna:
        assert await anna.ask(Heartbeat) == Done(re=1)


# Frames that come in pieces


@pytest.mark.parametrize("place", [1, 2, 4, 6, 7, 20, 47])
async def test_the_rest_of_a_frame_is_no_frame_whatever_it_looks_like(
    opened: OpenGateway, place: int
) -> None:
    command = msgspec.msgpack.encode({"type": "x" * 31, "id": 7})
    data = frame(command)
    # under a mask of zeros the payload begins as a whole frame of its own length would
    assert read_whole(data[6:]) is not None
    async with stranger(opened.url, "Anna") as anna:
        line = opened.hall.sessions[0].connection
        assert isinstance(line, Outbox)
        line._connection.data_received(data[:place])
        line._connection.data_received(data[place:])
        await anna.heard.next(Refused, 0, code="bad_command", re=7)
        assert await anna.ask(Heartbeat) == Done(re=anna.last_id)


# The end


@pytest.mark.parametrize("ends", ["cut", "closed"])
async def test_what_has_ended_is_gone_without_a_look_for_garbage(
    opened: OpenGateway, ends: str
) -> None:
    gc.disable()
    try:
        async with stranger(opened.url, "Anna") as anna:
            await anna.ask(Heartbeat)
            line = opened.hall.sessions.pop().connection
            assert isinstance(line, Outbox)
            gone = asyncio.Event()
            ended = weakref.ref(line._connection, lambda _: gone.set())
            if ends == "cut":
                line.cut()
            del line
        await opened.hall.sees_out()
        async with asyncio.timeout(5):
            await gone.wait()
        assert ended() is None
    finally:
        gc.enable()


# Signs of life


async def test_who_answers_pings_stays_however_long(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.intake.PING_EVERY", 0.05)
    monkeypatch.setattr("saratoga_server.transport.gateway.ALIVE_EVERY", 0.01)
    sent = []
    send_ping = ServerProtocol.send_ping

    def noted(protocol: ServerProtocol, data: bytes) -> None:
        sent.append(data)
        send_ping(protocol, data)

    monkeypatch.setattr(ServerProtocol, "send_ping", noted)
    async with stranger(opened.url, "Anna") as anna, asyncio.timeout(10):
        while len(sent) <= 2 * MOST_UNANSWERED:
            assert isinstance(await anna.ask(Heartbeat), Done)


async def test_what_was_said_in_the_handshake_is_forgotten(opened: OpenGateway) -> None:
    async with raw(opened) as socket:
        await socket.say(beat(1))
        assert await all_answered(socket, range(1, 2))
        (intake,) = opened.gateway._porter.intakes
        assert intake.request is not None
        assert list(intake.request.headers.raw_items()) == []
        assert intake.response is None


async def test_who_was_never_let_in_is_gone_as_soon(opened: OpenGateway) -> None:
    gone = asyncio.Event()
    gc.disable()
    try:
        async with stranger(opened.url, "Anna") as anna:
            known = set(opened.gateway._porter.intakes)
            with raw_socket(port(opened), window=None):
                await anna.ask(Heartbeat)
                (silent,) = opened.gateway._porter.intakes - known
                ended = weakref.ref(silent, lambda _: gone.set())
                del silent
            async with asyncio.timeout(5):
                await gone.wait()
            assert ended() is None
    finally:
        gc.enable()
