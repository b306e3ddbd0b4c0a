"""Encode messages into frames and decode them: one codec for each subprotocol.

The server decodes strictly: any fault of a frame raises `BadFrame`, which names the fault and
becomes a refusal. A client decodes leniently, so that it works with a newer server: unknown fields
are skipped, and an event of an unknown kind becomes a bare `Event`.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias, Union

from msgspec import DecodeError, Struct, ValidationError, json, msgpack

from saratoga_protocol.commands import Command, CommandId
from saratoga_protocol.events import Event

WIRE_VERSION: Final = 1
"""The version, raised when a change breaks old clients; additions do not raise it."""
MSGPACK: Final = "saratoga.v1.msgpack"
"""The WebSocket subprotocol in which each message is one binary frame of MessagePack."""
JSON: Final = "saratoga.v1.json"
"""The WebSocket subprotocol in which each message is one text frame of JSON."""
SUBPROTOCOLS: Final = (MSGPACK, JSON)
MAX_COMMAND_BYTES: Final = 8 * 1024
"""The most bytes of a client's frame; a longer frame closes the connection with code 1009."""

LONGEST_DETAIL: Final = 240
"""Characters after which a fault's description is cut: a hostile frame causes no long answer."""

Frame: TypeAlias = bytes | str
"""A WebSocket message: binary (`bytes`) or text (`str`)."""


class BadFrame(Exception):
    """An invalid frame. `code` is one of the codes in `refusals`, `detail` describes the fault."""

    def __init__(self, code: str, detail: str, re: int | None = None) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.re = re
        """The id of the command; `None` if the id could not be read."""


class _Envelope(Struct):
    """The fields of any message, as far as they can be read."""

    type: str = ""
    id: CommandId | None = None
    re: int | None = None


_EVENT_TYPES: Final = frozenset(kind.__struct_config__.tag for kind in Event.__subclasses__())
_FAULTS: Final = (DecodeError, RecursionError, ValueError, OverflowError, MemoryError)
"""Every exception that msgspec raises on unreadable bytes; a `UnicodeError` is a `ValueError`."""


class Codec:
    """An encoder and decoder of the messages of one subprotocol. It keeps no state between calls.

    A message is one MessagePack map in a binary frame, or one JSON object in a text frame, with the
    key `type`.
    """

    def __init__(self, subprotocol: str) -> None:
        self.subprotocol: Final = subprotocol
        library: Any = json if subprotocol == JSON else msgpack
        self._kind: Final[type[Frame]] = str if subprotocol == JSON else bytes
        self._encode: Final[Callable[[Command | Event], bytes]] = library.Encoder().encode
        self._commands: Final = library.Decoder(Union[*Command.__subclasses__()])
        self._events: Final = library.Decoder(Union[*Event.__subclasses__()])
        self._envelopes: Final = library.Decoder(_Envelope)

    def encode(self, message: Command | Event) -> Frame:
        """Return the frame of a message."""
        frame = self._encode(message)
        return frame.decode() if self._kind is str else frame

    def decode_command(self, frame: Frame) -> Command:
        """Return the command in a frame. Raise `BadFrame`, and no other error, if there is none."""
        self._check_kind(frame)
        try:
            command: Command = self._commands.decode(frame)
        except _FAULTS as fault:
            code = "bad_command" if isinstance(fault, ValidationError) else "bad_frame"
            raise BadFrame(code, _described(fault), self._envelope(frame).id) from None
        return command

    def decode_event(self, frame: Frame) -> Event:
        """Return the event in a frame. Raise `BadFrame`, and no other error, if there is none."""
        self._check_kind(frame)
        try:
            event: Event = self._events.decode(frame)
        except _FAULTS as fault:
            envelope = self._envelope(frame)
            if not envelope.type or envelope.type in _EVENT_TYPES:
                raise BadFrame("bad_frame", _described(fault), envelope.re) from None
            return Event(re=envelope.re)
        return event

    def _check_kind(self, frame: Frame) -> None:
        if not isinstance(frame, self._kind):
            wanted = "text" if self._kind is str else "binary"
            raise BadFrame("wrong_frame_kind", f"{self.subprotocol} wants {wanted} frames.")

    def _envelope(self, frame: Frame) -> _Envelope:
        try:
            envelope: _Envelope = self._envelopes.decode(frame)
        except _FAULTS:
            return _Envelope()
        return envelope


CODECS: Final = {name: Codec(name) for name in SUBPROTOCOLS}
"""The codec of each subprotocol."""


def _described(fault: Exception) -> str:
    return f"{str(fault)[:LONGEST_DETAIL] or 'out of memory'}."
