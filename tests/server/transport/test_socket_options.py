"""The options of a connection's socket."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import pytest
import uvloop

from saratoga_server.transport.socket_options import (
    RECEIVE_BUFFER,
    SEND_BUFFER,
    UNACKNOWLEDGED,
    bound_buffers,
    forget_unsent,
    unsent_bytes,
)

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    with socket.create_server(("127.0.0.1", 0)) as door, socket.socket() as near:
        near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        near.connect(door.getsockname())
        far, _ = door.accept()
        with far:
            yield near, far


def test_the_kernel_buffers_have_the_configured_sizes(pair: Pair) -> None:
    _, far = pair
    bound_buffers(far)
    assert far.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == 2 * SEND_BUFFER
    assert far.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) == 2 * RECEIVE_BUFFER
    assert far.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == UNACKNOWLEDGED


def test_a_unix_socket_has_bounds_too() -> None:
    near, far = socket.socketpair()
    with near, far:
        bound_buffers(far)
        forget_unsent(far)
        assert unsent_bytes(far) == 0
    bound_buffers(None)
    forget_unsent(None)


def test_a_connection_that_has_ended_takes_no_options_and_is_no_fault(pair: Pair) -> None:
    _, far = pair
    far.close()
    bound_buffers(far)
    forget_unsent(far)
    assert unsent_bytes(far) == 0


def test_the_socket_of_a_transport_that_uvloop_has_closed_is_no_fault() -> None:
    """Over TLS a transport may end some turns of the loop before its connection is told."""

    async def close_and_ask() -> int:
        near, far = socket.socketpair()
        with near:
            loop = asyncio.get_running_loop()
            transport, _ = await loop.create_connection(asyncio.Protocol, sock=far)
            of_transport = transport.get_extra_info("socket")
            transport.abort()
            await asyncio.sleep(0)
            bound_buffers(of_transport)
            forget_unsent(of_transport)
            return unsent_bytes(of_transport)

    assert uvloop.run(close_and_ask()) == 0


def fill(far: socket.socket) -> int:
    """Send until the kernel buffer is full; return the number of bytes sent."""
    far.setblocking(False)
    filled = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            filled += far.send(bytes(1000))
    return filled


def read_all(near: socket.socket) -> None:
    while near.recv(4096):
        pass


def test_what_the_peer_does_not_take_is_counted(pair: Pair) -> None:
    near, far = pair
    bound_buffers(far)
    assert unsent_bytes(far) == 0
    filled = fill(far)
    before = unsent_bytes(far)
    assert 0 < before <= filled
    near.settimeout(10)
    taken = 0
    while unsent_bytes(far) >= before:
        taken += len(near.recv(4096))
    assert taken > 0


def test_a_reset_drops_what_was_on_the_way(pair: Pair) -> None:
    near, far = pair
    bound_buffers(far)
    fill(far)
    forget_unsent(far)
    far.close()
    near.settimeout(10)
    with pytest.raises(ConnectionResetError):
        read_all(near)
