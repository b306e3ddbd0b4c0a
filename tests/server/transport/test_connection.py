"""The life of a connection: its session, closing, and freeing its memory."""

import asyncio
import errno
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

import msgspec
import pytest

from kit.fake_transport import FakeOwner, FakeTransport, open_connection, settle
from kit.gateways import OpenGateway, open_gateway
from kit.player_sockets import connected_player
from kit.raw_client import BINARY, CLOSE, RawSocket, frame, raw_socket
from saratoga_protocol.commands import Heartbeat, Hello
from saratoga_protocol.events import Announcement, Done
from saratoga_protocol.refusals import ABUSE, NO_HELLO, RESTARTING, TAKEN_OVER
from saratoga_server.transport.connection import CLOSE_WITHIN, PlayerConnection


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


@asynccontextmanager
async def raw(opened: OpenGateway) -> AsyncIterator[RawSocket]:
    with raw_socket(opened.port, window=None) as socket:
        assert b" 101 " in await socket.shake_hands()
        yield socket


class Unconnected(FakeTransport):
    """A transport whose client has gone without the event loop having noticed, as asyncio's behaves then."""

    def write_eof(self) -> None:
        raise OSError(errno.ENOTCONN, "not connected")


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


# Frames in chunks of any size


async def test_while_one_client_floods_others_are_answered(opened: OpenGateway) -> None:
    numbers = range(1, 2001)
    async with raw(opened) as socket, connected_player(opened.url, "Bert") as bert:
        await bert.ask(Heartbeat)
        answered = asyncio.create_task(all_answered(socket, numbers))
        await socket.say(b"".join(map(beat, numbers)))
        assert await bert.ask(Heartbeat) == Done(re=2)
        assert len(opened.commands.carried_out) < len(numbers)
        assert await answered


async def test_a_client_that_ends_in_mid_frame_is_gone(opened: OpenGateway) -> None:
    async with raw(opened) as socket:
        await socket.say(frame(bytes(4000), BINARY)[:100])
    await opened.commands.next_ended()


# Sessions


