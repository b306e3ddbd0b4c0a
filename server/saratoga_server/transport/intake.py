"""What comes in from one connection, before it is a command: bounded in bytes, frames and time.

`websockets` bounds the length of a message, and nothing else that a stranger may choose: how many
headers of 8 KiB, how many empty frames in one read, how many pings, how many fragments of a message.
Here each of these has a bound, and a long read is taken apart, so that the event loop serves others
in between.
"""

import asyncio
import socket
from collections.abc import Iterable
from contextlib import suppress
from time import monotonic
from typing import Any, Final, Protocol

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import InvalidMessage
from websockets.frames import Frame, Opcode
from websockets.protocol import CLOSED, CONNECTING, OPEN
from websockets.server import ServerProtocol

from saratoga_server.rate_limits.limiter import Connection, Quota
from saratoga_server.rate_limits.rates import Rate
from saratoga_server.rate_limits.token_buckets import TokenBucket
from saratoga_server.transport.frames import is_between_frames, read_whole
from saratoga_server.transport.slow_readers import SlowReaderDetector
from saratoga_server.transport.socket_options import bound_buffers, forget_unsent

MOST_HEAD: Final = 16 * 1024
"""Bytes of a request with all its headers."""

AT_ONCE: Final = 1024
"""Bytes that are taken apart in one turn of the event loop: 170 of the smallest frames, about 1 ms."""

MOST_FRAGMENTS: Final = 16
"""Of one message. The program's own messages are whole."""

CONTROL: Final = Rate(20, 0.5)
"""Pings and pongs."""

PING_EVERY: Final = 20.0
"""Seconds: for peers whose machine acknowledges what nobody there reads."""

MOST_UNANSWERED: Final = 2
"""Pings. The answer to one may have come while this process stood still, and not be read yet."""

HEAD_TOO_LONG: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"Connection: close\r\nContent-Length: 0\r\n\r\n"
)

HEAD_END: Final = b"\r\n\r\n"

UNREADABLE: Final = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Gate(Protocol):
    """Who watches over all connections."""

    def came(self, intake: "Intake") -> None:
        """The connection stands, and has said nothing yet."""
        ...

    def went(self, intake: "Intake") -> None:
        """It has ended."""
        ...

    def floods(self, intake: "Intake") -> None:
        """It sends what nobody needs to send."""
        ...


class _Queue(list[Frame]):
    """Frames that wait, in place of a deque: that has room for sixty-four from the start, and most never wait."""

    __slots__ = ()

    def popleft(self) -> Frame:
        return self.pop(0)

    def extendleft(self, frames: Iterable[Frame]) -> None:
        self[:0] = [*frames][::-1]


