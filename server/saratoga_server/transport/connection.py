"""A client's connection: its request, its frames, its commands one after another, and its end.

    handshake -> open -> closing -> lost

A connection that requests a page, or is refused, is never *open*: it is *closing* once its answer
is written. The protocol is that of `websockets`, without its sockets and tasks. The commonest read,
which is one whole message, is taken without it, and so it is only given whole frames. A connection
has no task, future or timer of its own: the gateway looks at all of them four times a second.
"""

import asyncio
import socket
import struct
from contextlib import suppress
from enum import Enum, auto
from http import HTTPStatus
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final, cast

from websockets.frames import CloseCode as StandardCode
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from saratoga_protocol.codec import MAX_COMMAND_BYTES, SUBPROTOCOLS
from saratoga_protocol.refusals import ABUSE, NO_HELLO, TOO_SLOW, CloseCode
from saratoga_server.limits import Action, Quota, Rate, TokenBucket
from saratoga_server.live.session import Session
from saratoga_server.transport.frames import (
    MOST_HEAD,
    frame_size,
    pack_message,
    pack_ping,
    read_message,
)

if TYPE_CHECKING:
    from saratoga_server.transport.gateway import Gateway

OPEN_WITHIN: Final = 10.0
"""Seconds in which a client must complete its handshake, or its request for a page."""
READ_WITHIN: Final = 8.0
"""Seconds in which a client must read an HTTP answer. One that reads nothing is aborted sooner."""
HELLO_WITHIN: Final = 10.0
"""Seconds in which a client must send its hello."""
CLOSE_WITHIN: Final = 2.0
"""Seconds for the client's part of the closing handshake."""
ALIVE_EVERY: Final = 2.0
"""Seconds between two `Alive` events, which also reveal slow readers."""
PING_EVERY: Final = 20.0
"""Seconds between two pings, which reveal programs that are gone though their machine is not."""
MOST_UNANSWERED: Final = 2
"""The most pings in a row without an answer. One answer may be late."""
CONTROL: Final = Rate(20, 0.5)
"""The rate limit of a client's pings and pongs."""

MOST_REQUEST: Final = 16 * 1024
"""The most bytes of a request with its headers."""
MOST_WAITING: Final = MAX_COMMAND_BYTES + MOST_HEAD
"""The most bytes that may wait before reading is paused: one frame of the greatest length."""
MOST_FRAGMENTS: Final = 16
"""The most frames of one message. Saratoga's own clients send whole messages."""

MOST_UNREAD: Final = 192 * 1024
"""The most bytes that may wait for a client to read them, besides those in the kernel."""
LONGEST_UNREAD: Final = 2.0
"""Seconds in which a client must read some of the waiting data."""

SEND_BUFFER: Final = 64 * 1024
"""The kernel's send buffer in bytes, small so that a client that does not read is noticed soon."""
RECEIVE_BUFFER: Final = 16 * 1024
"""The kernel's receive buffer in bytes: two of the longest frames."""
UNACKNOWLEDGED: Final = 10_000
"""Milliseconds after which the kernel drops a peer that acknowledges no data."""

CLOSED: Final = (OSError, ValueError)
"""Errors of a socket that is closed already; uvloop raises `ValueError`."""
AT_ONCE: Final = struct.pack("ii", 1, 0)
"""SO_LINGER of 0 seconds: reset the connection on close."""

REQUEST_END: Final = b"\r\n\r\n"
_EMPTY: Final = b"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
REQUEST_TOO_LONG: Final = b"HTTP/1.1 431 Request Header Fields Too Large" + _EMPTY
UNREADABLE: Final = b"HTTP/1.1 400 Bad Request" + _EMPTY
"""The answer to requests that `websockets` does not answer; a proxy expects some answer."""


class Phase(Enum):
    """A phase in the life of a connection."""

    HANDSHAKE = auto()
    OPEN = auto()
    CLOSING = auto()
    LOST = auto()


