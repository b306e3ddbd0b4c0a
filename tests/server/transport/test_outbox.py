"""The unread output of a client is bounded; a client that does not read is disconnected."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kit.fake_transport import FakeTransport
from kit.gateways import OpenGateway, open_gateway
from kit.player_sockets import connected_player
from kit.raw_client import raw_socket
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import Done
from saratoga_server.transport.connection import PlayerConnection
from saratoga_server.transport.outbox import MOST_FRAMES, MOST_PENDING, Outbox
from saratoga_server.transport.socket_options import SEND_BUFFER

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


def test_so_many_bytes_may_wait_and_then_no_more() -> None:
    transport = FakeTransport()
    outbox = Outbox(transport)
    transport.held = MOST_PENDING
    assert outbox.send(b"x")
    transport.held = MOST_PENDING + 1
    assert not outbox.send(b"x")


def test_so_many_frames_may_be_sent_while_something_waits() -> None:
    transport = FakeTransport()
    outbox = Outbox(transport)
    transport.held = 1
    assert [outbox.send(b"x") for _ in range(MOST_FRAMES + 1)] == [True] * MOST_FRAMES + [False]
    transport.held = 0
    assert outbox.send(b"x")


def test_one_answer_may_be_longer_than_all_that_may_wait() -> None:
    transport = FakeTransport()
    outbox = Outbox(transport)
    assert outbox.send(bytes(3 * MOST_PENDING))
    transport.held = 3 * MOST_PENDING
    assert outbox.send(b"x")
    transport.held = 4 * MOST_PENDING + 1
    assert not outbox.send(b"x")
    # after a read the bound is the same as before
    transport.held = 1
    assert outbox.send(b"x")
    transport.held = MOST_PENDING + 1
    assert not outbox.send(b"x")


# Real clients


async def test_a_client_that_does_not_read_is_disconnected_and_delays_no_other_client(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.slow_readers.LONGEST_PENDING", 0.2)
    monkeypatch.setattr("saratoga_server.transport.gateway.WATCH_EVERY", 0.01)
    async with connected_player(opened.url, "Bert") as bert, unreading(opened):
        await bert.ask(Heartbeat)
        # other clients are answered meanwhile, within a few turns of the event loop
        answered = 1
        while opened.commands.left.empty():
            assert await bert.ask(Heartbeat) == Done(re=bert.last_id)
            answered += 1
        session = await opened.commands.next_ended()
        assert (session.number, opened.metrics.slow_clients) == (2, 1)
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
        assert accepted <= MOST_PENDING + 2 * FRAME
        assert (await opened.commands.next_ended()).number == 2
        assert opened.metrics.slow_clients == 1
        assert await bert.ask(Heartbeat) == Done(re=bert.last_id)


async def test_many_small_frames_are_no_way_around_the_bound(opened: OpenGateway) -> None:
    async with connected_player(opened.url, "Bert") as bert, unreading(opened) as connection:
        await bert.ask(Heartbeat)
        for _ in range(MOST_FRAMES + 1):
            connection.send(b"x")
        assert opened.metrics.slow_clients == 1
        assert (await opened.commands.next_ended()).number == 2
