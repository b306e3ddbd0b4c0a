"""Connections kept alive, and closed when a server drains."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Literal

import pytest
from websockets.asyncio.client import connect
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol as WebSocket
from websockets.protocol import Side, State

from kit.fake_transport import FakeOwner, open_connection, settle
from kit.gateways import OpenGateway, open_gateway
from kit.players import SocketPlayer, connected_player
from kit.raw_client import PONG, RawSocket, frame, raw_socket
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import Done
from saratoga_protocol.refusals import RESTARTING, TOO_SLOW, CloseCode
from saratoga_server.transport.connection import MOST_UNANSWERED, PING_EVERY, PlayerConnection

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
    monkeypatch.setattr("saratoga_server.transport.connection.PING_EVERY", 0.05)
    monkeypatch.setattr("saratoga_server.transport.connection.CLOSE_WITHIN", 0.1)
    monkeypatch.setattr("saratoga_server.transport.connection.ALIVE_EVERY", 0.0)
    monkeypatch.setattr("saratoga_server.transport.gateway.WATCH_EVERY", 0.01)
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


@pytest.fixture
async def opened() -> AsyncIterator[OpenGateway]:
    async with open_gateway() as gateway:
        yield gateway


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
