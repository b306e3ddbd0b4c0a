"""Kernel buffers of a connection: how much they may hold, and how much was not sent."""

import socket
import struct
from contextlib import suppress
from typing import Final

SEND_BUFFER: Final = 64 * 1024
"""Bytes that the kernel may hold for a client. Linux doubles the number for its own bookkeeping."""

RECEIVE_BUFFER: Final = 16 * 1024
"""Bytes that the kernel may hold from a client: two of the longest frames."""

UNACKNOWLEDGED: Final = 10_000
"""Milliseconds after which the kernel drops a peer that acknowledges nothing."""

_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""SO_LINGER of 0 seconds: reset the connection on close."""

_NOT_SENT: Final = struct.Struct("=144xI")
"""`tcpi_notsent_bytes` in Linux's `tcp_info`, since 4.6."""


def bound_buffers(connection: socket.socket | None) -> None:
    """Make the kernel hold little, so that a client that does not read is noticed soon."""
    if connection is None:
        return
    # some kernels refuse options of a connection that the peer has reset
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        if connection.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED)


def forget_unsent(connection: socket.socket | None) -> None:
    """Make the kernel drop what it holds and reset the connection when it is closed."""
    if connection is None:
        return
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)


def unsent_bytes(connection: socket.socket) -> int:
    """Return what the kernel has not sent because the peer takes no more; 0 where it cannot tell."""
    if not hasattr(socket, "TCP_INFO"):
        return 0
    try:
        answer = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _NOT_SENT.size)
    except OSError:
        return 0
    return int(_NOT_SENT.unpack(answer)[0]) if len(answer) == _NOT_SENT.size else 0
