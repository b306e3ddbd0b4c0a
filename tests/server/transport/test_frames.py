"""Frames: ours are the same as those of `websockets`, and other than plain messages are left to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol as WebSocket
from websockets.protocol import Side, State

from saratoga_protocol.refusals import RESTARTING
from saratoga_protocol.version import MAX_COMMAND_BYTES
from saratoga_server.transport.frame_parser import MOST_FRAGMENTS, FrameParser, TooManyFragments
from saratoga_server.transport.frames import (
    MOST_HEAD,
    frame_size,
    pack_message,
    pack_ping,
    read_message,
)

# Our frames are the same as those of `websockets`


SIZES = (0, 1, 3, 4, 5, 124, 125, 126, 127, 1000, MAX_COMMAND_BYTES, MAX_COMMAND_BYTES + 1, 65_536)


def frame(
    payload: bytes, opcode: Opcode = Opcode.BINARY, *, mask: bool = True, fin: bool = True
) -> bytes:
    """Return a frame as `websockets` encodes it."""
    return Frame(opcode, payload, fin).serialize(mask=mask)


def parsed(data: bytes) -> list[tuple[Opcode, bytes, bool]]:
    """Return the frames that `websockets`, in the server's role, decodes from the bytes."""
    protocol = WebSocket(Side.SERVER, state=State.OPEN)
    protocol.receive_data(data)
    return [
        (event.opcode, bytes(event.data), event.fin)
        for event in protocol.events_received()
        if isinstance(event, Frame)
    ]


@pytest.mark.parametrize("size", SIZES)
def test_a_whole_message_is_read_up_to_the_longest_command(size: int) -> None:
    message = bytes(place % 251 for place in range(size))
    assert read_message(frame(message)) == (message if size <= MAX_COMMAND_BYTES else None)


@pytest.mark.parametrize("size", SIZES)
def test_messages_are_written_as_the_library_writes_them(size: int) -> None:
    assert pack_message(bytes(size)) == frame(bytes(size), mask=False)
    assert pack_message("x" * size) == frame(b"x" * size, Opcode.TEXT, mask=False)


def test_text_is_read_and_written_in_utf_8() -> None:
    text, encoded = "\N{BLACK SPADE SUIT}", b"\xe2\x99\xa0"
    assert pack_message(text) == frame(encoded, Opcode.TEXT, mask=False)
    assert read_message(frame(encoded, Opcode.TEXT)) == text


def test_a_ping_is_written_as_the_library_writes_it() -> None:
    assert pack_ping(b"here") == frame(b"here", Opcode.PING, mask=False)


LEFT_TO_THE_LIBRARY = {
    "nothing": b"",
    "all but its end": frame(b"draw")[:-1],
    "one and a beginning": frame(b"draw") + b"\x82",
    "two": frame(b"draw") * 2,
    "not the last of its message": frame(b"draw", fin=False),
    "a further one of a message": frame(b"draw", Opcode.CONT),
    "text that is not UTF-8": frame(b"\xff\xfe", Opcode.TEXT),
    "a ping": frame(b"draw", Opcode.PING),
    "a close": frame(b"", Opcode.CLOSE),
    "without a mask": frame(b"draw", mask=False),
    "with an extension": b"\xc2" + frame(b"draw")[1:],
    "a length in two bytes that fits into one": b"\x82\xfe\x00\x04" + bytes(4) + b"draw",
}


@pytest.mark.parametrize("data", LEFT_TO_THE_LIBRARY.values(), ids=LEFT_TO_THE_LIBRARY)
def test_anything_else_is_left_to_the_library(data: bytes) -> None:
    assert read_message(data) is None


@given(st.binary(max_size=200), st.integers(0, 260), st.binary(min_size=1, max_size=3))
def test_a_frame_that_was_spoilt_is_read_as_the_library_reads_it(
    message: bytes, place: int, spoilt: bytes
) -> None:
    data = bytearray(frame(message))
    data[place : place + len(spoilt)] = spoilt
    read = read_message(bytes(data))
    if isinstance(read, str):
        assert parsed(bytes(data)) == [(Opcode.TEXT, read.encode(), True)]
    elif read is not None:
        assert parsed(bytes(data)) == [(Opcode.BINARY, read, True)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mask", [True, False])
def test_the_size_of_a_frame_is_known_from_its_head(size: int, mask: bool) -> None:
    data = frame(bytes(size), mask=mask)
    head = next(at for at in range(MOST_HEAD + 1) if frame_size(data[:at]) is not None)
    assert {frame_size(data[:at]) for at in range(head, len(data) + 1, 97)} == {len(data)}
    assert frame_size(data + b"\xff" * 20) == len(data)


# Frames other than plain messages: fragments, pings and closes


def frame_frame_parser(payload: bytes, opcode: Opcode, *, fin: bool = True) -> bytes:
    return Frame(opcode, payload, fin).serialize(mask=True)


def joined(parser: FrameParser, data: bytes) -> bytes | str | None:
    parsed = parser.receive(data)
    assert parsed is not None
    return parser.joined(parsed)


def test_fragments_are_joined_and_decoded_at_the_end() -> None:
    parser = FrameParser()
    assert joined(parser, frame_frame_parser(b"\xe2\x99", Opcode.TEXT, fin=False)) is None
    assert (parser.is_open, parser.is_between_messages) == (True, False)
    assert joined(parser, frame_frame_parser(b"\xa0", Opcode.CONT)) == "\N{BLACK SPADE SUIT}"
    assert (parser.is_open, parser.is_between_messages) == (True, True)
    assert joined(parser, frame_frame_parser(b"\xe2", Opcode.BINARY, fin=False)) is None
    assert joined(parser, frame_frame_parser(b"", Opcode.CONT)) == b"\xe2"


def test_a_message_has_only_so_many_fragments() -> None:
    parser = FrameParser()
    joined(parser, frame_frame_parser(b"", Opcode.BINARY, fin=False))
    for _ in range(MOST_FRAGMENTS - 1):
        joined(parser, frame_frame_parser(b"", Opcode.CONT, fin=False))
    with pytest.raises(TooManyFragments):
        joined(parser, frame_frame_parser(b"", Opcode.CONT))


def test_what_breaks_the_protocol_is_no_frame_and_ends_the_connection() -> None:
    parser = FrameParser()
    parsed = parser.receive(frame_frame_parser(b"", Opcode.CONT))
    assert (parsed, parser.is_open) == (None, False)
    close, end = parser.data_to_send()
    assert (close[2:4], end) == (b"\x03\xea", b"")


def test_a_close_is_sent_once_and_answered_by_the_clients() -> None:
    parser = FrameParser()
    parser.close(RESTARTING)
    parser.close(RESTARTING)
    (sent,) = parser.data_to_send()
    assert sent[2:4] == RESTARTING.code.to_bytes(2, "big")
    assert (parser.is_open, parser.is_between_messages) == (False, False)
    assert parser.receive(frame_frame_parser(sent[2:4], Opcode.CLOSE)) is not None
    assert parser.data_to_send() == [b""]
