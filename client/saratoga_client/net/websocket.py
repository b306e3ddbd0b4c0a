"""Open WebSockets, and classify their errors as final or temporary."""

import errno
import logging
import socket
import ssl
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, InvalidURI, NegotiationError
from websockets.frames import CloseCode
from websockets.http11 import Response
from websockets.typing import Subprotocol

from saratoga_client.local.origins import is_this_machine
from saratoga_client.net.errors import (
    CommandRefused,
    Redirected,
    ServerClosed,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_protocol.refusals import RESTARTING, WRONG_SUBPROTOCOL

WEBSOCKET_LOG: Final = logging.getLogger("saratoga.websocket")
# At DEBUG level `websockets` logs whole frames, which include the token.
WEBSOCKET_LOG.setLevel(logging.INFO)

LARGEST_EVENT: Final = 4 * 1024 * 1024
"""Maximum bytes of an event: enough for the record of a one-hour race of sixteen players."""

CLOSE_TIMEOUT: Final = 1.0
"""Seconds to wait for the server's close frame."""

FIRST_FINAL_CODE: Final = 4500
"""From this close code on, the client must not reconnect (protocol/README.md, Close codes)."""

CLIENT_FAULT_CODES: Final = frozenset({1002, 1003, 1007, 1008, 1009, 1010})
"""Close codes for invalid frames (RFC 6455, 7.4.1); the client would send the same again."""

RETRY_STATUSES: Final = frozenset({408, 425, 429})
"""The temporary HTTP statuses among 4xx."""

RECONNECT_CODES: Final = frozenset({RESTARTING.code, CloseCode.SERVICE_RESTART})
"""Close codes, of the server and of proxies, that ask the client to reconnect."""


class UnusableConnection(Exception):
    """The error that a connection cannot be used; another attempt may succeed."""


OpenSocket = Callable[[str, str, float], AbstractAsyncContextManager[ClientConnection]]
"""A function that opens a connection; its arguments are URL, subprotocol, timeout in seconds."""


class ConnectWithoutRedirects(connect):
    """Open a connection; raise `InvalidStatus` for an HTTP redirect instead of following it."""

    def process_redirect(self, exc: Exception) -> Exception:
        return exc


def open_websocket(url: str, subprotocol: str, within: float) -> connect:
    """Return a context manager that connects without compression within `within` seconds."""
    return ConnectWithoutRedirects(
        url,
        subprotocols=[Subprotocol(subprotocol)],
        compression=None,
        max_size=LARGEST_EVENT,
        open_timeout=within,
        close_timeout=CLOSE_TIMEOUT,
        logger=WEBSOCKET_LOG,
        # The protocol has heartbeats of its own.
        ping_interval=None,
        proxy=None if is_this_machine(url) else True,
    )


def final_error(url: str, error: Exception) -> Exception | None:
    """Return the error to raise if reconnecting cannot help; `None` to reconnect."""
    match error:
        case CommandRefused():
            return None if error.retry else error
        case ConnectionClosed(sent=close) if close and close.code == CloseCode.MESSAGE_TOO_BIG:
            # only a record can be so long, and an honest server's never is
            return UnexpectedAnswer(f"an event of more than {LARGEST_EVENT} bytes")
        case ConnectionClosed(rcvd=close) if close is not None:
            final = close.code >= FIRST_FINAL_CODE or close.code in CLIENT_FAULT_CODES
            return ServerClosed(close.code, close.reason) if final else None
        case InvalidStatus(response=response):
            return _final_status(url, response)
        case NegotiationError():
            return ServerClosed(WRONG_SUBPROTOCOL.code, WRONG_SUBPROTOCOL.reason)
        case InvalidURI() | ssl.SSLCertVerificationError():
            return Unreachable(url, describe(error))
        case Unreachable():
            return error
        case _:
            return None


def _final_status(url: str, response: Response) -> Exception | None:
    """Return the error for an HTTP response without a WebSocket; `None` to reconnect."""
    status = response.status_code
    if status == 400 and b"subprotocol" in response.body:
        return ServerClosed(WRONG_SUBPROTOCOL.code, WRONG_SUBPROTOCOL.reason)
    if 300 <= status < 400 and (locations := response.headers.get_all("Location")):
        return Redirected(url, locations[0])
    if 300 <= status < 500 and status not in RETRY_STATUSES:
        return Unreachable(url, f"no Saratoga server there (HTTP {status})")
    return None


def describe(error: Exception) -> str:
    """Return a message with the reason of a failed attempt to connect."""
    match error:
        case ConnectionRefusedError():
            return "no server listens there"
        case socket.gaierror():
            return "its name was not found"
        case ssl.SSLCertVerificationError():
            reason = getattr(error, "verify_message", "") or str(error)
            return f"its certificate is not trusted ({reason})"
        case ssl.SSLError():
            return "the server does not speak TLS, which wss:// requires"
        case TimeoutError():
            return "it did not answer in time"
        case ConnectionResetError():
            return "it closed the connection"
        case OSError(errno=errno.EHOSTUNREACH | errno.ENETUNREACH | errno.EHOSTDOWN):
            return "no machine answers there"
        case _:
            return str(error) or type(error).__name__


def was_closed_with(error: Exception, codes: Collection[int]) -> bool:
    """Test whether the server ended the connection with one of these close codes."""
    return (
        isinstance(error, ConnectionClosed) and error.rcvd is not None and error.rcvd.code in codes
    )
