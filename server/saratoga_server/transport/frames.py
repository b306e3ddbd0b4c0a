"""Fast reading and writing of the commonest WebSocket frames (RFC 6455, 5.2).

`websockets` parses frames in nested generators, which costs as much as judging a move. A final,
masked text or binary frame without extensions is simple enough to be read here; every other frame
is parsed by `websockets`.
"""

from struct import Struct
from typing import Final

from saratoga_protocol.codec import MAX_COMMAND_BYTES

TEXT: Final = 0x81
"""The first byte of a final text frame without extensions."""
BINARY: Final = 0x82
PING: Final = 0x89

MASKED: Final = 0x80
"""The bit of a frame's second byte that says that four bytes of mask precede the payload."""

_LENGTH_BITS: Final = 0x7F

SHORT: Final = 125
"""The longest payload whose length fits into the frame's second byte."""
_MEDIUM: Final = 126
"""The length byte of a frame whose length is in the next two bytes."""
_LONG: Final = 127
"""The length byte of a frame whose length is in the next eight bytes."""
_MOST_MEDIUM: Final = 0xFFFF

MOST_HEAD: Final = 14
"""Bytes of the longest frame header: two, eight of length, four of mask."""

_SHORT_HEAD: Final = Struct("!BB").pack
_MEDIUM_HEAD: Final = Struct("!BBH").pack
_LONG_HEAD: Final = Struct("!BBQ").pack


def frame_size(data: bytes | bytearray) -> int | None:
    """Return the size of the first frame in `data`, with its header; `None` if it is unknown."""
    if len(data) < 2:
        return None
    length = data[1] & _LENGTH_BITS
    head = 6 if data[1] & MASKED else 2
    if length <= SHORT:
        return head + length
    extra = 2 if length == _MEDIUM else 8
    if len(data) < 2 + extra:
        return None
    return head + extra + int.from_bytes(data[2 : 2 + extra], "big")


def read_message(data: bytes) -> bytes | str | None:
    """Return the message if `data` is exactly one final masked data frame, else `None`.

    Returns `None` also for text that is not UTF-8 and for payloads above `MAX_COMMAND_BYTES`.
    """
    size = len(data)
    if size < 6 or size > 8 + MAX_COMMAND_BYTES:
        return None
    first, length = data[0], data[1]
    if first != BINARY and first != TEXT:
        return None
    if length == MASKED + size - 6 and size <= 6 + SHORT:
        payload = _unmasked(data, 2)
    elif length == MASKED + _MEDIUM and size > 8 + SHORT and data[2] << 8 | data[3] == size - 8:
        payload = _unmasked(data, 4)
    else:
        return None
    if first == BINARY:
        return payload
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return None


def _unmasked(data: bytes, mask_at: int) -> bytes:
    start = mask_at + 4
    size = len(data) - start
    mask = data[mask_at:start] * (size // 4 + 1)
    masked = int.from_bytes(data[start:], "little")
    return (masked ^ int.from_bytes(mask[:size], "little")).to_bytes(size, "little")


def pack_message(message: bytes | str) -> bytes:
    """Return the frame of a server's message: binary for bytes, text for a string."""
    first = BINARY
    if isinstance(message, str):
        first, message = TEXT, message.encode()
    return _packed(first, message)


def pack_ping(payload: bytes) -> bytes:
    """Return a ping with at most 125 bytes of payload."""
    return _packed(PING, payload)


def _packed(first: int, payload: bytes) -> bytes:
    size = len(payload)
    if size <= SHORT:
        return _SHORT_HEAD(first, size) + payload
    if size <= _MOST_MEDIUM:
        return _MEDIUM_HEAD(first, _MEDIUM, size) + payload
    return _LONG_HEAD(first, _LONG, size) + payload
