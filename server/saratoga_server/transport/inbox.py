"""What a connection has received and not carried out yet: frame by frame, one a turn of the event loop.

A read that is exactly one message, on a connection of which nothing waits, never comes here
(`connection.py`). Everything else does: several frames in one read, parts of frames, frames that
`websockets` must parse, and whatever arrives while a command is carried out.
"""

import asyncio
from typing import Final, Protocol

from websockets.frames import Frame, Opcode

from saratoga_protocol.refusals import CloseCode
from saratoga_protocol.version import MAX_COMMAND_BYTES
from saratoga_server.transport.frame_parser import CONTROLS, FrameParser, TooManyFragments
from saratoga_server.transport.frames import MOST_HEAD, frame_size, read_message

MOST_WAITING: Final = MAX_COMMAND_BYTES + MOST_HEAD
"""Bytes from which on nothing more is read: one longest frame."""


class Reader(Protocol):
    """The connection, as its inbox needs it."""

    @property
    def may_begin(self) -> bool:
        """Whether the next frame may be looked at: no command is being carried out."""
        ...

    def begin(self, message: bytes | str) -> None:
        """Carry out a command."""
        ...

    def ponged(self, payload: bytes) -> None: ...

    def allows_control(self) -> bool:
        """Whether one more ping or pong is within bounds; if not, the connection is being closed."""
        ...

    def flooded(self) -> None:
        """Close, and read nothing any more: the peer sends what no client needs to send."""
        ...

    def write_protocol(self, parser: FrameParser) -> None:
        """Write what the parser has to send, and end the connection if it says so."""
        ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def emptied(self) -> None:
        """Nothing waits, and the next byte begins a message: the inbox can be dropped."""
        ...


class Inbox:
    """Bytes that wait, and the parser if one is needed."""

    __slots__ = ("_bytes", "_is_scheduled", "_is_shut", "_parser", "_reader")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._bytes = bytearray()
        self._parser: FrameParser | None = None
        self._is_scheduled = False
        self._is_shut = False

    def receive(self, data: bytes) -> None:
        if self._is_shut:
            return
        self._bytes += data
        if len(self._bytes) > MOST_WAITING:
            self._reader.pause_reading()
        self.go_on()

    def go_on(self) -> None:
        """Take the next frame in the next turn of the event loop."""
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._take_frame)

    def shut(self) -> None:
        """Throw away what waits, and whatever comes."""
        self._is_shut = True
        self._bytes.clear()

    def close(self, code: CloseCode) -> None:
        """Begin to close; further frames are read for the peer's answer alone."""
        parser = self._parser = self._parser or FrameParser()
        parser.close(code)
        self._reader.write_protocol(parser)
        self.go_on()

    def _take_frame(self) -> None:
        self._is_scheduled = False
        if self._is_shut or not self._reader.may_begin:
            return
        frame = self._next_frame()
        if len(self._bytes) <= MOST_WAITING:
            self._reader.resume_reading()
        if frame:
            message = self._read(frame)
            if message is not None:
                self._reader.begin(message)
            self.go_on()
        elif not self._bytes and (self._parser is None or self._parser.is_between_messages):
            self._reader.emptied()

    def _next_frame(self) -> bytes:
        """Cut off one frame, or all there is of one that is too long; nothing: it is incomplete."""
        size = frame_size(self._bytes)
        if size is None:
            return b""
        if size <= MOST_WAITING and size > len(self._bytes):
            return b""
        frame = bytes(self._bytes[:size])
        del self._bytes[:size]
        return frame

    def _read(self, frame: bytes) -> bytes | str | None:
        """Return the message that a frame completes, if it completes one."""
        if self._parser is None:
            message = read_message(frame)
            if message is not None:
                return message
            self._parser = FrameParser()
        parsed = self._parser.receive(frame)
        message = None if parsed is None else self._handled(self._parser, parsed)
        self._reader.write_protocol(self._parser)
        if self._parser.is_between_messages:
            self._parser = None
        return message

    def _handled(self, parser: FrameParser, frame: Frame) -> bytes | str | None:
        if frame.opcode in CONTROLS:
            if frame.opcode is not Opcode.CLOSE and not self._reader.allows_control():
                self._reader.flooded()
            elif frame.opcode is Opcode.PONG:
                self._reader.ponged(bytes(frame.data))
            return None
        try:
            message = parser.joined(frame)
        except TooManyFragments:
            self._reader.flooded()
            return None
        return message if parser.is_open else None
