"""The life of a connection: its session, its commands in order, floods, closing, and its memory."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

import msgspec
import pytest

from kit.counted import counted
from kit.fake_transport import FakeOwner, open_connection, settle
from kit.gateways import OpenGateway, open_gateway
from kit.messages import BOARD
from kit.players import SocketPlayer, connected_player
from kit.raw_client import frame
from saratoga_protocol.codec import JSON, MAX_COMMAND_BYTES, MSGPACK, SUBPROTOCOLS
from saratoga_protocol.commands import Heartbeat, MakeMove
from saratoga_protocol.events import (
    Announcement,
    BoardChanged,
    Done,
    Event,
    Refused,
)
from saratoga_protocol.refusals import ABUSE, NO_HELLO, RESTARTING
from saratoga_server.live.refusals import refused
from saratoga_server.ports import CommitOutcome, CommitStatus, StoreUnavailable
from saratoga_server.transport.connection import CLOSE_WITHIN, HELLO_WITHIN

# The life of a connection: its session, closing, and freeing its memory


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


def beat(number: int) -> bytes:
    return frame(msgspec.msgpack.encode(Heartbeat(id=number)))


# Sessions


async def test_a_client_that_says_no_hello_in_time_is_disconnected(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.connection.HELLO_WITHIN", 0.0)
    async with connected_player(opened.url, "Anna") as anna:
        assert await anna.closed() == (NO_HELLO.code, NO_HELLO.reason)


async def test_a_client_whose_hello_failed_has_as_long_again() -> None:
    connection, transport = open_connection(FakeOwner())
    assert connection.session is not None
    connection.session.hello_begun = True  # as after a hello that was refused: the store was away
    since = monotonic()
    for periods in (1.5, 3):
        assert transport.written == b""
        connection.check(since + periods * HELLO_WITHIN)
    assert NO_HELLO.reason.encode() in transport.written


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


async def test_a_client_that_is_refused_service_is_not_read_any_more() -> None:
    owner = FakeOwner()
    connection, transport = open_connection(owner)
    connection.data_received(beat(1) + beat(2))
    connection.refuse_service(ABUSE)
    connection.data_received(beat(3))
    await settle()
    assert owner.messages == []
    assert transport.written[2:4] == ABUSE.code.to_bytes(2, "big")


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


# Commands of a connection: decoding, order of the responses, and floods


JUNK: list[tuple[str, bytes | str, str]] = [
    (MSGPACK, b"", "bad_frame"),
    (MSGPACK, msgspec.msgpack.encode({"type": "sing", "id": 3}), "bad_command"),
    (MSGPACK, '{"type": "heartbeat", "id": 3}', "wrong_frame_kind"),
    (JSON, "{", "bad_frame"),
    (JSON, '{"type": "heartbeat", "id": "3"}', "bad_command"),
    (JSON, msgspec.msgpack.encode({"type": "heartbeat", "id": 3}), "wrong_frame_kind"),
]


@pytest.mark.parametrize(("subprotocol", "frame", "code"), JUNK)
async def test_junk_is_refused_by_name_and_the_connection_stays_open(
    opened: OpenGateway, subprotocol: str, frame: bytes | str, code: str
) -> None:
    async with connected_player(opened.url, "Anna", subprotocol=subprotocol) as anna:
        await anna.socket.send(frame)
        answer = await anna.received.next(Refused, 0)
        assert answer.code == code
        assert answer.re in (None, 3)
        assert "Traceback" not in answer.message
        assert len(answer.message) < 300
        assert await anna.ask(Heartbeat) == Done(re=1)
    assert counted(opened.metrics, "refusals_total", code=code) == 1
    assert opened.commands.carried_out == [Heartbeat(id=1)]


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_a_frame_too_long_ends_the_connection_with_a_reason(
    opened: OpenGateway, subprotocol: str
) -> None:
    async with connected_player(opened.url, "Anna", subprotocol=subprotocol) as anna:
        filler = "x" * MAX_COMMAND_BYTES
        await anna.socket.send(filler if subprotocol == JSON else filler.encode())
        assert await anna.received.next(Refused, 0)
        await anna.socket.send(filler + "x" if subprotocol == JSON else filler.encode() + b"x")
        code, reason = await anna.closed()
    assert code == 1009
    assert str(MAX_COMMAND_BYTES) in reason
    await opened.commands.next_ended()


# Order


async def test_a_connections_commands_are_answered_in_order_and_delay_no_other_connection(
    opened: OpenGateway,
) -> None:
    slow = opened.commands.waits[1] = asyncio.Event()
    async with (
        connected_player(opened.url, "Anna") as anna,
        connected_player(opened.url, "Bert") as bert,
    ):
        for number in (1, 2, 3):
            await anna.socket.send(anna.received.codec.encode(Heartbeat(id=number)))
        assert await bert.send(Heartbeat(id=9)) == Done(re=9)
        assert anna.received.events == []
        slow.set()
        await anna.received.next(Event, 0, re=3)
        assert [event.re for event in anna.received.events] == [1, 2, 3]


# Floods


async def test_a_flood_is_slowed_down_and_then_disconnected() -> None:
    async with (
        open_gateway(rate=0.001, burst=5) as opened,
        connected_player(opened.url, "Anna") as anna,
        connected_player(opened.url, "Bert") as bert,
    ):
        for number in range(1, 12):
            await anna.socket.send(anna.received.codec.encode(Heartbeat(id=number)))
        assert await anna.closed() == (ABUSE.code, ABUSE.reason)
        answers = anna.received.events
        assert [event for event in answers if isinstance(event, Done)] == [
            Done(re=number) for number in range(1, 6)
        ]
        slowed = [event for event in answers if isinstance(event, Refused)]
        assert {(each.code, each.retry) for each in slowed} == {("too_fast", True)}
        assert [each.re for each in slowed] == list(range(6, 12))
        assert await bert.ask(Heartbeat) == Done(re=1)


async def test_junk_costs_more_than_sense() -> None:
    async with (
        open_gateway(rate=0.001, burst=12) as opened,
        connected_player(opened.url, "Anna", subprotocol=JSON) as anna,
    ):
        for number in range(3):
            await anna.socket.send("junk")
            while len(anna.received.events) <= number:
                await anna.received.next(Refused, number)
        codes = [event.code for event in anna.received.all(Refused)]
        assert codes == ["bad_frame", "bad_frame", "too_fast"]


# Moves


class FakeMove:
    """A move that waits for the store."""

    def __init__(self, answer: Event | None) -> None:
        self.durable: asyncio.Future[CommitOutcome] = asyncio.get_running_loop().create_future()
        self.answer = answer

    def finish(self) -> Event | None:
        self.durable.exception()
        return self.answer

    async def explain(self) -> Event:
        return refused("stale_move", 1)


MOVE = MakeMove(id=1, race="mint-otter-42/1", after=0, move="draw")
MADE = BoardChanged(re=1, board=BOARD, place=1, entries=["0 1 draw"])


@asynccontextmanager
async def moving(
    move: FakeMove | Event | None,
) -> AsyncIterator[tuple[OpenGateway, SocketPlayer]]:
    """A gateway whose moves all have the result `move`, and a client that sent a move and a command."""
    async with open_gateway() as opened, connected_player(opened.url, "Anna") as anna:
        opened.commands.move = move
        await anna.socket.send(anna.received.codec.encode(MOVE))
        await anna.socket.send(anna.received.codec.encode(Heartbeat(id=2)))
        yield opened, anna


async def test_a_move_is_answered_when_it_is_durable_and_the_next_command_then() -> None:
    move = FakeMove(MADE)
    async with moving(move) as (opened, anna), connected_player(opened.url, "Bert") as bert:
        await bert.ask(Heartbeat)
        assert anna.received.events == []
        move.durable.set_result(CommitOutcome(CommitStatus.DONE))
        await anna.received.next(Done, 0)
        assert anna.received.events == [MADE, Done(re=2)]
        assert counted(opened.metrics, "acknowledgement_seconds_count") == 1


async def test_a_move_that_the_store_did_not_accept_is_explained() -> None:
    move = FakeMove(None)
    async with moving(move) as (opened, anna):
        move.durable.set_exception(StoreUnavailable())
        await anna.received.next(Done, 0)
        assert [type(event) for event in anna.received.events] == [Refused, Done]
        assert anna.received.all(Refused)[0].code == "stale_move"
        assert counted(opened.metrics, "acknowledgement_seconds_count") == 0


async def test_a_move_is_finished_though_its_client_is_gone() -> None:
    move = FakeMove(MADE)
    async with moving(move) as (opened, anna):
        await opened.commands.begun.wait()
        anna.socket.transport.abort()
        await anna.closed()
        assert opened.commands.left.empty()
        move.durable.set_result(CommitOutcome(CommitStatus.DONE))
        await opened.commands.next_ended()
        assert counted(opened.metrics, "acknowledgement_seconds_count") == 1
