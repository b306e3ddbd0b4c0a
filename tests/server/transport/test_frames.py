"""What is read and written in one step is what `websockets` would have read and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN, Side
from websockets.protocol import Protocol as WebSocket

from saratoga_server.transport.frames import framed, read_whole

SIZES = (0, 1, 124, 125, 126, 127, 1000, 65_535, 65_536)


def frame(
    message: bytes, opcode: Opcode = Opcode.BINARY, *, mask: bool = True, fin: bool = True
) -> bytes:
    """As `websockets` writes it."""
    return Frame(opcode, message, fin).serialize(mask=mask)


def understood(data: bytes) -> list[tuple[Opcode, bytes, bool]]:
    """The frames that `websockets` finds at a server's side."""
    protocol = WebSocket(Side.SERVER, state=OPEN)
    protocol.receive_data(data)
    return [
        (event.opcode, bytes(event.data), event.fin)
        for event in protocol.events_received()
        if isinstance(event, Frame)
    ]


@pytest.mark.parametrize("size", SIZES)
def test_a_whole_frame_is_read_up_to_the_medium_length(size: int) -> None:
    message = bytes(place % 251 for place in range(size))
    assert read_whole(frame(message)) == (message if size <= 65_535 else None)


@pytest.mark.parametrize("size", SIZES)
def test_frames_are_written_as_the_library_writes_them(size: int) -> None:
    message = bytes(size)
    assert framed(message) == frame(message, mask=False)
    assert framed("x" * size) == frame(b"x" * size, Opcode.TEXT, mask=False)


def test_text_is_written_in_utf_8() -> None:
    assert framed("\N{BLACK SPADE SUIT}") == frame(b"\xe2\x99\xa0", Opcode.TEXT, mask=False)


LEFT = {
    "nothing": b"",
    "all but its end": frame(b"draw")[:-1],
    "one and a beginning": frame(b"draw") + b"\x82",
    "two": frame(b"draw") * 2,
    "not the last of its message": frame(b"draw", fin=False),
    "a further one of a message": frame(b"draw", Opcode.CONT),
    "text": frame(b"draw", Opcode.TEXT),
    "a ping": frame(b"draw", Opcode.PING),
    "a goodbye": frame(b"", Opcode.CLOSE),
    "without a mask": frame(b"draw", mask=False),
    "with an extension": b"\xc2" + frame(b"draw")[1:],
    "a length in two bytes that fits into one": b"\x82\xfe\x00\x04" + bytes(4) + b"draw",
}


@pytest.mark.parametrize("data", LEFT.values(), ids=LEFT)
def test_anything_else_is_left_to_the_library(data: bytes) -> None:
    assert read_whole(data) is None


@given(st.binary(max_size=200), st.integers(0, 260), st.binary(min_size=1, max_size=3))
def test_a_frame_that_was_spoilt_is_read_as_the_library_reads_it(
    message: bytes, place: int, spoilt: bytes
) -> None:
    data = bytearray(frame(message))
    data[place : place + len(spoilt)] = spoilt
    read = read_whole(bytes(data))
    if read is not None:
        assert understood(bytes(data)) == [(Opcode.BINARY, read, True)]
