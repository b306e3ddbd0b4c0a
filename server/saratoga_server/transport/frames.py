"""The commonest frames, read and written in one step: whole messages, as programs send and get them.

`websockets` takes a frame apart bit by bit, in six generators, which costs as much as judging the move
in it. A frame that is whole, binary, masked, final and all that was read needs none of that; every
other goes to `websockets`, which stays the judge of what is a frame. RFC 6455, 5.2.
"""

from collections.abc import Generator
from struct import Struct
from typing import Any, Final

from websockets.frames import apply_mask  # type: ignore[attr-defined]
from websockets.streams import StreamReader

BINARY: Final = 0x82
"""The first byte of a final binary frame without extensions."""
TEXT: Final = 0x81
MASKED: Final = 0x80

SHORT: Final = 125
"""Bytes of a message whose length fits into the second byte of its frame."""
_MEDIUM: Final = 126
"""In place of that length: it comes in two bytes more."""
_LONG: Final = 127
"""Or in eight."""
_MOST_MEDIUM: Final = 0xFFFF

_SHORT_HEAD: Final = Struct("!BB").pack
_MEDIUM_HEAD: Final = Struct("!BBH").pack
_LONG_HEAD: Final = Struct("!BBQ").pack


def read_whole(data: bytes) -> bytes | None:
    """The message, if this is one binary frame of a client's and nothing else; otherwise `None`."""
    size = len(data)
    if size < 6 or data[0] != BINARY:
        return None
    length = data[1]
    if length == MASKED + size - 6 and size <= 6 + SHORT:
        return apply_mask(data[6:], data[2:6])
    if length == MASKED + _MEDIUM and size > 8 + SHORT and data[2] << 8 | data[3] == size - 8:
        return apply_mask(data[8:], data[4:8])
    return None


def is_between_frames(parser: Generator[None]) -> bool:
    """Whether the library's parser waits for a frame to begin.

    Of one that has begun it may have taken out of its buffer all that there was; what comes next is the
    rest of that frame then, whatever it looks like.
    """
    step: Any = parser
    while step.gi_yieldfrom is not None:
        step = step.gi_yieldfrom
    return step.gi_code is StreamReader.at_eof.__code__


def framed(message: bytes | str) -> bytes:
    """The frame that carries a server's message."""
    first = BINARY
    if isinstance(message, str):
        first, message = TEXT, message.encode()
    size = len(message)
    if size <= SHORT:
        return _SHORT_HEAD(first, size) + message
    if size <= _MOST_MEDIUM:
        return _MEDIUM_HEAD(first, _MEDIUM, size) + message
    return _LONG_HEAD(first, _LONG, size) + message
