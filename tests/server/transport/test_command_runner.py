"""Commands of a connection: decoding, order of the responses, and floods."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from kit.gateways import OpenGateway, open_gateway
from kit.messages import BOARD
from kit.player_sockets import SocketPlayer, connected_player
from saratoga_protocol.commands import Heartbeat, MakeMove
from saratoga_protocol.events import (
    Announcement,
    AnyEvent,
    Done,
    Event,
    MoveMade,
    Refused,
)
from saratoga_protocol.refusals import ABUSE
from saratoga_protocol.version import JSON, MAX_COMMAND_BYTES, MSGPACK, SUBPROTOCOLS
from saratoga_server.live.refusals import refused
from saratoga_server.ports import CommitOutcome, CommitStatus, StoreUnavailable
from saratoga_server.rate_limits.rates import COMMANDS_PREPAID, Action, Rate


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


# Decoding


JUNK: list[tuple[str, bytes | str, str]] = [
    (MSGPACK, b"", "bad_frame"),
    (MSGPACK, b"\xc1", "bad_frame"),
    (MSGPACK, b"\x91" * 4000, "bad_command"),
    (MSGPACK, b"\x82\xa2\xff\xfe", "bad_frame"),
    (MSGPACK, msgspec.msgpack.encode(17), "bad_command"),
    (MSGPACK, msgspec.msgpack.encode({"type": "sing", "id": 3}), "bad_command"),
    (MSGPACK, msgspec.msgpack.encode({"type": "heartbeat", "id": 0}), "bad_command"),
    (MSGPACK, msgspec.msgpack.encode({"type": "heartbeat", "id": 2**60}), "bad_command"),
    (MSGPACK, msgspec.msgpack.encode({"type": "heartbeat", "id": 3, "x": 1}), "bad_command"),
    (MSGPACK, '{"type": "heartbeat", "id": 3}', "wrong_frame_kind"),
    (JSON, "", "bad_frame"),
    (JSON, "{", "bad_frame"),
    (JSON, "[" * 5000, "bad_command"),
    (JSON, "[]", "bad_command"),
    (JSON, '{"type": "start", "id": 3, "table": "../../etc"}', "bad_command"),
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
    assert opened.metrics.refusals[code] == 1
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
            await anna.socket.send(anna.received.codec.encode_command(Heartbeat(id=number)))
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
            await anna.socket.send(anna.received.codec.encode_command(Heartbeat(id=number)))
        assert await anna.closed() == (ABUSE.code, ABUSE.reason)
        answers = anna.received.events
        assert [event for event in answers if isinstance(event, Done)] == [
            Done(re=number) for number in range(1, 6)
        ]
        slowed = [event for event in answers if isinstance(event, Refused)]
        assert {(each.code, each.retry) for each in slowed} == {("too_fast", True)}
        assert [each.re for each in slowed] == list(range(6, 12))
        assert await bert.ask(Heartbeat) == Done(re=1)


async def test_clients_that_share_an_address_with_a_flood_are_slowed_down_and_stay_connected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paces = {Action.COMMANDS: Rate(COMMANDS_PREPAID, 1000.0)}
    monkeypatch.setattr("saratoga_server.rate_limits.limiter.PER_ADDRESS", paces)
    async with (
        open_gateway(burst=5, proxies=1) as opened,
        connected_player(opened.url, "Anna") as anna,
        connected_player(opened.url, "Bert") as bert,
    ):
        assert await anna.ask(Heartbeat) == Done(re=1)
        for number in range(1, 21):
            answer = await bert.send(Heartbeat(id=number))
            assert isinstance(answer, Refused)
            assert answer.code == "too_fast"
        assert await anna.ask(Heartbeat) == Done(re=2)


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


# Long answers


async def test_one_long_answer_is_not_too_much(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.gateway.WATCH_EVERY", 0.001)
    async with connected_player(opened.url, "Anna") as anna:
        await anna.ask(Heartbeat)
        (session,) = opened.commands.sessions
        session.send(Announcement(text="x" * 3_000_000))
        (long,) = [await anna.received.next(Announcement, 0)]
        assert len(long.text) == 3_000_000
        assert opened.metrics.slow_clients == 0


# Moves


class FakeMove:
    """A move that waits for the store."""

    def __init__(self, answer: AnyEvent | Exception | None) -> None:
        self.durable: asyncio.Future[CommitOutcome] = asyncio.get_running_loop().create_future()
        self.answer = answer

    def finish(self) -> AnyEvent | None:
        self.durable.exception()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def explain(self) -> AnyEvent:
        return refused("stale_move", 1)


MOVE = MakeMove(id=1, race="mint-otter-42/1", after=0, move="draw")
MADE = MoveMade(re=1, at=0, number=1, board=BOARD)


@asynccontextmanager
async def moving(
    move: FakeMove | AnyEvent | Exception | None,
) -> AsyncIterator[tuple[OpenGateway, SocketPlayer]]:
    """A gateway whose moves all have the result `move`, and a client that sent a move and a command."""
    async with open_gateway() as opened, connected_player(opened.url, "Anna") as anna:
        opened.commands.move = move
        await anna.socket.send(anna.received.codec.encode_command(MOVE))
        await anna.socket.send(anna.received.codec.encode_command(Heartbeat(id=2)))
        yield opened, anna


async def test_a_move_is_answered_when_it_is_durable_and_the_next_command_then() -> None:
    move = FakeMove(MADE)
    async with moving(move) as (opened, anna), connected_player(opened.url, "Bert") as bert:
        await bert.ask(Heartbeat)
        assert anna.received.events == []
        move.durable.set_result(CommitOutcome(CommitStatus.DONE))
        await anna.received.next(Done, 0)
        assert anna.received.events == [MADE, Done(re=2)]
        assert opened.metrics.moves_acknowledged == opened.metrics.acknowledgement.count == 1


async def test_a_move_that_the_store_did_not_accept_is_explained() -> None:
    move = FakeMove(None)
    async with moving(move) as (opened, anna):
        move.durable.set_exception(StoreUnavailable())
        await anna.received.next(Done, 0)
        assert [type(event) for event in anna.received.events] == [Refused, Done]
        assert anna.received.all(Refused)[0].code == "stale_move"
        assert opened.metrics.moves_acknowledged == 0


@pytest.mark.parametrize("move", [refused("illegal_move", 1), None, KeyError("judged")])
async def test_a_move_that_is_not_begun_is_answered(
    move: AnyEvent | Exception | None, caplog: pytest.LogCaptureFixture
) -> None:
    async with moving(move) as (_, anna):
        await anna.received.next(Event, 0, re=2)
        answer = anna.received.events[0]
    if isinstance(move, Exception):
        assert isinstance(answer, Refused)
        assert answer.code == "server_fault"
        assert [record.getMessage() for record in caplog.records] == ["server_fault"]
    else:
        assert answer == (move or Done(re=1))


@pytest.mark.parametrize(
    ("fault", "code"),
    [(KeyError("applied"), "server_fault"), (StoreUnavailable(), "store_unavailable")],
)
async def test_a_fault_in_finishing_a_move_is_answered_and_delays_no_command(
    fault: Exception, code: str
) -> None:
    move = FakeMove(fault)
    async with moving(move) as (opened, anna):
        move.durable.set_result(CommitOutcome(CommitStatus.DONE))
        await anna.received.next(Done, 0)
        answer = anna.received.all(Refused)[0]
        assert (answer.re, answer.code) == (1, code)
        assert opened.metrics.store_errors == (code == "store_unavailable")


NOT_ENCODABLE = MoveMade(re=2**70, at=0, number=1, board=BOARD)


async def test_an_answer_that_cannot_be_encoded_is_a_fault_and_delays_no_command() -> None:
    move = FakeMove(NOT_ENCODABLE)
    async with moving(move) as (opened, anna):
        move.durable.set_result(CommitOutcome(CommitStatus.DONE))
        await anna.received.next(Done, 0)
        opened.commands.move = NOT_ENCODABLE
        await anna.socket.send(anna.received.codec.encode_command(MOVE))
        assert await anna.send(Heartbeat(id=4)) == Done(re=4)
        faults = anna.received.all(Refused)
    assert [(each.re, each.code) for each in faults] == [(1, "server_fault")] * 2
    assert opened.metrics.refusals["server_fault"] == 2


async def test_a_move_is_finished_though_its_client_is_gone() -> None:
    move = FakeMove(MADE)
    async with moving(move) as (opened, anna):
        await opened.commands.begun.wait()
        anna.socket.transport.abort()
        await anna.closed()
        assert opened.commands.left.empty()
        move.durable.set_result(CommitOutcome(CommitStatus.DONE))
        await opened.commands.next_ended()
        assert opened.metrics.moves_acknowledged == 1
