"""Clients that read slowly or not at all: what may wait for them, and when they are disconnected."""

from time import monotonic

import msgspec
import pytest

from kit.fake_transport import FakeOwner, open_connection
from kit.gateways import OpenGateway, open_gateway
from kit.players import connected_player
from kit.raw_client import RawSocket, frame, raw_socket
from saratoga_protocol.commands import GetRecord, Heartbeat
from saratoga_protocol.events import Record, Refused
from saratoga_server.transport.connection import (
    LONGEST_UNREAD,
    MOST_UNREAD,
    SEND_BUFFER,
)
from saratoga_server.transport.response_budget import LONG, WAIT, ResponseBudget

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
    now = monotonic()
    cut = []
    for number, waits in enumerate(waiting):
        transport.held = waits
        connection.check(now + number * LONGEST_UNREAD / 2)
        cut += [number] if owner.slow_readers else []
    assert cut[:1] == ([] if cut_at is None else [cut_at])


# The unread output of a client is bounded; a client that does not read is disconnected


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
