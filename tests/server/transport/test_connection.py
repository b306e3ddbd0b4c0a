"""The life of a connection: its session, its commands in order, floods, slow readers, pings, draining, its memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic
from typing import Literal

import msgspec
import pytest
from websockets.asyncio.client import connect

from kit.gateways import (
    PONG,
    FakeOwner,
    OpenGateway,
    RawSocket,
    frame,
    open_connection,
    open_gateway,
    raw_socket,
    settle,
)
from kit.in_process_server import counted
from kit.messages import EVENTS
from kit.players import SocketPlayer, connected_player
from saratoga_protocol.codec import JSON
from saratoga_protocol.commands import GetRecord, Heartbeat, MakeMove
from saratoga_protocol.events import Alive, Announcement, Done, Event, Record, Refused
from saratoga_protocol.refusals import ABUSE, NO_HELLO, RESTARTING, TOO_SLOW, CloseCode
from saratoga_server.live.refusals import refused
from saratoga_server.ports import CommitOutcome, CommitStatus, StoreUnavailable
from saratoga_server.transport.connection import (
    CLOSE_WITHIN,
    HELLO_WITHIN,
    LONGEST_UNREAD,
    MOST_UNANSWERED,
    MOST_UNREAD,
    PING_EVERY,
    SEND_BUFFER,
    PlayerConnection,
)
from saratoga_server.transport.http_responses import LONG, WAIT, ResponseBudget

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


# Commands of a connection: decoding, order of the responses, and floods


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
MADE = msgspec.structs.replace(EVENTS["board"], re=1)


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


# Pings


async def test_a_client_is_sent_signs_of_life(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.connection.ALIVE_EVERY", 0.0)
    async with connected_player(opened.url, "Anna") as anna:
        await anna.expect(Alive)


@pytest.mark.parametrize(("is_answered", "sent"), [(True, 4), (False, MOST_UNANSWERED)])
async def test_a_peer_stays_only_if_it_answers_pings(is_answered: bool, sent: int) -> None:
    connection, transport = open_connection(FakeOwner())
    for turn in range(4):
        connection.keep_alive(b"alive", 1e9 + turn * 2 * PING_EVERY)
        # a pong for another ping does not count
        connection.data_received(frame(transport.written[-4:] if is_answered else b"other", PONG))
        await settle()
    assert transport.written.count(b"\x89\x04") == sent
    assert connection.is_open is is_answered


async def test_a_ping_waits_until_the_command_under_way_is_answered() -> None:
    owner = FakeOwner()
    owner.answers_at_once = False
    connection, transport = open_connection(owner)
    connection.data_received(frame(b"draw"))
    far = 1e9
    for turn in range(10):
        connection.keep_alive(b"alive", far + turn * 2 * PING_EVERY)
    assert b"\x89" not in transport.written
    connection.answered()
    for turn in range(10, 13):
        connection.keep_alive(b"alive", far + turn * 2 * PING_EVERY)
    await settle()
    assert transport.written.count(b"\x89\x04") == MOST_UNANSWERED
    assert TOO_SLOW.code.to_bytes(2, "big") in transport.written


# Draining


GOODBYE = (RESTARTING.code, RESTARTING.reason)


async def test_racers_leave_first_table_by_table_and_watchers_last(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[str | None] = []
    leave = PlayerConnection.leave

    def noted(connection: PlayerConnection, code: CloseCode) -> None:
        assert connection.session is not None
        left.append(connection.session.seat)
        leave(connection, code)

    monkeypatch.setattr(PlayerConnection, "leave", noted)
    monkeypatch.setattr("saratoga_server.transport.gateway.BATCH", 2)
    async with AsyncExitStack() as players:
        for number in range(5):
            player = connected_player(opened.url, f"Player {number}")
            await (await players.enter_async_context(player)).ask(Heartbeat)
        seats = [None, "waits-01", "races-02", "races-01", "races-02"]
        for session, seat in zip(opened.commands.sessions, seats, strict=True):
            session.seat = seat
        await opened.gateway.drain(is_racing=lambda session: "races" in (session.seat or ""))
    assert left == ["races-01", "races-02", "races-02", "waits-01", None]


class Held(asyncio.Event):
    """An event that holds a response back, and shows that the command waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()

    async def wait(self) -> Literal[True]:
        self.begun.set()
        return await super().wait()


async def under_way(opened: OpenGateway, player: SocketPlayer) -> Held:
    """Hold back the response to the player's command 7 until the event is set."""
    held = opened.commands.waits[7] = Held()
    await say(player, 7)
    async with asyncio.timeout(10):
        await held.begun.wait()
    return held


async def say(player: SocketPlayer, number: int) -> None:
    await player.socket.send(player.received.codec.encode(Heartbeat(id=number)))


async def test_a_command_under_way_is_answered_before_the_close(opened: OpenGateway) -> None:
    async with (
        connected_player(opened.url, "Anna") as anna,
        connected_player(opened.url, "Bert") as bert,
    ):
        slow = await under_way(opened, anna)
        await bert.ask(Heartbeat)
        leaving = asyncio.create_task(opened.gateway.drain())
        assert await bert.closed() == GOODBYE
        assert not leaving.done()
        # commands that arrive now are for another node
        await say(anna, 8)
        slow.set()
        assert await anna.closed() == GOODBYE
        assert anna.received.all(Done) == [Done(re=7)]
        await leaving
    assert [command.id for command in opened.commands.carried_out] == [1, 7]


