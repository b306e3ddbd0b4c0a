"""A faulty link forwards everything, and each of its faults does what its name says."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from kit.client_frames import DuplicateMove, ReorderMoves, is_move, payload_of, split_frames
from kit.faulty_link import FaultyLink, listening, to_socket
from kit.link_faults import add_header, break_after, lose_next_answer, narrow
from saratoga_protocol.codec import CODECS
from saratoga_protocol.commands import AnyCommand, Heartbeat, MakeMove
from saratoga_protocol.version import MSGPACK

WITHIN = 10
"""Longest time in seconds for anything awaited."""


class Client:
    """A connection through the link."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    async def answer_to(self, data: bytes) -> bytes:
        """Send bytes; return the answer, empty once the connection is closed."""
        self.writer.write(data)
        with suppress(ConnectionError):
            async with asyncio.timeout(WITHIN):
                return await self._reader.read(1 << 16)
        return b""


class EchoLink(FaultyLink):
    """A link to an echo server, and its clients."""

    def __init__(self, server: Path) -> None:
        super().__init__(to_socket(server))
        self.clients: list[Client] = []

    async def client(self) -> Client:
        """Connect a client."""
        client = Client(*await asyncio.open_connection(*self.url.removeprefix("ws://").split(":")))
        self.clients.append(client)
        return client


@pytest.fixture
async def link(tmp_path: Path) -> AsyncIterator[EchoLink]:
    echoing: set[asyncio.Task[None] | None] = set()

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        echoing.add(asyncio.current_task())
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                writer.write(data)
        writer.close()

    opened = EchoLink(tmp_path / "server")
    async with await asyncio.start_unix_server(echo, tmp_path / "server"):
        async with listening(opened):
            yield opened
            for client in opened.clients:
                client.writer.close()
        await asyncio.gather(*filter(None, echoing))


async def test_a_link_without_a_fault_passes_everything_on(link: EchoLink) -> None:
    client = await link.client()
    assert await client.answer_to(b"one") == b"one"
    assert link.open_connections == 1


async def test_a_cut_ends_open_connections_and_allows_new_ones(link: EchoLink) -> None:
    client = await link.client()
    await client.answer_to(b"one")
    link.cut()
    assert await client.answer_to(b"two") == b""
    assert await (await link.client()).answer_to(b"three") == b"three"


async def test_a_half_open_connection_stays_open_and_answers_nothing(link: EchoLink) -> None:
    client = await link.client()
    await client.answer_to(b"one")
    link.go_half_open()
    waiting = asyncio.create_task(client.answer_to(b"two"))
    assert await (await link.client()).answer_to(b"three") == b"three"
    assert not waiting.done()
    link.cut_half_open()
    assert await waiting == b""


async def test_a_stalled_connection_answers_after_it_resumes(link: EchoLink) -> None:
    client = await link.client()
    await client.answer_to(b"one")
    link.stall()
    waiting = asyncio.create_task(client.answer_to(b"two"))
    await (await link.client()).answer_to(b"three")
    assert not waiting.done()
    link.resume()
    assert await waiting == b"two"


async def test_the_answer_to_the_named_call_is_lost_once(link: EchoLink) -> None:
    link.fault = lose_next_answer("commit_boards")
    client = await link.client()
    assert await client.answer_to(b"save_table") == b"save_table"
    assert await client.answer_to(b"commit_boards") == b""
    assert await (await link.client()).answer_to(b"commit_boards") == b"commit_boards"
    assert link.answers_lost == 1


async def test_a_connection_breaks_after_so_many_answers_until_the_link_heals(
    link: EchoLink,
) -> None:
    link.fault = break_after(seed=1, fewest=2, most=2)
    client = await link.client()
    assert [await client.answer_to(b"x") for _ in range(2)] == [b"x", b""]
    client = await link.client()
    await client.answer_to(b"x")
    link.heal()
    assert [await client.answer_to(b"x") for _ in range(3)] == [b"x"] * 3


async def test_a_header_is_added_once_behind_the_request_line(link: EchoLink) -> None:
    link.fault = add_header("X-Real", "203.0.113.7")
    client = await link.client()
    assert await client.answer_to(b"GET / HTTP/1.1\r\nHost: a\r\n") == (
        b"GET / HTTP/1.1\r\nX-Real: 203.0.113.7\r\nHost: a\r\n"
    )
    assert await client.answer_to(b"\r\n") == b"\r\n"


# Faults of moves


async def test_a_narrow_link_answers_late_and_carries_everything_in_its_order(
    link: EchoLink,
) -> None:
    link.fault = narrow(80_000, 0.2)
    began = asyncio.get_running_loop().time()
    client = await link.client()
    assert await client.answer_to(b"one") == b"one"
    # opened after 0.2 s, and answered after 0.2 s
    assert asyncio.get_running_loop().time() - began >= 0.3
    began = asyncio.get_running_loop().time()
    data = b"".join(b"%d " % number for number in range(400))
    client.writer.write(data[:700])
    received = await client.answer_to(data[700:])
    while len(received) < len(data):
        received += await client.answer_to(b"")
    assert received == data
    assert asyncio.get_running_loop().time() - began >= 0.2 + 2 * 8 * len(data) / 80_000 - 0.01


def frame(command: AnyCommand) -> bytes:
    """Encode a command as a client does: masked."""
    payload = CODECS[MSGPACK].encode_command(command)
    assert isinstance(payload, bytes)
    mask = os.urandom(4)
    masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
    length = len(payload)
    size = bytes([0x80 | length]) if length < 126 else b"\xfe" + length.to_bytes(2, "big")
    return b"\x82" + size + mask + masked


def move(command_id: int) -> bytes:
    return frame(MakeMove(id=command_id, race="mint-otter-42/1", after=command_id, move="draw"))


HEARTBEAT = frame(Heartbeat(id=1))


def test_frames_are_split_wherever_the_bytes_were_cut() -> None:
    whole = [move(2), HEARTBEAT, frame(MakeMove(id=3, race="a" * 200, after=3, move="draw"))]
    data = b"".join(whole)
    for cut in range(len(data)):
        first, rest = split_frames(data[:cut])
        second, left = split_frames(rest + data[cut:])
        assert first + second == whole
        assert left == b""


def test_moves_are_distinguished_from_other_commands() -> None:
    assert [is_move(each) for each in (move(2), HEARTBEAT)] == [True, False]
    assert b"draw" in payload_of(move(2))


def test_a_duplicated_move_is_sent_twice_and_again_after_the_next() -> None:
    done: list[bool] = []
    duplicate = DuplicateMove(lambda: done.append(True))
    first, second = move(2), move(3)
    assert duplicate([HEARTBEAT, first]) == [HEARTBEAT, first, first]
    assert not done
    assert duplicate([second]) == [second, first]
    assert done == [True]


async def test_reordered_moves_are_held_back_and_sent_in_another_order() -> None:
    moves = [move(2), move(3), move(4)]
    reorder = ReorderMoves(3, list.reverse, lambda data: None, lambda: None)
    assert reorder(moves[:2]) == []
    assert reorder([HEARTBEAT, moves[2]]) == [HEARTBEAT, *reversed(moves)]


async def test_a_held_move_is_sent_when_no_other_follows() -> None:
    sent: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    reorder = ReorderMoves(3, list.reverse, sent.set_result, lambda: None)
    only = move(2)
    assert reorder([only]) == []
    assert await sent == only
