"""A connection's inbox: data not handled yet. One frame is handled per turn of the loop.

A read that is exactly one message is handled without an inbox if nothing is waiting
(`connection.py`). The inbox gets the rest: several frames in one read, parts of frames, frames that
`websockets` must parse, and data that arrive while a command is carried out.
"""

import asyncio
from typing import TYPE_CHECKING, Final

from websockets.frames import Frame, Opcode

from saratoga_protocol.codec import MAX_COMMAND_BYTES
from saratoga_protocol.refusals import CloseCode
from saratoga_server.transport.frame_parser import CONTROLS, FrameParser, TooManyFragments
from saratoga_server.transport.frames import MOST_HEAD, frame_size, read_message

if TYPE_CHECKING:
    from saratoga_server.transport.connection import PlayerConnection

MOST_WAITING: Final = MAX_COMMAND_BYTES + MOST_HEAD
"""The most bytes that may wait before reading is paused: one frame of the greatest length."""


class Inbox:
    """The waiting bytes of a connection, and a frame parser if one is needed."""

    __slots__ = ("_bytes", "_is_scheduled", "_is_shut", "_parser", "_reader")

    def __init__(self, reader: "PlayerConnection") -> None:
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
        """Handle the next frame in the next turn of the event loop."""
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._take_frame)

    def shut(self) -> None:
        """Discard the waiting data and all further data."""
        self._is_shut = True
        self._bytes.clear()

    def close(self, code: CloseCode) -> None:
        """Begin to close; further frames are only read for the peer's close frame."""
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
        """Remove and return the first frame (or a part); empty if it is incomplete."""
        size = frame_size(self._bytes)
        if size is None:
            return b""
        if size <= MOST_WAITING and size > len(self._bytes):
            return b""
        frame = bytes(self._bytes[:size])
        del self._bytes[:size]
        return frame

    def _read(self, frame: bytes) -> bytes | str | None:
        """Return the message that a frame completes, or `None`."""
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
