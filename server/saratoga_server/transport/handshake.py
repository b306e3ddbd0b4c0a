"""The HTTP request with which a connection begins: a WebSocket handshake, or a page."""

from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

if TYPE_CHECKING:
    from saratoga_server.transport.connection import PlayerConnection

MOST_HEAD: Final = 16 * 1024
"""The most bytes of a request with its headers."""

HEAD_END: Final = b"\r\n\r\n"

HEAD_TOO_LONG: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"Connection: close\r\nContent-Length: 0\r\n\r\n"
)
UNREADABLE: Final = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
"""The answer to requests that `websockets` does not answer; a proxy expects some answer."""


Requested = Callable[["Handshake", Request], None]
"""A function that takes each request and calls `accept` or `respond`, at once or later."""


class Handshake:
    """The first request of one connection, and its answer."""

    __slots__ = ("_connection", "_head", "_is_read", "_protocol", "_requested")

    def __init__(
        self, connection: "PlayerConnection", requested: Requested, protocol: ServerProtocol
    ) -> None:
        self._connection = connection
        self._requested = requested
        self._protocol = protocol
        self._head = bytearray()
        """The data received: the head of the request, and later the data after it."""
        self._is_read = False

    def receive(self, data: bytes) -> None:
        """Receive bytes of the request; data after its head are kept."""
        searched = max(0, len(self._head) - len(HEAD_END) + 1)
        self._head += data
        if self._is_read:
            return
        end = self._head.find(HEAD_END, searched)
        size = len(self._head) if end < 0 else end + len(HEAD_END)
        if size > MOST_HEAD:
            self._connection.answer_and_end(HEAD_TOO_LONG)
        elif end >= 0:
            self._is_read = True
            head = bytes(self._head[:size])
            del self._head[:size]
            self._parse(head)

    def _parse(self, head: bytes) -> None:
        self._protocol.receive_data(head)
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                self._requested(self, event)
                return
        self._connection.answer_and_end(self._to_send() or UNREADABLE)

    @property
    def rest(self) -> bytes:
        """The data received after the request."""
        return bytes(self._head) if self._is_read else b""

    def accept(self, request: Request) -> str | None:
        """Answer a WebSocket handshake; return the subprotocol, or `None` if it was refused."""
        response = self._protocol.accept(request)
        self._protocol.send_response(response)
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            self._connection.answer_and_end(self._to_send())
            return None
        self._connection.write(self._to_send())
        return response.headers["Sec-WebSocket-Protocol"]

    def respond(self, response: Response) -> None:
        """Answer with a page or a refusal."""
        self._protocol.send_response(response)
        self._connection.answer_and_end(self._to_send())

    def _to_send(self) -> bytes:
        return b"".join(self._protocol.data_to_send())
