"""The way to one player: what waits is bounded, and whoever does not read is cut."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kit.hall import OpenGateway, open_gateway
from kit.raw_sockets import raw_socket
from kit.sockets import stranger
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import Done
from saratoga_server.live.session import PlayerConnection
from saratoga_server.transport.outbox import MOST_FRAMES, MOST_PENDING, Outbox


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


@asynccontextmanager
async def deaf(opened: OpenGateway) -> AsyncIterator[None]:
    """Somebody comes in, and reads nothing."""
    with raw_socket(int(opened.url.rpartition(":")[2])) as raw:
        assert b" 101 " in await raw.shake_hands()
        yield


def fill(line: PlayerConnection) -> Outbox:
    """Send until the kernel takes no more."""
    assert isinstance(line, Outbox)
    while not waiting(line):
        line.send(bytes(4 * 1024))
    return line


def waiting(line: Outbox) -> int:
    """Bytes that the process holds for the player."""
    return line._connection.transport.get_write_buffer_size()


async def test_who_does_not_read_is_cut_and_delays_nobody(
    opened: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.transport.slow_readers.LONGEST_PENDING", 0.2)
    monkeypatch.setattr("saratoga_server.transport.gateway.WATCH_EVERY", 0.01)
    async with stranger(opened.url, "Bert") as bert, deaf(opened):
        await bert.ask(Heartbeat)
        fill(opened.hall.sessions[1].connection)
        # while it is deaf, others are answered at once: the number of turns is all that counts
        answered = 1
        while opened.hall.left.empty():
            assert await bert.ask(Heartbeat) == Done(re=bert.last_id)
            answered += 1
        session = await opened.hall.sees_out()
        assert (session.number, opened.metrics.slow_clients) == (2, 1)
        assert answered > 10
        assert await bert.ask(Heartbeat) == Done(re=bert.last_id)


async def test_a_burst_at_who_does_not_read_is_cut_before_it_fills_the_memory(
    opened: OpenGateway,
) -> None:
    async with stranger(opened.url, "Bert") as bert, deaf(opened):
        await bert.ask(Heartbeat)
        line = fill(opened.hall.sessions[1].connection)
        held = []
        for _ in range(64):
            line.send(bytes(16 * 1024))
            held.append(waiting(line))
        assert max(held) <= MOST_PENDING + 2 * 16 * 1024
        assert held[-1] == 0
        assert (await opened.hall.sees_out()).number == 2
        assert opened.metrics.slow_clients == 1
        assert await bert.ask(Heartbeat) == Done(re=bert.last_id)


async def test_many_small_frames_are_no_way_around_the_bound(opened: OpenGateway) -> None:
    async with stranger(opened.url, "Bert") as bert, deaf(opened):
        await bert.ask(Heartbeat)
        line = fill(opened.hall.sessions[1].connection)
        for _ in range(MOST_FRAMES + 1):
            line.send(b"x")
        assert line.is_too_slow
        assert (await opened.hall.sees_out()).number == 2
