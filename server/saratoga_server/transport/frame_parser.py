"""The parser for frames that are not whole messages: control frames, fragments, close frames.

Such frames are rare, and a `ServerProtocol` of `websockets` takes 5 KiB. So a parser is created
when such a frame comes, and dropped when the connection is between two messages again.
"""

from typing import Final

from websockets.frames import CloseCode as StandardCode
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from saratoga_protocol.codec import MAX_COMMAND_BYTES
from saratoga_protocol.refusals import CloseCode

MOST_FRAGMENTS: Final = 16
"""The most frames of one message. Saratoga's own clients send whole messages."""

CONTROLS: Final = (Opcode.CLOSE, Opcode.PING, Opcode.PONG)


class TooManyFragments(Exception):
    """A message with more than `MOST_FRAGMENTS` frames."""


class FrameParser:
    """A parser on the public Sans-I/O layer of `websockets`, created between two messages.

    After every call, write what `data_to_send` returns.
    """

    __slots__ = ("_is_text", "_parts", "_protocol")

    def __init__(self) -> None:
        self._protocol = ServerProtocol(state=State.OPEN, max_size=MAX_COMMAND_BYTES)
        self._parts: list[bytes] = []
        """The parts of the incomplete message."""
        self._is_text = False

    @property
    def is_open(self) -> bool:
        """True until either side begins to close or breaks the protocol."""
        return self._protocol.state is State.OPEN

    @property
    def is_between_messages(self) -> bool:
        """True if no message is incomplete, so that this parser can be dropped."""
        return not self._parts and self.is_open

    def receive(self, frame: bytes) -> Frame | None:
        """Return one parsed frame; `None` if it breaks the protocol, which ends the connection."""
        self._protocol.receive_data(frame)
        events = self._protocol.events_received()
        return events[0] if events and isinstance(events[0], Frame) else None

    def joined(self, frame: Frame) -> bytes | str | None:
        """Return the message that this data frame completes; `None` if it is still incomplete.

        Raises `TooManyFragments`.
        """
        if frame.opcode is not Opcode.CONT:
            self._is_text = frame.opcode is Opcode.TEXT
        self._parts.append(bytes(frame.data))
        if len(self._parts) > MOST_FRAGMENTS:
            raise TooManyFragments
        if not frame.fin:
            return None
        message = b"".join(self._parts)
        self._parts.clear()
        return self._decoded(message) if self._is_text else message

    def _decoded(self, message: bytes) -> str | None:
        try:
            return message.decode()
        except UnicodeDecodeError as error:
            self._protocol.fail(StandardCode.INVALID_DATA, f"{error.reason} at {error.start}")
            return None

    def close(self, code: CloseCode) -> None:
        """Begin to close, unless closing has begun."""
        if self.is_open:
            self._protocol.send_close(code.code, code.reason)

    def data_to_send(self) -> list[bytes]:
        """Return the bytes to write, in order; an empty item means: end the TCP connection."""
        return self._protocol.data_to_send()
