"""Socket options: the sizes of a connection's kernel buffers, and the bytes not sent."""

import socket
import struct
from contextlib import suppress
from typing import Final

SEND_BUFFER: Final = 64 * 1024
"""The kernel's send buffer in bytes. Linux doubles the number for its own bookkeeping."""

RECEIVE_BUFFER: Final = 16 * 1024
"""The kernel's receive buffer in bytes: two of the longest frames."""

UNACKNOWLEDGED: Final = 10_000
"""Milliseconds after which the kernel drops a peer that acknowledges no data."""

CLOSED: Final = (OSError, ValueError)
"""Errors of a socket that is closed already; uvloop raises `ValueError`."""

_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""SO_LINGER of 0 seconds: reset the connection on close."""

_NOT_SENT: Final = struct.Struct("=144xI")
"""`tcpi_notsent_bytes` in Linux's `tcp_info`, since 4.6."""


def bound_buffers(connection: socket.socket | None) -> None:
    """Set small kernel buffers, so that a client that does not read is noticed soon."""
    if connection is None:
        return
    # some kernels refuse options on a connection that the peer has reset
    with suppress(*CLOSED):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        if connection.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED)


def forget_unsent(connection: socket.socket | None) -> None:
    """Make the kernel discard its buffers and reset the connection when it is closed."""
    if connection is None:
        return
    with suppress(*CLOSED):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)


def unsent_bytes(connection: socket.socket) -> int:
    """Return the bytes that the kernel has not sent to the peer; 0 if unknown."""
    if not hasattr(socket, "TCP_INFO"):
        return 0
    try:
        answer = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _NOT_SENT.size)
    except CLOSED:
        return 0
    return int(_NOT_SENT.unpack(answer)[0]) if len(answer) == _NOT_SENT.size else 0