class Intake(ServerConnection):
    """A connection whose other end is not trusted to be reasonable."""

    # so few fields are left to `websockets` that Python keeps their names once for all connections: 1 KiB
    __slots__ = (
        *("_backlog", "_controls", "_fragments", "_gate", "_head", "_is_catching_up", "_is_cut"),
        *("_is_held", "_is_slow", "_last", "_outside", "_ping_at", "_taker", "_unanswered"),
        "_waiting",
        *("client", "is_deaf", "page_size", "quota", "reading", "session"),
    )

    quota: Quota
    session: Connection | None
    """What the limiter evicts, once it stands."""
    reading: SlowReaderDetector
    client: str
    """The address that it comes from."""

    def __init__(
        self,
        gate: Gate,
        outside: socket.socket,
        protocol: ServerProtocol,
        *args: Any,
        **options: Any,
    ) -> None:
        """`outside` is the connection as it was let in, while TLS shakes hands over it."""
        super().__init__(protocol, *args, **options)
        # there is hardly ever anybody in it, and an empty deque has room for sixty-four
        self.drain_waiters = []  # type: ignore[assignment]
        self.session = None
        self.page_size = 0
        """Bytes of the page that it is sent, if it asked for one."""
        self._gate = gate
        self._outside: socket.socket | None = outside
        self._backlog = bytearray()
        self._is_catching_up = False
        self._is_slow = True
        """What comes is not passed on as it comes: the handshake, a backlog, or the end."""
        self._head = 0
        self._last = b""
        """Of the head, what its end may have begun in."""
        self._is_held = False
        """There is more behind the request, which waits until that is answered."""
        self._fragments = 0
        self._controls = TokenBucket(CONTROL)
        self._waiting = _Queue()
        """Frames that the library has read, and nobody has taken."""
        self._taker: asyncio.Future[bytes | None] | None = None
        """Waits for the next message."""
        self._is_between_frames = False
        """What comes next begins a frame."""
        self._ping_at = monotonic() + PING_EVERY
        self._unanswered = 0
        """Pings in a row."""
        self._is_cut = False
        self.is_deaf = False
        """Whatever comes is thrown away."""

    @property
    def _is_being_answered(self) -> bool:
        """Whether its request is read, and neither let in nor refused yet."""
        is_connecting = self.protocol.state is CONNECTING and not self.protocol.eof_sent
        return self.request is not None and is_connecting

    def entered(self) -> None:
        """The handshake is over: forget what was said in it, 3 KiB that nobody asks for again."""
        self.response = None
        if self.request is not None:
            # the parser holds it too, for as long as it reads
            self.request.headers.clear()

    def is_gone(self, now: float) -> bool:
        """Whether `MOST_UNANSWERED` pings were; pings when it is time to.

        To be asked again and again, by `monotonic`. A task for each connection, as `websockets` would
        have it, takes 1.5 KiB.
        """
        if now < self._ping_at or self.protocol.state is not OPEN:
            return False
        if self._unanswered == MOST_UNANSWERED:
            return True
        self._unanswered += 1
        self._ping_at = now + PING_EVERY
        self.protocol.send_ping(b"")
        self.send_data()
        return False

    @property
    def has_more(self) -> bool:
        """Whether further frames have come already."""
        return bool(self._waiting)

    def whole(self) -> "asyncio.Future[bytes | None]":
        """The next message, if it comes in a piece; `None`: `recv` has it, or knows of the end.

        To be awaited before it is asked for again.
        """
        taker = self._taker = self.loop.create_future()
        if self._waiting or self.recv_messages.closed:
            taker.set_result(None)
        return taker

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._outside = None
        bound_buffers(transport.get_extra_info("socket"))
        self.reading = SlowReaderDetector(self.transport)
        self.recv_messages.resume = self._go_on
        self.recv_messages.frames.queue = self._waiting  # type: ignore[assignment]
        self._gate.came(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_listening()
        super().connection_lost(exc)
        self._hand_over(None)
        self._untie()
        self._gate.went(self)

    def _untie(self) -> None:
        """Undo the circles in which the parts of a connection hold each other.

        It is gone at once then, and a house with much coming and going does not grow between two
        looks for garbage.
        """
        self.recv_messages.pause = self.recv_messages.resume = _nothing
        self.protocol.parser.close()
        if self.protocol.parser_exc is not None:
            self.protocol.parser_exc.__traceback__ = None

    def eof_received(self) -> None:
        self._backlog.clear()
        super().eof_received()

    def stop_listening(self) -> None:
        """Throw away whatever comes from now on."""
        self.is_deaf = self._is_slow = True
        self._backlog.clear()

    @property
    def holds_seat(self) -> bool:
        """Whether the player at the other end holds a seat by it."""
        return self.session is not None and self.session.holds_seat

    def evict(self) -> None:
        """End the connection: a newer one needs the room."""
        if self.session is None:
            self.cut()
        else:
            self.session.evict()

    def cut(self) -> None:
        """End the connection at once; what waits is thrown away, here and in the kernel."""
        if self._outside is not None:
            with suppress(OSError):
                self._outside.shutdown(socket.SHUT_RDWR)
            return
        if self._is_cut or self.protocol.state is CLOSED:
            return
        self._is_cut = True
        forget_unsent(self.transport.get_extra_info("socket"))
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._is_slow or len(data) > AT_ONCE:
            self._take_slowly(data)
            return
        message = read_whole(data) if self._is_between_messages else None
        if message is None or not self._hand_over(message):
            self._parse(data)

    def _parse(self, data: bytes) -> None:
        super().data_received(data)
        self._is_between_frames = is_between_frames(self.protocol.parser)

    @property
    def _is_between_messages(self) -> bool:
        """Whether what comes next begins a frame, which may begin a message."""
        protocol = self.protocol
        return self._is_between_frames and protocol.state is OPEN and protocol.current_size is None

    def _hand_over(self, message: bytes | None) -> bool:
        """Give a message to whoever waits for one; `None`: there is something in the queue."""
        taker = self._taker
        if taker is None or taker.done():
            return False
        taker.set_result(message)
        return True

    def send_data(self) -> None:
        if isinstance(self.protocol.handshake_exc, InvalidMessage) and not self.is_deaf:
            # `websockets` says nothing, which a proxy takes for a house that is broken
            self.stop_listening()
            if not self.transport.is_closing():
                self.transport.write(UNREADABLE)
                # what is left unread would take the answer back
                self.transport.resume_reading()
        super().send_data()
        if self._is_held and not self._is_being_answered:
            self._is_held = False
            if self.protocol.eof_sent:
                self._backlog.clear()
            self._go_on()

    def process_event(self, event: Any) -> None:
        if isinstance(event, Frame) and self._is_too_much(event):
            if not self.is_deaf:
                self.stop_listening()
                self._gate.floods(self)
            return
        if isinstance(event, Frame) and event.opcode is Opcode.PONG:
            self._unanswered = 0
        super().process_event(event)
        if self.has_more:
            self._hand_over(None)

    def _take_slowly(self, data: bytes) -> None:
        if self.is_deaf:
            return
        if self.protocol.state is CONNECTING:
            if self.protocol.eof_sent:
                return
            self._head += len(data)
            if self._head > MOST_HEAD:
                self.stop_listening()
                self.transport.write(HEAD_TOO_LONG)
                self.transport.close()
                return
        self._backlog += data
        self._is_slow = True
        if not self._is_catching_up:
            self._catch_up()

    def _catch_up(self) -> None:
        """Take one piece of what waits, and leave the rest for the next turn of the loop."""
        self._is_catching_up = False
        if self._is_being_answered:
            # taken for frames, it might end the connection before the answer
            self._is_held = True
            self.transport.pause_reading()
            return
        piece = bytes(self._backlog[:AT_ONCE])
        if self.request is None:
            piece = self._within_head(piece)
        del self._backlog[: len(piece)]
        if piece:
            self._parse(piece)
        if self._backlog:
            self.transport.pause_reading()
        self._go_on()

    def _within_head(self, piece: bytes) -> bytes:
        seen = self._last + piece
        end = seen.find(HEAD_END)
        if end >= 0:
            seen = seen[: end + len(HEAD_END)]
            piece = piece[: len(seen) - len(self._last)]
        self._last = seen[1 - len(HEAD_END) :]
        return piece

    def _go_on(self) -> None:
        """Read on, if what was read is done with."""
        if self.is_deaf or self.recv_messages.paused or self.transport.is_closing():
            return
        if self._backlog:
            if not self._is_catching_up:
                self._is_catching_up = True
                self.loop.call_soon(self._catch_up)
            return
        self._is_slow = self.protocol.state is CONNECTING
        self.transport.resume_reading()

    def _is_too_much(self, frame: Frame) -> bool:
        opcode = frame.opcode
        if opcode is Opcode.BINARY or opcode is Opcode.TEXT:
            self._fragments = 1
            return False
        if opcode is Opcode.CONT:
            self._fragments += 1
            return self._fragments > MOST_FRAGMENTS
        if opcode is Opcode.CLOSE:
            return False
        return not self._controls.take(1, self.loop.time())


def _nothing() -> None:
    """There is no transport to hold back any more."""
