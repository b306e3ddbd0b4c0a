"""A client's connection, from accepting it to its end.

    accepted -> handshake -> open -> closing -> lost

TLS is negotiated while a connection is *accepted*. A connection that requests a page, or is
refused, is never *open*: it is *closing* once its answer is written. A connection has no task,
future or timer of its own: the gateway checks all of them four times a second.
"""

import asyncio
import socket
from contextlib import suppress
from enum import Enum, auto
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final, cast

from saratoga_protocol.refusals import ABUSE, NO_HELLO, TOO_SLOW, CloseCode
from saratoga_server.live.session import Session
from saratoga_server.rate_limits.rates import Action, Rate
from saratoga_server.rate_limits.token_buckets import TokenBucket
from saratoga_server.transport.frame_parser import FrameParser
from saratoga_server.transport.frames import read_message
from saratoga_server.transport.handshake import Handshake
from saratoga_server.transport.inbox import Inbox
from saratoga_server.transport.outbox import Outbox
from saratoga_server.transport.pings import Pings
from saratoga_server.transport.slow_readers import SlowReaderDetector
from saratoga_server.transport.socket_options import bound_buffers, forget_unsent

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

CONTROL: Final = Rate(20, 0.5)
"""The rate limit of a client's pings and pongs."""


class ConnectionPhase(Enum):
    """A phase in the life of a connection."""

    ACCEPTED = auto()
    HANDSHAKE = auto()
    OPEN = auto()
    CLOSING = auto()
    LOST = auto()


