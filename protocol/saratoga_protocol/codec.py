"""Encode messages into frames and decode them: one codec for each subprotocol.

The server decodes strictly: any fault of a frame raises `BadFrame`, which names the fault and
becomes a refusal. A client decodes leniently, so that it works with a newer server: unknown fields
are skipped, and an unknown event becomes an `UnknownEvent`.
"""

import re as regex
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, Union

from msgspec import DecodeError, Struct, ValidationError, json, msgpack

from saratoga_protocol.commands import Command
from saratoga_protocol.events import Event
from saratoga_protocol.version import JSON, LARGEST_NUMBER, MSGPACK

Frame: TypeAlias = bytes | str
"""A WebSocket message: binary (`bytes`) or text (`str`)."""

LONGEST_DETAIL: Final = 240
"""Characters after which a fault's description is cut, so that a hostile frame causes no long answer."""


class BadFrame(Exception):
    """An invalid frame. `code` is one of the codes in `refusals`, `detail` a sentence."""

    def __init__(self, code: str, detail: str, re: int | None = None) -> None:
        super().__init__(code, detail, re)
        self.code = code
        self.detail = detail
        self.re = re
        """The id of the command; `None` if the id could not be read."""

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"


class UnknownEvent(Struct, frozen=True, kw_only=True):
    """An event of a kind that this program does not know. Callers ignore such an event."""

    type: str
    re: int | None = None


class _CommandId(Struct):
    id: int


_EVENT_TYPES: Final = frozenset(kind.__struct_config__.tag for kind in Event.__subclasses__())
_FAULTS: Final = (DecodeError, RecursionError, ValueError, OverflowError, MemoryError)
"""Every exception that msgspec raises on unreadable bytes; a `UnicodeError` is a `ValueError`."""


class Codec:
    """An encoder and decoder of the messages of one subprotocol. It keeps no state between calls.

    A message is one MessagePack map in a binary frame, or one JSON object in a text frame, with the key `type`.
    """

    def __init__(self, subprotocol: str) -> None:
        self.subprotocol: Final = subprotocol
        is_text = subprotocol == JSON
        library: Any = json if is_text else msgpack
        self._encode: Final[Callable[[Command | Event], bytes]] = library.Encoder().encode
        self._kind: Final[type[Frame]] = str if is_text else bytes
        self._wants: Final = (
            "text frames; this one is binary" if is_text else "binary frames; this one is text"
        )
        self._commands: Final = library.Decoder(Union[*Command.__subclasses__()])
        self._events: Final = library.Decoder(Union[*Event.__subclasses__()])
        self._unknown: Final = library.Decoder(UnknownEvent)
        self._ids: Final = library.Decoder(_CommandId)

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
            raise _bad_command(fault, frame, self._ids) from None
        return command

    def decode_event(self, frame: Frame) -> Event | UnknownEvent:
        """Return the event in a frame. Raise `BadFrame`, and no other error, if there is none."""
        self._check_kind(frame)
        try:
            event: Event = self._events.decode(frame)
        except _FAULTS as fault:
            return _unknown_event(fault, frame, self._unknown)
        return event

    def _check_kind(self, frame: Frame) -> None:
        if not isinstance(frame, self._kind):
            raise BadFrame("wrong_frame_kind", f"{self.subprotocol} wants {self._wants}.")


CODECS: Final[Mapping[str, Codec]] = {name: Codec(name) for name in (MSGPACK, JSON)}
"""The codec of each subprotocol."""


def _bad_command(fault: Exception, frame: Any, ids: Any) -> BadFrame:
    """Return the error to raise: `bad_command` if the frame parses but is no command, else `bad_frame`."""
    if not isinstance(fault, ValidationError):
        return BadFrame("bad_frame", _sentence(fault))
    return BadFrame("bad_command", _sentence(fault), _command_id(frame, ids))


def _command_id(frame: Any, ids: Any) -> int | None:
    try:
        command_id: int = ids.decode(frame).id
    except _FAULTS:
        return None
    return command_id if 1 <= command_id <= LARGEST_NUMBER else None


def _unknown_event(fault: Exception, frame: Any, unknown: Any) -> UnknownEvent:
    """Return the event of an unknown kind; raise `BadFrame` if the frame is no event."""
    try:
        event: UnknownEvent = unknown.decode(frame)
    except _FAULTS:
        raise BadFrame("bad_frame", _sentence(fault)) from None
    if event.type in _EVENT_TYPES:
        raise BadFrame("bad_frame", _sentence(fault), event.re) from None
    return event


_PLACED: Final = regex.compile(r"(?P<what>.*) - at (?P<place>.*)", regex.DOTALL)


def _sentence(fault: Exception) -> str:
    """Return msgspec's error "Expected `str`, got `int` - at `$.move`" as "$.move: Expected str, got int."."""
    if isinstance(fault, UnicodeError):
        return "The frame has a text that is not UTF-8."
    if isinstance(fault, RecursionError):
        return "The frame is nested too deeply."
    if not isinstance(fault, DecodeError):
        return "The frame has a number or a length that is out of range."
    text = str(fault).replace("`", "")
    if placed := _PLACED.fullmatch(text):
        text = f"{placed['place']}: {placed['what']}"
    if len(text) > LONGEST_DETAIL:
        text = text[:LONGEST_DETAIL] + "..."
    return f"{text}."