async def test_a_client_that_says_no_hello_in_time_is_disconnected(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.connection.HELLO_WITHIN", 0.0)
    async with connected_player(opened.url, "Anna") as anna:
        assert await anna.closed() == (NO_HELLO.code, NO_HELLO.reason)
    assert (await opened.commands.next_ended()).player == ""


async def test_a_client_whose_hello_failed_has_as_long_again(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.connection.HELLO_WITHIN", 0.2)
    async with (
        connected_player(opened.url, "Anna") as anna,
        connected_player(opened.url, "Bert") as bert,
    ):
        await anna.ask(Heartbeat)
        [session] = [each for each in opened.commands.sessions if each.player == ""][:1]
        session.hello_begun = True  # as after a hello that was refused because the store was away
        assert await bert.closed() == (NO_HELLO.code, NO_HELLO.reason)
        assert await anna.ask(Heartbeat) == Done(re=2)
        assert await anna.closed() == (NO_HELLO.code, NO_HELLO.reason)


async def test_a_client_that_said_hello_stays(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.connection.HELLO_WITHIN", 0.2)
    async with (
        connected_player(opened.url, "Anna") as anna,
        connected_player(opened.url, "Bert") as bert,
    ):
        await anna.ask(Hello, token=anna.token)
        assert await bert.closed() == (NO_HELLO.code, NO_HELLO.reason)
        assert await anna.ask(Heartbeat) == Done(re=2)


async def test_the_end_of_a_session_is_reported_once(opened: OpenGateway) -> None:
    async with connected_player(opened.url, "Anna") as anna:
        await anna.ask(Heartbeat)
        anna.socket.transport.abort()
        session = await opened.commands.next_ended()
    assert session is opened.commands.sessions[0]
    assert opened.commands.left.empty()


async def test_a_session_ends_after_its_last_command() -> None:
    owner = FakeOwner()
    owner.answers_at_once = False
    connection, transport = open_connection(owner)
    connection.data_received(beat(1))
    connection.connection_lost(None)
    assert (owner.losses, owner.ends) == (1, [])
    connection.send(b"too late")
    assert transport.written == b""
    connection.answered()
    assert len(owner.ends) == 1


@pytest.mark.parametrize(("player", "code"), [("", NO_HELLO), ("p" * 16, TAKEN_OVER)])
async def test_an_evicted_connection_gets_the_close_code_of_its_reason(
    player: str, code: object
) -> None:
    assert code in (NO_HELLO, TAKEN_OVER)
    connection, transport = open_connection(FakeOwner())
    assert connection.session is not None
    connection.session.player = player
    connection.evict()
    expected = NO_HELLO if code is NO_HELLO else TAKEN_OVER
    assert transport.written[2:4] == expected.code.to_bytes(2, "big")


# Closing


async def test_the_close_reason_follows_all_sent_events(
    opened: OpenGateway,
) -> None:
    async with connected_player(opened.url, "Anna") as anna:
        await anna.ask(Heartbeat)
        (session,) = opened.commands.sessions
        session.send(Announcement(text="a last word"))
        session.connection.close(ABUSE)
        session.connection.close(RESTARTING)
        assert await anna.closed() == (ABUSE.code, ABUSE.reason)
        assert anna.received.all(Announcement) == [Announcement(text="a last word")]


async def test_a_client_that_does_not_answer_a_close_is_cut_off() -> None:
    connection, transport = open_connection(FakeOwner())
    connection.close(RESTARTING)
    await settle()
    now = monotonic()
    connection.check(now)
    assert not transport.closed
    connection.check(now + CLOSE_WITHIN)
    assert transport.closed


async def test_a_client_that_is_gone_when_its_close_is_answered_is_cut_off() -> None:
    connection, transport = open_connection(FakeOwner(), Unconnected())
    connection.data_received(frame(RESTARTING.code.to_bytes(2, "big"), CLOSE))
    await settle()
    assert transport.closed


async def test_a_client_that_is_refused_service_is_not_read_any_more() -> None:
    owner = FakeOwner()
    connection, transport = open_connection(owner)
    connection.data_received(beat(1) + beat(2))
    connection.refuse_service(ABUSE)
    connection.data_received(beat(3))
    await settle()
    assert owner.messages == []
    assert transport.written[2:4] == ABUSE.code.to_bytes(2, "big")


async def test_leaving_waits_for_the_command_under_way_and_begins_no_other() -> None:
    owner = FakeOwner()
    owner.answers_at_once = False
    connection, transport = open_connection(owner)
    connection.data_received(beat(1))
    connection.leave(RESTARTING)
    connection.data_received(beat(2))
    await settle()
    connection.send(b"answer")
    assert transport.written == b"\x82\x06answer"
    connection.answered()
    await settle()
    assert len(owner.messages) == 1
    assert transport.written[10:12] == RESTARTING.code.to_bytes(2, "big")


async def test_a_command_that_waits_for_its_reader_goes_on_when_the_reader_is_gone() -> None:
    connection, _ = open_connection(FakeOwner())
    for goes_on in (connection.resume_writing, lambda: connection.connection_lost(None)):
        connection.pause_writing()
        waiting = asyncio.create_task(connection.drained())
        await settle()
        assert not waiting.done()
        goes_on()
        await waiting
    await connection.drained()


# Memory after the end


@pytest.mark.parametrize("ends", ["cut", "closed", "closed by us"])
async def test_what_has_ended_is_freed_without_a_garbage_collection(
    opened: OpenGateway, ends: str
) -> None:
    gc.disable()
    try:
        async with connected_player(opened.url, "Anna") as anna:
            await anna.ask(Heartbeat)
            connection = opened.commands.connections[0]
            opened.commands.sessions.clear()
            freed = asyncio.Event()
            ended = weakref.ref(connection, lambda _: freed.set())
            if ends == "cut":
                connection.cut()
            elif ends == "closed by us":
                connection.close(RESTARTING)
                await anna.closed()
            del connection
        await opened.commands.next_ended()
        async with asyncio.timeout(5):
            await freed.wait()
        assert ended() is None
    finally:
        gc.enable()


async def test_what_never_was_a_session_is_freed_as_soon(opened: OpenGateway) -> None:
    freed = asyncio.Event()
    gc.disable()
    try:
        async with connected_player(opened.url, "Anna") as anna:
            known = set(opened.gateway.connections)
            with raw_socket(opened.port, window=None):
                await anna.ask(Heartbeat)
                (silent,) = set(opened.gateway.connections) - known
                assert isinstance(silent, PlayerConnection)
                ended = weakref.ref(silent, lambda _: freed.set())
                del silent
            async with asyncio.timeout(5):
                await freed.wait()
            assert ended() is None
    finally:
        gc.enable()