class PlayerConnection(asyncio.Protocol):
    """A connection to a client that is not trusted."""

    __slots__ = (
        *("_alive_due", "_bytes", "_controls", "_deadline", "_drained", "_is_answering", "_is_cut"),
        *("_is_deaf", "_is_full", "_is_paused", "_is_scheduled", "_is_text", "_leaving", "_long"),
        *("_owner", "_parts", "_phase", "_ping", "_ping_due", "_protocol", "_transport"),
        *("_unanswered", "_unread", "_unread_since", "__weakref__", "address", "page_size"),
        *("quota", "session"),
    )

    _transport: asyncio.Transport
    quota: Quota

    def __init__(self, owner: "Gateway") -> None:
        self._owner = owner
        self._phase = Phase.HANDSHAKE
        self.address = ""
        """The client's address, or its proxy's until the request has been read."""
        self.session: Session | None = None
        self.page_size = 0
        """The size in bytes of the page that is being sent; 0 if there is none."""
        self._deadline = monotonic() + OPEN_WITHIN
        """The time at which the present phase must have ended."""
        self._bytes = bytearray()
        """The bytes that are not handled yet."""
        self._protocol: ServerProtocol | None = ServerProtocol(
            subprotocols=[Subprotocol(name) for name in SUBPROTOCOLS], max_size=MAX_COMMAND_BYTES
        )
        """`None` between two messages of an open connection, because it takes 5 KiB."""
        self._parts: list[bytes] = []
        """The parts of an incomplete message."""
        self._is_text = False
        """True if they are text."""
        self._is_scheduled = False
        """True if the next frame is taken in the next turn of the event loop."""
        self._is_answering = False
        """True while a command is carried out."""
        self._is_paused = False
        """True while reading is paused."""
        self._is_deaf = False
        """True if whatever the client still sends is discarded."""
        self._is_cut = False
        self._leaving: CloseCode | None = None
        """The close code to send when the present command is answered."""
        self._controls = TokenBucket(CONTROL)
        self._is_full = False
        """True if so much waits for the client that no further command should begin."""
        self._long = 0
        """Bytes of answers longer than `MOST_UNREAD`; they may wait in addition to that limit."""
        self._drained: asyncio.Future[None] | None = None
        """A future that a command with a long answer awaits."""
        self._unread = 0
        """The bytes that waited for the client at the last look."""
        self._unread_since = 0.0
        """The time of the last look at which they had become fewer."""
        self._alive_due = self._ping_due = inf
        self._ping = 0
        """The number of the last ping, which is its payload."""
        self._unanswered = 0

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport is not a subclass of asyncio's
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if isinstance(peer, tuple) else ""
        _bound_buffers(transport.get_extra_info("socket"))
        self.quota = self._owner.connected(self)

    def data_received(self, data: bytes) -> None:
        if (
            not self._bytes
            and not self._parts
            and not self._is_answering
            and not self._is_full
            and self._phase is Phase.OPEN
        ):
            message = read_message(data)
            if message is not None:
                self._begin(message)
                return
        if self._is_deaf:
            return
        self._bytes += data
        if self._phase is Phase.HANDSHAKE:
            if not self._is_paused:  # otherwise the request has been read already
                self._read_request(len(data))
            return
        if len(self._bytes) > MOST_WAITING:
            self.pause_reading()
        self._go_on()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self._phase = Phase.LOST
        self._is_deaf = True
        self._protocol = None
        self.resume_writing()
        self._owner.lost(self)
        if not self._is_answering:
            self._end_session()

    # The request

    def _read_request(self, added: int) -> None:
        """Read the request once its head is complete; what follows it is kept."""
        assert self._protocol is not None
        end = self._bytes.find(REQUEST_END, max(0, len(self._bytes) - added - len(REQUEST_END)))
        size = len(self._bytes) if end < 0 else end + len(REQUEST_END)
        if size > MOST_REQUEST:
            self._answer_and_end(REQUEST_TOO_LONG)
        elif end >= 0:
            # nothing more is read until there is an answer
            self.pause_reading()
            self._protocol.receive_data(bytes(self._bytes[:size]))
            del self._bytes[:size]
            for event in self._protocol.events_received():
                self._owner.requested(self, cast(Request, event))
                return
            self._answer_and_end(b"".join(self._protocol.data_to_send()) or UNREADABLE)

    def accept(self, request: Request) -> str | None:
        """Answer a WebSocket handshake; return the subprotocol, or `None` if it was refused."""
        assert self._protocol is not None
        response = self._protocol.accept(request)
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            self.respond(response)
            return None
        self._protocol.send_response(response)
        self.write(b"".join(self._protocol.data_to_send()))
        return response.headers["Sec-WebSocket-Protocol"]

    def opened(self, session: Session) -> None:
        """Begin a session after its handshake."""
        now = monotonic()
        self._phase = Phase.OPEN
        self._protocol = None
        self.session = session
        self._deadline = now + HELLO_WITHIN
        self._alive_due = now + ALIVE_EVERY
        self._ping_due = now + PING_EVERY
        self.resume_reading()
        if self._bytes:
            self._go_on()

    def respond(self, response: Response) -> None:
        """Answer the request with a page or a refusal, and end the connection."""
        if self._protocol is not None:
            self._protocol.send_response(response)
            self._answer_and_end(b"".join(self._protocol.data_to_send()))

    def _answer_and_end(self, response: bytes) -> None:
        self._deadline = monotonic() + READ_WITHIN
        self.write(response)
        self._end()

    # What the client sends

    def _go_on(self) -> None:
        """Take the next frame in the next turn of the event loop: other clients come between."""
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._take_frame)

    def _take_frame(self) -> None:
        self._is_scheduled = False
        if self._is_deaf or self._phase is Phase.HANDSHAKE:
            return
        if self._phase is Phase.OPEN and (self._is_answering or self._is_full):
            return
        size = frame_size(self._bytes)
        # of a frame that is too long the beginning is enough to refuse it
        if size is None or len(self._bytes) < size <= MOST_WAITING:
            return
        frame = bytes(self._bytes[:size])
        del self._bytes[:size]
        if len(self._bytes) <= MOST_WAITING:
            self.resume_reading()
        message = read_message(frame) if self._phase is Phase.OPEN and not self._parts else None
        if message is None:
            self._parse(frame)
        else:
            self._begin(message)
        self._go_on()

    def _parse(self, frame: bytes) -> None:
        """Take a frame that is not a whole message."""
        protocol = self._library()
        protocol.receive_data(frame)
        for event in protocol.events_received():
            message = self._message_in(protocol, cast(Frame, event))
            if message is not None:
                self._begin(message)
        self._send_protocol(protocol)
        if protocol.state is State.OPEN and not self._parts:
            self._protocol = None

    def _message_in(self, protocol: ServerProtocol, frame: Frame) -> bytes | str | None:
        """Return the message that a frame completes, if it does."""
        if frame.opcode is Opcode.CLOSE:
            return None
        if frame.opcode in (Opcode.PING, Opcode.PONG):
            if not self._controls.take(1, monotonic()):
                self._flooded()
            elif frame.opcode is Opcode.PONG and frame.data == self._ping_payload():
                self._unanswered = 0
            return None
        if frame.opcode is not Opcode.CONT:
            self._is_text = frame.opcode is Opcode.TEXT
        self._parts.append(bytes(frame.data))
        if len(self._parts) > MOST_FRAGMENTS:
            self._flooded()
        if not frame.fin:
            return None
        message = b"".join(self._parts)
        self._parts.clear()
        if not self._is_text:
            return message
        try:
            return message.decode()
        except UnicodeDecodeError as error:
            protocol.fail(StandardCode.INVALID_DATA, f"{error.reason} at {error.start}")
            return None

    def _library(self) -> ServerProtocol:
        if self._protocol is None:
            self._protocol = ServerProtocol(state=State.OPEN, max_size=MAX_COMMAND_BYTES)
        return self._protocol

    def _flooded(self) -> None:
        """Refuse service to a client that sends too many control frames or fragments."""
        self.quota.limiter.count_refusal(Action.COMMANDS)
        self.refuse_service(ABUSE)

    # Commands

    def _begin(self, message: bytes | str) -> None:
        if self.is_open and self._leaving is None and self.session is not None:
            self._owner.runner.begin(self, self.session, message)

    def answering(self) -> None:
        """Stop taking commands until `answered`."""
        self._is_answering = True

    def answered(self) -> None:
        """Take the next command."""
        self._is_answering = False
        if self._phase is Phase.LOST:
            self._end_session()
            return
        if self._leaving is not None:
            self.close(self._leaving)
        if self._bytes:
            self._go_on()

    async def drained(self) -> None:
        """Wait until the client has read what was sent, or has gone. Only one command may wait."""
        if self._is_full:
            self._drained = asyncio.get_running_loop().create_future()
            await self._drained

    def _end_session(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            self._owner.ended(session)

    # Sending

    @property
    def is_open(self) -> bool:
        """True until either side begins to close."""
        return self._phase is Phase.OPEN and not self._transport.is_closing()

    def send(self, message: bytes | str) -> None:
        """Write a message; abort the connection if too much waits for the client to read it.

        One message may be longer than the limit; its bytes are then allowed in addition.
        """
        if not self.is_open:
            return
        waiting = self._transport.get_write_buffer_size()
        if waiting > MOST_UNREAD + self._long:
            self._cut_slow_reader()
            return
        if waiting <= MOST_UNREAD:
            self._long = 0
        if len(message) > MOST_UNREAD:
            self._long += len(message)
        self._transport.write(pack_message(message))

    def write(self, data: bytes) -> None:
        """Write raw bytes, if the connection can still be written to."""
        if not self._transport.is_closing():
            self._transport.write(data)

    def _send_protocol(self, protocol: ServerProtocol) -> None:
        """Write what the library has to send; close if it closes."""
        if protocol.state is not State.OPEN and self._phase is Phase.OPEN:
            self._begin_closing()
        for data in protocol.data_to_send():
            if data:
                self.write(data)
            else:
                self._end()

    def pause_reading(self) -> None:
        if not self._is_paused and not self._transport.is_closing():
            self._is_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self._is_paused and not self._transport.is_closing():
            self._is_paused = False
            self._transport.resume_reading()

    # The end

    def close(self, code: CloseCode) -> None:
        """Begin to close; data sent before still arrives."""
        if self.is_open:
            self._begin_closing()
            protocol = self._library()
            protocol.send_close(code.code, code.reason)
            self._send_protocol(protocol)
            self._go_on()

    def leave(self, code: CloseCode) -> None:
        """Close when the present command is answered; further commands are not carried out.

        The first code counts: a drain must not ask a banned client to reconnect.
        """
        self._leaving = code = self._leaving or code
        if not self._is_answering:
            self.close(code)

    def refuse_service(self, code: CloseCode) -> None:
        """Close, and discard whatever the client still sends."""
        self.close(code)
        self._discard()

    def cut(self) -> None:
        """Abort the connection; discard what waits for the client, here and in the kernel."""
        if not self._is_cut and self._phase is not Phase.LOST:
            self._is_cut = True
            connection = self._transport.get_extra_info("socket")
            if connection is not None:
                with suppress(*CLOSED):
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            self._transport.abort()

    def _begin_closing(self) -> None:
        self._phase = Phase.CLOSING
        self._deadline = monotonic() + CLOSE_WITHIN

    def _end(self) -> None:
        """Stop writing and wait for the client to close; closing first could lose the answer."""
        self._phase = Phase.CLOSING
        self._discard()
        if self._transport.is_closing():
            return
        if not self._transport.can_write_eof():
            self._transport.close()
            return
        try:
            self._transport.write_eof()
        except OSError:
            # asyncio's transport has not noticed yet that the client is gone
            self._transport.abort()

    def _discard(self) -> None:
        self._is_deaf = True
        self._bytes.clear()
        self.resume_reading()

    # What the gateway calls four times a second

    def check(self, now: float) -> None:
        """Enforce the time limits; `now` is the present value of `time.monotonic()`."""
        if self._is_cut or self._phase is Phase.LOST:
            return
        if now >= self._deadline:
            self._out_of_time(now)
        unread = self._transport.get_write_buffer_size()
        if not unread or unread < self._unread or not self._unread:
            self._unread_since = now
        self._unread = unread
        if now - self._unread_since > LONGEST_UNREAD:
            self._cut_slow_reader()

    def _out_of_time(self, now: float) -> None:
        self._deadline = inf
        if self._phase is not Phase.OPEN:
            self.cut()
        elif self.session is not None and not self.session.player:
            if not self.session.hello_begun:
                self.close(NO_HELLO)
            # the store cannot be reached, and the client repeats its hello as it was told to
            self.session.hello_begun = False
            self._deadline = now + HELLO_WITHIN

    def keep_alive(self, alive: bytes | str, now: float) -> None:
        """If they are due, send an `Alive` event and a ping; close if pings stay unanswered."""
        if now < self._alive_due:
            return
        self._alive_due = now + ALIVE_EVERY
        self.send(alive)
        if now < self._ping_due or not self.is_open or self._is_answering or self._is_full:
            # a pong may wait behind a command
            return
        if self._unanswered >= MOST_UNANSWERED:
            self.close(TOO_SLOW)
            return
        self._ping_due = now + PING_EVERY
        self._ping += 1
        self._unanswered += 1
        self.write(pack_ping(self._ping_payload()))

    def _ping_payload(self) -> bytes:
        return self._ping.to_bytes(4, "big")

    def _cut_slow_reader(self) -> None:
        if not self._is_cut:
            self._owner.stopped_reading()
            self.cut()


def _bound_buffers(connection: socket.socket | None) -> None:
    """Set small kernel buffers, and a bound on the time without an acknowledgement."""
    if connection is None:
        return
    # some kernels refuse options on a connection that the peer has reset
    with suppress(*CLOSED):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        if connection.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED)
