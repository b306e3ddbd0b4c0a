"""Frames in chunks of any size give the same messages in order, in bounded memory, as `websockets` parses them."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from kit.gateways import FakeOwner, FakeTransport, open_connection, settle
from saratoga_protocol.codec import MAX_COMMAND_BYTES
from saratoga_protocol.refusals import ABUSE, RESTARTING
from saratoga_server.limits import Action
from saratoga_server.transport.connection import CONTROL, MOST_FRAGMENTS, MOST_WAITING
from saratoga_server.transport.frames import pack_message, read_message

# Frames in chunks of any size give the same messages in order: one per turn, in bounded memory


def frame(
    payload: bytes = b"", opcode: Opcode = Opcode.BINARY, *, fin: bool = True, mask: bool = True
) -> bytes:
    return Frame(opcode, payload, fin).serialize(mask=mask)


# Comparison with the parser of `websockets`


def by_the_parser_alone(data: bytes) -> tuple[list[bytes | str], bytes]:
    """Return the messages in `data`, and the bytes that are sent in response."""
    protocol = ServerProtocol(state=State.OPEN, max_size=MAX_COMMAND_BYTES)
    protocol.receive_data(data)
    messages: list[bytes | str] = []
    parts: list[Frame] = []
    for event in protocol.events_received():
        if isinstance(event, Frame) and event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            parts.append(event)
            if event.fin:
                message = b"".join(bytes(part.data) for part in parts)
                messages.append(message.decode() if parts[0].opcode is Opcode.TEXT else message)
                parts.clear()
    return messages, b"".join(protocol.data_to_send())


@st.composite
def fragmented(draw: st.DrawFn) -> bytes:
    """Return one message as fragments, with a ping between two of them."""
    text = draw(st.text(max_size=40)).encode()
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
    opcodes = [Opcode.TEXT] + [Opcode.CONT] * (len(pieces) - 1)
    frames = [
        frame(piece, opcode, fin=place == len(pieces) - 1)
        for place, (piece, opcode) in enumerate(zip(pieces, opcodes, strict=True))
    ]
    frames.insert(draw(st.integers(1, len(frames))), frame(b"in between", Opcode.PING))
    return b"".join(frames)


FRAMES = st.one_of(
    st.binary(max_size=300).map(frame),
    st.text(max_size=80).map(lambda text: frame(text.encode(), Opcode.TEXT)),
    st.binary(max_size=20).map(lambda payload: frame(payload, Opcode.PING)),
    st.binary(max_size=20).map(lambda payload: frame(payload, Opcode.PONG)),
    fragmented(),
)

LAST = st.sampled_from(
    [
        b"",
        frame((1000).to_bytes(2, "big"), Opcode.CLOSE),
        frame(b"\x00", Opcode.CLOSE),
        frame(b"x", mask=False),
        frame(b"x", Opcode.CONT),
        b"\x09" + frame(b"x")[1:],
        b"\x83" + frame(b"x")[1:],
        b"\xc2" + frame(b"x")[1:],
        frame(bytes(MAX_COMMAND_BYTES + 1)),
        frame(fin=False) + frame(),
    ]
)
"""The end of a sequence: nothing, a close frame, or a frame that violates the protocol."""


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[[Coroutine[Any, Any, None]], None]]:
    with asyncio.Runner() as runner:
        yield runner.run


@given(st.data(), st.lists(FRAMES, max_size=6), LAST, st.booleans())
def test_any_split_of_any_frames_gives_what_the_parser_alone_gives(
    run: Callable[[Coroutine[Any, Any, None]], None],
    data: st.DataObject,
    frames: list[bytes],
    last: bytes,
    answers_at_once: bool,
) -> None:
    sent = b"".join(frames) + last
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=12)))

    async def receive() -> None:
        owner = FakeOwner()
        owner.answers_at_once = answers_at_once
        connection, transport = open_connection(owner)
        for start, end in pairwise([0, *cuts, len(sent)]):
            if start < end:
                connection.data_received(sent[start:end])
            await asyncio.sleep(0)
        for _ in frames:
            connection.answered()
            await settle()
        connection.answered()
        await settle()
        assert (owner.messages, transport.written) == by_the_parser_alone(sent)
        assert transport.has_ended is (last != b"")

    run(receive())


# Order


async def test_while_a_command_is_carried_out_others_wait_and_only_so_many_are_read() -> None:
    owner = FakeOwner()
    owner.answers_at_once = False
    connection, transport = open_connection(owner)
    command = frame(bytes(1000))
    received = 0
    while not transport.is_paused:
        connection.data_received(command)
        received += 1
        await settle()
        assert len(owner.messages) == 1
    assert received == 2 + MOST_WAITING // len(command)
    owner.answers_at_once = True
    connection.answered()
    await settle()
    assert len(owner.messages) == received
    assert not transport.is_paused


async def test_no_command_is_carried_out_while_the_client_does_not_read() -> None:
    owner = FakeOwner()
    connection, _ = open_connection(owner)
    connection.pause_writing()
    connection.data_received(frame(b"draw"))
    await settle()
    assert owner.messages == []
    connection.resume_writing()
    await settle()
    assert owner.messages == [b"draw"]


# Bounds


def closes_with(transport: FakeTransport, code: int) -> bool:
    return frame(code.to_bytes(2, "big"), Opcode.CLOSE, mask=False)[2:4] in transport.written


@pytest.mark.parametrize("opcode", [Opcode.PING, Opcode.PONG])
async def test_a_flood_of_control_frames_is_abuse(opcode: Opcode) -> None:
    owner = FakeOwner()
    connection, transport = open_connection(owner)
    connection.data_received(frame(b"", opcode) * int(CONTROL.burst))
    await settle()
    assert (connection.is_open, owner.refusals[Action.COMMANDS]) == (True, 0)
    connection.data_received(frame(b"", opcode) * 40)
    await settle()
    assert (connection.is_open, owner.refusals[Action.COMMANDS]) == (False, 1)
    assert closes_with(transport, ABUSE.code)


@pytest.mark.parametrize(
    ("further", "is_flood"), [(MOST_FRAGMENTS - 1, False), (MOST_FRAGMENTS, True)]
)
async def test_a_message_has_only_so_many_fragments(further: int, is_flood: bool) -> None:
    owner = FakeOwner()
    connection, _ = open_connection(owner)
    connection.data_received(frame(b"x", fin=False))
    for last in range(further, 0, -1):
        connection.data_received(frame(b"x", Opcode.CONT, fin=last == 1))
    await settle()
    assert owner.messages == ([] if is_flood else [b"x" * MOST_FRAGMENTS])
    assert (connection.is_open, owner.refusals[Action.COMMANDS]) == (not is_flood, is_flood)


async def test_a_frame_too_long_is_refused_by_its_head() -> None:
    owner = FakeOwner()
    connection, transport = open_connection(owner)
    connection.data_received(frame(bytes(65_536))[:10])
    await settle()
    assert transport.has_ended
    assert closes_with(transport, CloseCode.MESSAGE_TOO_BIG)


async def test_text_that_is_not_utf_8_ends_the_connection() -> None:
    connection, transport = open_connection(FakeOwner())
    connection.data_received(frame(b"\xff\xfe", Opcode.TEXT))
    await settle()
    assert closes_with(transport, CloseCode.INVALID_DATA)


# Closing


async def test_after_a_close_of_ours_frames_are_read_for_the_clients_close_alone() -> None:
    owner = FakeOwner()
    connection, transport = open_connection(owner)
    for _ in range(2):
        connection.close(RESTARTING)
    assert transport.written.count(RESTARTING.code.to_bytes(2, "big")) == 1
    connection.data_received(frame(b"draw") + frame(b"here?", Opcode.PING))
    await settle()
    assert transport.written.endswith(frame(b"here?", Opcode.PONG, mask=False))
    assert not transport.has_ended
    connection.data_received(frame(RESTARTING.code.to_bytes(2, "big"), Opcode.CLOSE))
    await settle()
    assert (owner.messages, transport.has_ended) == ([], True)


# Our frames are the same as those of `websockets`


SIZES = (0, 1, 3, 4, 5, 124, 125, 126, 127, 1000, MAX_COMMAND_BYTES, MAX_COMMAND_BYTES + 1, 65_536)


@pytest.mark.parametrize("size", SIZES)
def test_a_whole_message_is_read_up_to_the_longest_command(size: int) -> None:
    message = bytes(place % 251 for place in range(size))
    assert read_message(frame(message)) == (message if size <= MAX_COMMAND_BYTES else None)


@pytest.mark.parametrize("size", SIZES)
def test_messages_are_written_as_the_library_writes_them(size: int) -> None:
    assert pack_message(bytes(size)) == frame(bytes(size), mask=False)
    assert pack_message("x" * size) == frame(b"x" * size, Opcode.TEXT, mask=False)
