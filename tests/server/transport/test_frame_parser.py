"""Frames other than plain messages: fragments, pings and closes."""

import pytest
from websockets.frames import Frame, Opcode

from saratoga_protocol.refusals import RESTARTING
from saratoga_server.transport.frame_parser import MOST_FRAGMENTS, FrameParser, TooManyFragments


def frame(payload: bytes, opcode: Opcode, *, fin: bool = True) -> bytes:
    return Frame(opcode, payload, fin).serialize(mask=True)


def joined(parser: FrameParser, data: bytes) -> bytes | str | None:
    parsed = parser.receive(data)
    assert parsed is not None
    return parser.joined(parsed)


def test_fragments_are_joined_and_decoded_at_the_end() -> None:
    parser = FrameParser()
    assert joined(parser, frame(b"\xe2\x99", Opcode.TEXT, fin=False)) is None
    assert (parser.is_open, parser.is_between_messages) == (True, False)
    assert joined(parser, frame(b"\xa0", Opcode.CONT)) == "\N{BLACK SPADE SUIT}"
    assert (parser.is_open, parser.is_between_messages) == (True, True)
    assert joined(parser, frame(b"\xe2", Opcode.BINARY, fin=False)) is None
    assert joined(parser, frame(b"", Opcode.CONT)) == b"\xe2"


def test_a_message_has_only_so_many_fragments() -> None:
    parser = FrameParser()
    joined(parser, frame(b"", Opcode.BINARY, fin=False))
    for _ in range(MOST_FRAGMENTS - 1):
        joined(parser, frame(b"", Opcode.CONT, fin=False))
    with pytest.raises(TooManyFragments):
        joined(parser, frame(b"", Opcode.CONT))


def test_what_breaks_the_protocol_is_no_frame_and_ends_the_connection() -> None:
    parser = FrameParser()
    parsed = parser.receive(frame(b"", Opcode.CONT))
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
    assert parser.receive(frame(sent[2:4], Opcode.CLOSE)) is not None
    assert parser.data_to_send() == [b""]
