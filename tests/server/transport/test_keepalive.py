"""Keepalive: the server pings every client in turn and disconnects one that answers no ping."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol as WebSocket
from websockets.protocol import Side, State

from kit.fake_transport import FakeOwner, FakeTransport, open_connection, settle
from kit.gateways import NOW, open_gateway
from kit.player_sockets import connected_player
from kit.players import RECEIVED_WITHIN
from kit.raw_client import PONG, RawSocket, frame, raw_socket
from saratoga_protocol.events import Alive
from saratoga_protocol.refusals import TOO_SLOW
from saratoga_protocol.version import JSON
from saratoga_server.transport.keepalive import KeepAlive, portions_of
from saratoga_server.transport.pings import MOST_UNANSWERED, PING_EVERY


async def test_every_client_receives_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saratoga_server.transport.keepalive.ALIVE_EVERY", 0.01)
    async with (
        open_gateway() as opened,
        connected_player(opened.url, "Anna", subprotocol=JSON) as anna,
        connected_player(opened.url, "Bert") as bert,
    ):
        for each in (anna, bert):
            assert await each.received.next(Alive, 0) == Alive(now=NOW)


class NotingTransport(FakeTransport):
    """A transport that records its writes in a shared list."""

    def __init__(self, writes: list["NotingTransport"]) -> None:
        super().__init__()
        self.writes = writes

    def write(self, data: bytes | bytearray | memoryview) -> None:
        super().write(data)
        self.writes.append(self)


async def test_signs_of_life_go_to_everyone_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saratoga_server.transport.keepalive.ALIVE_EVERY", 0.01)
    monkeypatch.setattr("saratoga_server.transport.keepalive.PORTION", 2)
    owner, writes = FakeOwner(), list[NotingTransport]()
    transports = [NotingTransport(writes) for _ in range(5)]
    served = {open_connection(owner, transport)[0]: None for transport in transports}
    running = asyncio.create_task(KeepAlive(served, lambda: NOW).run())
    async with asyncio.timeout(RECEIVED_WITHIN):
        for _ in range(5):
            for transport in transports:
                transport.wrote.clear()
                await transport.wrote.wait()
    running.cancel()
    assert len(writes) >= 25
    assert all(len({*writes[first : first + 5]}) == 5 for first in range(20))


@pytest.mark.parametrize(
    ("connections", "portions"), [(0, 1), (1, 1), (16, 1), (17, 2), (33, 3), (1_000, 63)]
)
def test_no_portion_of_those_who_are_sent_signs_of_life_is_large(
    connections: int, portions: int
) -> None:
    assert portions_of(connections) == portions


# Pings


async def pings(socket: RawSocket) -> AsyncIterator[bytes]:
    """Yield the payloads of the pings."""
    protocol = WebSocket(Side.CLIENT, state=State.OPEN)
    while data := await socket.read():
        protocol.receive_data(data)
        for event in protocol.events_received():
            if isinstance(event, Frame) and event.opcode is Opcode.PING:
                yield bytes(event.data)


@pytest.mark.parametrize(("is_answered", "comes"), [(True, 8), (False, MOST_UNANSWERED)])
async def test_a_peer_stays_only_if_it_answers_pings(
    monkeypatch: pytest.MonkeyPatch, is_answered: bool, comes: int
) -> None:
    monkeypatch.setattr("saratoga_server.transport.pings.PING_EVERY", 0.05)
    monkeypatch.setattr("saratoga_server.transport.connection.CLOSE_WITHIN", 0.1)
    monkeypatch.setattr("saratoga_server.transport.keepalive.ALIVE_EVERY", 0.01)
    seen: list[bytes] = []
    async with open_gateway() as opened:
        with raw_socket(opened.port, window=None) as socket:
            assert b" 101 " in await socket.shake_hands()
            async for payload in pings(socket):
                seen.append(payload)
                if len(seen) == 8:
                    break
                # a pong for another ping does not count
                await socket.say(frame(payload if is_answered else b"other", PONG))
    assert len(seen) == len(set(seen)) == comes


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


async def test_a_fault_with_one_connection_ends_that_connection_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("saratoga_server.transport.keepalive.ALIVE_EVERY", 0.01)
    owner = FakeOwner()
    (broken, fails), (whole, works) = (open_connection(owner) for _ in range(2))
    fails.fault = OSError("broken")
    keep_alive = KeepAlive({broken: None, whole: None}, lambda: NOW)
    running = asyncio.create_task(keep_alive.run())
    async with asyncio.timeout(RECEIVED_WITHIN):
        await works.wrote.wait()
    running.cancel()
    assert fails.closed
    assert not works.closed
