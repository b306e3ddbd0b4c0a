"""What the kernel keeps for a connection: how much it may hold, and how much it could not send."""

import socket
import struct
from typing import Final

SEND_BUFFER: Final = 64 * 1024
"""Bytes that the kernel may hold for a player. Linux doubles the number for its own bookkeeping."""

RECEIVE_BUFFER: Final = 16 * 1024
"""Bytes that it may hold of a player: two of the longest frames."""

UNACKNOWLEDGED: Final = 10_000
"""Milliseconds after which it gives up a peer that acknowledges nothing: its machine is gone."""

_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""Linger no second."""

_NOT_SENT: Final = struct.Struct("=144xI")
"""`tcpi_notsent_bytes` in Linux's `tcp_info`, since 4.6."""


def bound_buffers(connection: socket.socket | None) -> None:
    """Have the kernel hold little, so that it soon shows who does not read."""
    if connection is None:
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    if connection.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED)


def forget_unsent(connection: socket.socket | None) -> None:
    """Have the kernel throw away what it holds when the connection is closed, and say so (RST)."""
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)


def unsent_bytes(connection: socket.socket) -> int:
    """What the kernel has not sent because the peer takes no more; 0 where it cannot be asked."""
    if not hasattr(socket, "TCP_INFO"):
        return 0
    try:
        told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _NOT_SENT.size)
    except OSError:
        return 0
    return int(_NOT_SENT.unpack(told)[0]) if len(told) == _NOT_SENT.size else 0
