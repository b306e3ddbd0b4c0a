"""Calling the house, and telling whether to call again."""

import logging
import socket
import ssl
from typing import Final

from websockets.asyncio.client import connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidStatus,
    InvalidURI,
    NegotiationError,
)
from websockets.frames import CloseCode
from websockets.typing import Subprotocol

from saratoga_client.local.origins import is_this_machine
from saratoga_client.net.errors import CommandRefused, ServerClosed, Unreachable
from saratoga_protocol.refusals import RESTARTING, WRONG_SUBPROTOCOL

WEBSOCKET_LOG: Final = logging.getLogger("saratoga.websocket")
# Below that `websockets` writes whole frames into the log, the token among them.
WEBSOCKET_LOG.setLevel(logging.INFO)

LARGEST_EVENT: Final = 4 * 1024 * 1024
"""Bytes: a record of sixteen racers who played for an hour."""

CLOSE_TIMEOUT: Final = 1.0
"""Seconds for a goodbye."""

FIRST_FINAL_CODE: Final = 4500
"""From here on the house does not want the program back (protocol/README.md, Close codes)."""

CLIENT_FAULT_CODES: Final = frozenset({1002, 1003, 1007, 1008, 1009, 1010})
"""RFC 6455, 7.4.1: the frames were at fault, and the same would come again."""

RETRY_STATUSES: Final = frozenset({408, 425, 429})
"""Of the 4xx statuses of HTTP, those that speak of time and not of the request."""


RECONNECT_CODES: Final = frozenset({RESTARTING.code, CloseCode.SERVICE_RESTART})
"""The house's own word for it, and that of a proxy before it."""


class UnusableConnection(Exception):
    """This end found the connection useless; another attempt may do better."""


def open_websocket(url: str, subprotocol: str, within: float) -> connect:
    """A connection to be entered; the frames are small, so they are not compressed."""
    return connect(
        url,
        subprotocols=[Subprotocol(subprotocol)],
        compression=None,
        max_size=LARGEST_EVENT,
        open_timeout=within,
        close_timeout=CLOSE_TIMEOUT,
        logger=WEBSOCKET_LOG,
        # Both ends send signs of life of their own.
        ping_interval=None,
        proxy=None if is_this_machine(url) else True,
    )


def final_error(url: str, trouble: Exception) -> Exception | None:
    """What to tell the program if calling again is no use; `None`: call again."""
    match trouble:
        case CommandRefused():
            return None if trouble.retry else trouble
        case ConnectionClosed() if was_event_too_large(trouble):
            return None
        case ConnectionClosed(rcvd=close) if close is not None:
            final = close.code >= FIRST_FINAL_CODE or close.code in CLIENT_FAULT_CODES
            return ServerClosed(close.code, close.reason) if final else None
        case InvalidStatus(response=response):
            status = response.status_code
            if status == 400 and b"subprotocol" in response.body:
                return ServerClosed(WRONG_SUBPROTOCOL.code, WRONG_SUBPROTOCOL.reason)
            if 400 <= status < 500 and status not in RETRY_STATUSES:
                return Unreachable(url, f"no such house there (HTTP {status})")
            return None
        case NegotiationError():
            return ServerClosed(WRONG_SUBPROTOCOL.code, WRONG_SUBPROTOCOL.reason)
        case InvalidURI() | ssl.SSLCertVerificationError():
            return Unreachable(url, describe(trouble))
        case Unreachable():
            return trouble
        case _:
            return None


def describe(trouble: Exception) -> str:
    """What an attempt failed on, for people."""
    match trouble:
        case ConnectionRefusedError():
            return "nobody listens there"
        case socket.gaierror():
            return "no machine of that name is known here"
        case ssl.SSLCertVerificationError():
            why = getattr(trouble, "verify_message", "") or str(trouble)
            return f"its certificate is not trusted ({why})"
        case ssl.SSLError():
            return "no TLS is spoken there, which wss:// asks for"
        case TimeoutError():
            return "it gave no answer in time"
        case ConnectionResetError():
            return "it hung up"
        case _:
            return str(trouble) or type(trouble).__name__


def was_event_too_large(trouble: Exception) -> bool:
    """Whether this end hung up over an event larger than `LARGEST_EVENT`."""
    return (
        isinstance(trouble, ConnectionClosed)
        and trouble.sent is not None
        and trouble.sent.code == CloseCode.MESSAGE_TOO_BIG
        and trouble.rcvd_then_sent is not True
    )


def was_asked_to_reconnect(trouble: Exception) -> bool:
    """Whether the house itself asked to come back, to another of its nodes: that is no failure."""
    return (
        isinstance(trouble, ConnectionClosed)
        and trouble.rcvd is not None
        and trouble.rcvd.code in RECONNECT_CODES
    )
