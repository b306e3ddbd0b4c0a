"""Connections are accepted again after errors, and errors of one connection delay no other."""

import asyncio
import errno
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from saratoga_server.transport.accepting import Acceptor

WITHIN = 10.0
"""Seconds: a bound, never a measure."""


class FailingListener(socket.socket):
    """A listening socket whose `accept` fails a number of times."""

    error = 0
    failures = 0
    attempts = 0

    def accept(self) -> tuple[socket.socket, object]:
        self.attempts += 1
        if self.attempts <= self.failures:
            raise OSError(self.error, os.strerror(self.error))
        return super().accept()


class Keeper:
    """Counts the connections that it is given."""

    def __init__(self) -> None:
        self.accepted: asyncio.Queue[asyncio.BaseTransport] = asyncio.Queue()

    def called(self, connection: socket.socket, address: object) -> asyncio.Protocol:
        accepted = self.accepted

        class Guest(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                accepted.put_nowait(transport)

        return Guest()

    def turned_back(self, guest: asyncio.Protocol) -> None:
        raise AssertionError("no connection fails here")


@asynccontextmanager
async def listening(error: int = 0, failures: int = 0) -> AsyncIterator[FailingListener]:
    """Accept one connection through a listener that fails first."""
    strays: list[dict[str, object]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: strays.append(context))
    listener = FailingListener()
    listener.error, listener.failures = error, failures
    listener.bind(("127.0.0.1", 0))
    keeper = Keeper()
    acceptor = Acceptor(listener, keeper, {})
    acceptor.open()
    assert acceptor.is_serving()
    with socket.socket() as caller:
        caller.setblocking(False)
        await loop.sock_connect(caller, listener.getsockname())
        async with asyncio.timeout(WITHIN):
            (await keeper.accepted.get()).close()
    yield listener
    acceptor.close()
    await acceptor.wait_closed()
    assert (acceptor.is_serving(), acceptor.sockets, strays) == (False, (), [])


@pytest.mark.parametrize("error", [errno.EMFILE, errno.ENOBUFS, errno.EPERM, errno.ETIMEDOUT])
async def test_a_listener_that_cannot_accept_is_tried_again_later(
    error: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("saratoga_server.transport.accepting.OUT_OF_FILES", 0.01)
    async with listening(error, failures=5) as listener:
        assert listener.attempts == 6
    assert len(caplog.records) == 1, "the error is logged once, however long it lasts"


@pytest.mark.parametrize("error", [errno.EPROTO, errno.ENETDOWN, errno.EHOSTUNREACH])
async def test_an_error_of_one_connection_delays_no_other(
    error: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("saratoga_server.transport.accepting.OUT_OF_FILES", 3600)
    async with listening(error, failures=1) as listener:
        assert listener.attempts == 2
    assert caplog.records == []