class PlayerConnection(asyncio.Protocol):
    """A connection to a client that is not trusted."""

    __slots__ = (
        *("_controls", "_deadline", "_is_answering", "_is_cut", "_is_paused", "_leaving"),
        *("_outbox", "_outside", "_owner", "_phase", "_pings", "_reading", "_receiver"),
        *("_transport", "__weakref__", "address", "page_size", "quota", "session"),
    )

    _transport: asyncio.Transport
    _outbox: Outbox
    _pings: Pings
    _reading: SlowReaderDetector

    def __init__(self, owner: "Gateway", outside: socket.socket, address: str) -> None:
        """Start with an accepted socket; TLS may be negotiated on it next.

        `address` is the client's, or its proxy's until the request has been read.
        """
        self._owner = owner
        self._outside: socket.socket | None = outside
        self._phase = ConnectionPhase.ACCEPTED
        self.address = address
        self.session: Session | None = None
        self.page_size = 0
        """The size in bytes of the page that is being sent; 0 if there is none."""
        self._receiver: Handshake | Inbox | None = None
        """The receiver of the next bytes; `None`: the next byte begins a message."""
        self._controls = TokenBucket(CONTROL)
        self._deadline = inf
        """The `monotonic` time at which the present phase must have ended."""
        self._is_answering = False
        """True while a command is carried out."""
        self._is_paused = False
        """True while reading is paused."""
        self._is_cut = False
        self._leaving: CloseCode | None = None
        """The close code to send when the present command is answered."""
        self.quota = owner.count(self)
        """The connection's share of the limits, counted from the start."""

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport is not a subclass of asyncio's
        self._transport = transport = cast(asyncio.Transport, transport)
        self._outside = None
        bound_buffers(transport.get_extra_info("socket"))
        self._outbox = Outbox(transport)
        self._reading = SlowReaderDetector(transport)
        self._phase = ConnectionPhase.HANDSHAKE
        self._deadline = monotonic() + OPEN_WITHIN
        self._receiver = self._owner.handshake(self)

    def data_received(self, data: bytes) -> None:
        if self._receiver is None and not self._is_answering and not self._outbox.is_full:
            message = read_message(data)
            if message is not None:
                self.begin(message)
                return
        (self._receiver or self._inbox()).receive(data)

    def pause_writing(self) -> None:
        self._outbox.fill()

    def resume_writing(self) -> None:
        self._outbox.drain()
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self._phase = ConnectionPhase.LOST
        self._receiver = None
        self._outbox.drain()
        self._owner.lost(self)
        if not self._is_answering:
            self._end_session()

    def never_connected(self) -> None:
        """Handle a failed TLS negotiation, or a peer that had already gone."""
        self._phase = ConnectionPhase.LOST
        self._owner.lost(self)

    # The handshake

    def opened(self, session: Session, rest: bytes) -> None:
        """Begin a session after its handshake; `rest` is the data after the request."""
        now = monotonic()
        self._phase = ConnectionPhase.OPEN
        self.session = session
        self._receiver = None
        self._deadline = now + HELLO_WITHIN
        self._pings = Pings(now)
        if rest:
            self.data_received(rest)

    def answer_and_end(self, response: bytes) -> None:
        """Answer a request that opens no session, then end the connection."""
        self._deadline = monotonic() + READ_WITHIN
        self.write(response)
        self._end()

    # Commands

    @property
    def may_begin(self) -> bool:
        """True if the next frame may be read: no command is being carried out."""
        if self._phase is ConnectionPhase.OPEN:
            return not self._is_answering and not self._outbox.is_full
        return self._phase is ConnectionPhase.CLOSING

    def begin(self, message: bytes | str) -> None:
        """Carry out the command in a message, unless the connection is closing."""
        if self.is_open and self._leaving is None and self.session is not None:
            self._owner.runner.begin(self, self.session, message)

    def answering(self) -> None:
        """Stop taking commands until `answered`."""
        self._is_answering = True

    def answered(self) -> None:
        """Take the next command."""
        self._is_answering = False
        if self._phase is ConnectionPhase.LOST:
            self._end_session()
            return
        if self._leaving is not None:
            self.close(self._leaving)
        self._go_on()

    async def drained(self) -> None:
        """Wait until the client has read what was sent, or has gone."""
        await self._outbox.drained()

    def _go_on(self) -> None:
        if isinstance(self._receiver, Inbox):
            self._receiver.go_on()

    def _end_session(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            self._owner.ended(self, session)

    # Sending

    @property
    def is_open(self) -> bool:
        """True until either side begins to close."""
        return self._phase is ConnectionPhase.OPEN and not self._transport.is_closing()

    def send(self, frame: bytes | str) -> None:
        """Write a message; abort the connection if too much waits for the client to read it."""
        if self.is_open and not self._outbox.send(frame):
            self._cut_slow_reader()

    def write(self, data: bytes) -> None:
        """Write raw bytes, if the connection can still be written to."""
        if not self._transport.is_closing():
            self._transport.write(data)

    def write_protocol(self, parser: FrameParser) -> None:
        """Write the bytes that a frame parser has to send; close if it closes."""
        if not parser.is_open and self._phase is ConnectionPhase.OPEN:
            self._begin_closing()
        for data in parser.data_to_send():
            if data:
                self.write(data)
            else:
                self._end()

    # What the client sends

    def allows_control(self) -> bool:
        """Return whether one more ping or pong is within the rate limit."""
        return self._controls.take(1, monotonic())

    def ponged(self, payload: bytes) -> None:
        """Record the answer to the last ping; other pongs are ignored."""
        self._pings.answer(payload)

    def flooded(self) -> None:
        """Refuse service to a client that sends too many control frames or fragments."""
        self.quota.limiter.count_refusal(Action.COMMANDS)
        self.refuse_service(ABUSE)

    def emptied(self) -> None:
        """Drop the empty inbox."""
        self._receiver = None

    def pause_reading(self) -> None:
        if not self._is_paused and not self._transport.is_closing():
            self._is_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self._is_paused and not self._transport.is_closing():
            self._is_paused = False
            self._transport.resume_reading()

    # The end

    @property
    def holds_seat(self) -> bool:
        return self.session is not None and self.session.holds_seat

    def evict(self) -> None:
        """Close the connection to make room for a newer one."""
        if self.session is None:
            self.cut()
        else:
            self.session.evict()

    def close(self, code: CloseCode) -> None:
        """Begin to close; data sent before still arrives."""
        if not self.is_open:
            return
        self._begin_closing()
        self._inbox().close(code)

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
        self._inbox().shut()
        self.resume_reading()

    def cut(self) -> None:
        """Abort the connection; discard waiting data, here and in the kernel."""
        if self._outside is not None:
            with suppress(OSError):
                self._outside.shutdown(socket.SHUT_RDWR)
        elif not self._is_cut and self._phase is not ConnectionPhase.LOST:
            self._is_cut = True
            forget_unsent(self._transport.get_extra_info("socket"))
            self._transport.abort()

    def _inbox(self) -> Inbox:
        if not isinstance(self._receiver, Inbox):
            self._receiver = Inbox(self)
        return self._receiver

    def _begin_closing(self) -> None:
        self._phase = ConnectionPhase.CLOSING
        self._deadline = monotonic() + CLOSE_WITHIN

    def _end(self) -> None:
        """Stop writing and wait for the client to close; closing first could lose the answer."""
        self._phase = ConnectionPhase.CLOSING
        self._inbox().shut()
        if self._transport.is_closing():
            return
        self.resume_reading()
        if not self._transport.can_write_eof():
            self._transport.close()
            return
        try:
            self._transport.write_eof()
        except OSError:
            # asyncio's transport has not noticed yet that the client is gone
            self._transport.abort()

    # Periodic checks by the gateway

    def check(self, now: float) -> None:
        """Enforce the time limits; `now` is the present value of `time.monotonic()`."""
        if (
            self._is_cut
            or self._phase is ConnectionPhase.ACCEPTED
            or self._phase is ConnectionPhase.LOST
        ):
            return
        if now >= self._deadline:
            self._deadline = inf
            self._out_of_time(now)
        if self._reading.has_stopped(now):
            self._cut_slow_reader()

    def _out_of_time(self, now: float) -> None:
        if self._phase is not ConnectionPhase.OPEN:
            self.cut()
        elif self.session is not None and not self.session.player:
            if not self.session.hello_begun:
                self.close(NO_HELLO)
            # the store cannot be reached, and the client repeats its hello as it was told to
            self.session.hello_begun = False
            self._deadline = now + HELLO_WITHIN

    def keep_alive(self, alive: bytes | str, now: float) -> None:
        """Send an `Alive` event and, if due, a ping; close if pings stay unanswered."""
        self.send(alive)
        if not self._pings.is_due(now) or not self.is_open or not self.may_begin:
            # the inbox may hold a pong behind a command
            return
        if self._pings.are_unanswered:
            self.close(TOO_SLOW)
        else:
            self.write(self._pings.next(now))

    def _cut_slow_reader(self) -> None:
        if not self._is_cut:
            self._owner.stopped_reading()
            self.cut()
