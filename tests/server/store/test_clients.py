"""redis-py clients: replies as bytes, and an immediate error when the store is gone."""

import asyncio
import socket
import struct
from typing import cast

import pytest
import uvloop
from redis.exceptions import ConnectionError as RedisConnectionError

from kit.stores import StoreServer
from saratoga_server.store.clients import Sending, open_client


async def test_replies_are_bytes_and_the_client_has_a_name(store_server: StoreServer) -> None:
    client = open_client(store_server.url)
    try:
        await client.set("key", "ä")
        assert await client.get("key") == "ä".encode()
        assert await client.execute_command("CLIENT", "GETNAME") == b"saratoga"
    finally:
        await client.aclose()


async def test_a_command_to_a_store_that_is_gone_is_not_repeated(mortal_store: StoreServer) -> None:
    client = open_client(mortal_store.url)
    try:
        await client.ping()
        mortal_store.kill()
        with pytest.raises(RedisConnectionError):
            await client.ping()
    finally:
        await client.aclose()


async def test_a_task_that_sends_commands_can_be_cancelled_at_any_moment(
    store_server: StoreServer,
) -> None:
    client = open_client(store_server.url)

    async def ask_on_and_on() -> None:
        while True:
            assert await client.echo("again") == b"again"

    try:
        for turns in range(60):
            asking = asyncio.create_task(ask_on_and_on())
            for _ in range(turns):
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.wait([asking], timeout=10)
            assert asking.cancelled(), f"not after {turns} turns of the loop"
            assert await client.ping()
    finally:
        await client.aclose()


class ResetInThatTurn:
    """A connection that is reset in the turn of the loop in which its task is cancelled."""

    async def send_packed_command(self, command: bytes, check_health: bool = True) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise RedisConnectionError("Connection reset by peer") from None


class SendingOverIt(Sending, ResetInThatTurn):
    pass


async def test_a_cancellation_counts_more_than_a_connection_that_is_reset_with_it() -> None:
    sending = asyncio.create_task(SendingOverIt().send_packed_command(b"PING"))
    await asyncio.sleep(0)
    sending.cancel()
    await asyncio.wait([sending], timeout=10)
    assert sending.cancelled()


RESET_WHEN_CLOSED = struct.pack("ii", 1, 0)
"""The value of SO_LINGER with which a closed connection is reset."""


class ResettingStore:
    """A store that answers OK to everything, and resets its connections when it is told to."""

    def __init__(self) -> None:
        self._transports: list[asyncio.Transport] = []

    def connection(self) -> asyncio.Protocol:
        return _Answering(self._transports)

    def reset(self) -> None:
        for transport in self._transports:
            connected = transport.get_extra_info("socket")
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_WHEN_CLOSED)
            transport.abort()
        self._transports.clear()


class _Answering(asyncio.Protocol):
    def __init__(self, transports: list[asyncio.Transport]) -> None:
        self._transports = transports

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transports.append(self._transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(b"+OK\r\n")


async def some_turns() -> None:
    """Wait for turns of the loop in which both sides of a connection notice its end."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_a_write_to_an_idle_connection_that_was_reset_is_a_lost_connection() -> None:
    """Test on uvloop, whose transports raise a `RuntimeError` when they are written to after their end."""

    async def write_after_reset() -> None:
        store = ResettingStore()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(store.connection, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        client = open_client(f"redis://{host}:{port}")
        await client.set("key", "value")
        store.reset()
        await some_turns()
        with pytest.raises(RedisConnectionError):
            await client.set("key", "value")
        assert await client.set("key", "value")
        await client.aclose()
        server.close()
        await some_turns()

    uvloop.run(write_after_reset())
