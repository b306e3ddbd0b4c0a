"""Listening sockets accept connections even after errors on earlier ones."""

import asyncio
import errno
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from kit.fake_transport import FakeOwner
from saratoga_server.transport.connection import PlayerConnection
from saratoga_server.transport.listener import Listener, bind

WITHIN = 10.0
"""Longest time in seconds that a test waits; a bound, not a measurement."""


class FaultySocket:
    """A listening socket whose first calls of `accept` fail."""

    def __init__(self, real: socket.socket, fault: int, times: int) -> None:
        self.real = real
        self.fault = fault
        self.times = times
        self.tries = 0

    def accept(self) -> tuple[socket.socket, object]:
        self.tries += 1
        if self.tries <= self.times:
            raise OSError(self.fault, os.strerror(self.fault))
        return self.real.accept()

    def __getattr__(self, name: str) -> object:
        return getattr(self.real, name)


class Arrivals:
    """A callback that records the accepted connections."""

    def __init__(self) -> None:
        self.owner = FakeOwner()
        self.accepted: asyncio.Queue[tuple[PlayerConnection, str]] = asyncio.Queue()
        self.fault: Exception | None = None
        """The error to raise for the next connection."""

    def __call__(self, accepted: socket.socket, peer: str) -> PlayerConnection:
        if self.fault is not None:
            fault, self.fault = self.fault, None
            raise fault
        connection = PlayerConnection(self.owner, accepted, peer)
        self.accepted.put_nowait((connection, peer))
        return connection

    async def next(self) -> tuple[PlayerConnection, str]:
        async with asyncio.timeout(WITHIN):
            return await self.accepted.get()


@asynccontextmanager
async def listening(
    arrivals: Arrivals, fault: int = 0, times: int = 0
) -> AsyncIterator[tuple[Listener, FaultySocket]]:
    (bound,) = await bind("127.0.0.1", 0)
    faulty = FaultySocket(bound, fault, times)
    listener = Listener(cast(Any, faulty), arrivals, {})
    try:
        yield listener, faulty
    finally:
        listener.close()
        await listener.closed()


async def test_everybody_is_accepted_and_known_by_address() -> None:
    arrivals = Arrivals()
    async with listening(arrivals) as (listener, _):
        callers = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(5)]
        for caller in callers:
            connection, peer = await arrivals.next()
            assert (connection.address, peer) == ("127.0.0.1", "127.0.0.1")
            caller.close()


async def test_a_fault_with_one_connection_does_not_end_the_accepting_of_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    arrivals = Arrivals()
    arrivals.fault = RuntimeError("broken")
    async with listening(arrivals) as (listener, _):
        with socket.create_connection(("127.0.0.1", listener.port)) as broken:
            with socket.create_connection(("127.0.0.1", listener.port)):
                await arrivals.next()
            assert broken.recv(1) == b""
    assert [record.getMessage() for record in caplog.records] == ["server_fault"]


async def test_a_host_name_is_bound_at_all_its_addresses() -> None:
    sockets = await bind("localhost", 0)
    assert {each.getsockname()[0] for each in sockets} <= {"127.0.0.1", "::1"}
    for each in sockets:
        each.close()


async def test_a_closed_listener_accepts_no_connection() -> None:
    arrivals = Arrivals()
    async with listening(arrivals) as (listener, _):
        port = listener.port
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port))


@pytest.mark.parametrize("fault", [errno.EMFILE, errno.ENOBUFS, errno.EPERM, errno.ETIMEDOUT])
async def test_while_nothing_can_be_accepted_it_is_tried_again_and_logged_once(
    fault: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("saratoga_server.transport.listener.RETRY_AFTER", 0.01)
    arrivals = Arrivals()
    async with listening(arrivals, fault, times=5) as (listener, faulty):
        with socket.create_connection(("127.0.0.1", listener.port)):
            await arrivals.next()
        assert faulty.tries > 5
    assert [record.getMessage() for record in caplog.records] == ["accept_failed"]


@pytest.mark.parametrize("fault", [errno.EPROTO, errno.ENETDOWN, errno.EHOSTUNREACH])
async def test_a_connection_that_broke_before_it_was_accepted_delays_no_other_connection(
    fault: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("saratoga_server.transport.listener.RETRY_AFTER", 10 * WITHIN)
    arrivals = Arrivals()
    async with listening(arrivals, fault, times=1) as (listener, faulty):
        with socket.create_connection(("127.0.0.1", listener.port)):
            await arrivals.next()
        assert faulty.tries > 1
    assert caplog.records == []