async def test_clients_are_served_until_they_are_closed_and_no_other_is_let_in(
    opened: OpenGateway,
) -> None:
    async with connected_player(opened.url, "Anna") as anna:
        await anna.ask(Heartbeat)
        opened.gateway.stop_listening()
        assert await anna.ask(Heartbeat) == Done(re=2)
        with pytest.raises(OSError, match="Connect call failed"):
            await connect(opened.url)


async def test_a_client_that_does_not_leave_is_cut(opened: OpenGateway) -> None:
    async with connected_player(opened.url, "Anna") as anna:
        slow = await under_way(opened, anna)
        leaving = asyncio.create_task(opened.gateway.drain())
        opened.gateway.cut()
        assert await anna.closed() == (1006, "")
        slow.set()
        async with asyncio.timeout(10):
            await leaving


# Slow readers: the number of their unread bytes must decrease


@pytest.mark.parametrize(
    ("waiting", "cut_at"),
    [
        ([90, 80, 80, 70, 90, 60, 60, 50], None),
        ([50, 50, 50, 50], 3),
        ([10, 20, 30, 40], 3),
        ([0, 0, 1, 1, 1, 1], 5),
        # a pause begins anew after every byte read
        ([50, 50, 50, 49, 49, 49, 49], 6),
    ],
)
async def test_a_client_that_reads_nothing_for_too_long_has_stopped(
    waiting: list[int], cut_at: int | None
) -> None:
    """The client is looked at twice in the allowed time; `waiting` is how many bytes are unread then."""
    owner = FakeOwner()
    connection, transport = open_connection(owner)
    now = int(monotonic())  # whole seconds, so that the sums are exact
    cut = []
    for number, waits in enumerate(waiting):
        transport.held = waits
        connection.check(now + number * LONGEST_UNREAD / 2)
        cut += [number] if owner.slow_readers else []
    assert cut[:1] == ([] if cut_at is None else [cut_at])


# The unread output of a client is bounded; a client that does not read is disconnected


async def test_one_answer_may_be_longer_than_all_that_may_wait() -> None:
    owner = FakeOwner()
    connection, transport = open_connection(owner)
    connection.send(bytes(3 * MOST_UNREAD))
    # after a read the bound is the same as before
    for held in (4 * MOST_UNREAD, 1, MOST_UNREAD):
        transport.held = held
        connection.send(b"x")
        assert not transport.closed
    transport.held = MOST_UNREAD + 1
    connection.send(b"x")
    assert (transport.closed, owner.slow_readers) == (True, 1)


# The response budget: long responses share a bounded number of bytes


RACE = "mint-otter-42/1"
LENGTH = 8 * SEND_BUFFER
"""The length in characters of a record, which exceeds the kernel buffer of a client that reads nothing."""


def test_long_answers_have_a_bound_together() -> None:
    budget = ResponseBudget(most=3 * LONG)
    assert budget.has_room(2 * LONG)
    assert not budget.has_room(2 * LONG)
    assert budget.has_room(LONG)  # short enough for every client
    budget.done(LONG)
    assert not budget.has_room(2 * LONG)
    budget.done(2 * LONG)
    assert budget.has_room(2 * LONG)


async def ask(socket: RawSocket) -> None:
    assert b" 101 " in await socket.shake_hands()
    await socket.say(frame(msgspec.msgpack.encode(GetRecord(id=1, race=RACE))))


def room_for_one_and_a_half(opened: OpenGateway) -> int:
    opened.commands.record = "x" * LENGTH
    opened.gateway.budget.left = LENGTH * 3 // 2
    return LENGTH * 3 // 2


async def test_while_one_record_waits_for_its_reader_another_is_not_sent() -> None:
    async with open_gateway() as opened, connected_player(opened.url, "Anna") as anna:
        left = room_for_one_and_a_half(opened)
        with raw_socket(opened.port) as socket:
            await ask(socket)
            assert await socket.read(1)
            refused = await anna.ask(GetRecord, race=RACE)
            assert isinstance(refused, Refused)
            assert (refused.code, refused.wait) == ("too_fast", 1000 * WAIT)
            # the client stops reading and is disconnected
            assert await socket.dropped()
            await opened.commands.next_ended()
        assert opened.gateway.budget.left == left
        record = await anna.ask(GetRecord, race=RACE)
        assert isinstance(record, Record)
        assert len(record.text) == LENGTH


async def test_a_client_that_reads_gets_one_record_after_the_other() -> None:
    async with open_gateway() as opened, connected_player(opened.url, "Anna") as anna:
        left = room_for_one_and_a_half(opened)
        for _ in range(4):
            assert isinstance(await anna.ask(GetRecord, race=RACE), Record)
        # later requests are answered after the long response
        await anna.ask(Heartbeat)
        assert opened.gateway.budget.left == left
