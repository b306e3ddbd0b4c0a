"""Clients that read slowly or not at all: what may wait for them, and when they are disconnected."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

import msgspec
import pytest

from kit.counted import counted
from kit.fake_transport import FakeOwner, open_connection
from kit.gateways import OpenGateway, open_gateway
from kit.player_sockets import connected_player
from kit.raw_client import RawSocket, frame, raw_socket
from saratoga_protocol.commands import GetRecord, Heartbeat
from saratoga_protocol.events import Done, Record, Refused
from saratoga_server.transport.connection import (
    LONGEST_UNREAD,
    MOST_UNREAD,
    SEND_BUFFER,
    PlayerConnection,
)
from saratoga_server.transport.response_budget import LONG, WAIT, ResponseBudget

# Slow readers: the number of their unread bytes must decrease


@pytest.fixture
def looks() -> Callable[[list[int]], list[bool]]:
    def look(waiting: list[int]) -> list[bool]:
        """Return whether the client was cut at each of some looks, half of the allowed time apart."""
        owner = FakeOwner()
        connection, transport = open_connection(owner)
        now = monotonic()
        seen = []
        for number, waits in enumerate(waiting):
            transport.held = waits
            connection.check(now + number * LONGEST_UNREAD / 2)
            seen.append(owner.slow_readers == 1)
        return seen

    return look


async def test_a_client_that_reads_a_little_now_and_then_reads(
    looks: Callable[[list[int]], list[bool]],
) -> None:
    assert looks([90, 80, 80, 70, 90, 60, 60, 50]) == [False] * 8


async def test_a_client_that_reads_nothing_for_too_long_has_stopped(
    looks: Callable[[list[int]], list[bool]],
) -> None:
    assert looks([50, 50, 50, 50]) == [False, False, False, True]
    assert looks([10, 20, 30, 40]) == [False, False, False, True]
    assert looks([0, 0, 1, 1, 1, 1]) == [False] * 5 + [True]


async def test_a_pause_begins_anew_after_every_byte_read(
    looks: Callable[[list[int]], list[bool]],
) -> None:
    assert looks([50, 50, 50, 49, 49, 49, 49]) == [False] * 6 + [True]


# The unread output of a client is bounded; a client that does not read is disconnected


IN_THE_KERNEL = 2 * SEND_BUFFER
"""The largest number of bytes that Linux holds in the send buffer of a connection."""

FRAME = 4 * 1024


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


@asynccontextmanager
async def unreading(opened: OpenGateway) -> AsyncIterator[PlayerConnection]:
    """Yield the connection of a client that reads nothing, with a full kernel buffer."""
    with raw_socket(opened.port) as raw:
        assert b" 101 " in await raw.shake_hands()
        connection = opened.commands.connections[-1]
        for _ in range((IN_THE_KERNEL + 48 * 1024) // FRAME):
            connection.send(bytes(FRAME))
        yield connection


# The bound


async def test_so_many_bytes_may_wait_and_then_no_more() -> None:
    owner = FakeOwner()
    connection, transport = open_connection(owner)
    transport.held = MOST_UNREAD
    connection.send(b"x")
    assert not transport.closed
    transport.held = MOST_UNREAD + 1
    connection.send(b"x")
    assert (transport.closed, owner.slow_readers) == (True, 1)


async def test_one_answer_may_be_longer_than_all_that_may_wait() -> None:
    connection, transport = open_connection(FakeOwner())
    connection.send(bytes(3 * MOST_UNREAD))
    transport.held = 4 * MOST_UNREAD
    connection.send(b"x")
    # after a read the bound is the same as before
    transport.held = 1
    connection.send(b"x")
    assert not transport.closed
    transport.held = MOST_UNREAD + 1
    connection.send(b"x")
    assert transport.closed


# Real clients


async def test_a_client_that_does_not_read_is_disconnected_and_delays_no_other_client(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.connection.LONGEST_UNREAD", 0.2)
    monkeypatch.setattr("saratoga_server.transport.gateway.WATCH_EVERY", 0.01)
    async with connected_player(opened.url, "Bert") as bert, unreading(opened):
        await bert.ask(Heartbeat)
        # other clients are answered meanwhile, within a few turns of the event loop
        answered = 1
        while opened.commands.left.empty():
            assert await bert.ask(Heartbeat) == Done(re=bert.last_id)
            answered += 1
        session = await opened.commands.next_ended()
        assert (session.number, counted(opened.metrics, "slow_clients_total")) == (2, 1)
        assert answered > 10
        assert await bert.ask(Heartbeat) == Done(re=bert.last_id)


async def test_a_burst_to_a_client_that_does_not_read_does_not_fill_the_memory(
    opened: OpenGateway,
) -> None:
    async with connected_player(opened.url, "Bert") as bert, unreading(opened) as connection:
        await bert.ask(Heartbeat)
        accepted = 0
        while connection.is_open:
            connection.send(bytes(FRAME))
            accepted += FRAME
        assert accepted <= MOST_UNREAD + 2 * FRAME
        assert (await opened.commands.next_ended()).number == 2
        assert counted(opened.metrics, "slow_clients_total") == 1
        assert await bert.ask(Heartbeat) == Done(re=bert.last_id)


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
