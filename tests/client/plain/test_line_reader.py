import asyncio
from queue import SimpleQueue

from saratoga_client.plain.line_reader import AHEAD, LONGEST, LineReader

WITHIN = 10.0
"""Longest time in seconds to wait for the reader thread; a bound, not a measurement."""


class Pipe:
    """A source that returns the given chunks; `b""` is the end."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks: SimpleQueue[bytes] = SimpleQueue()
        for chunk in chunks:
            self.chunks.put(chunk)

    def read(self, size: int, /) -> bytes:
        return self.chunks.get()


async def all_lines(*chunks: bytes) -> list[str]:
    async with asyncio.timeout(WITHIN):
        return [line async for line in LineReader(Pipe(*chunks, b""))]


async def test_lines_are_split_correctly_whatever_the_chunks() -> None:
    assert await all_lines(b"draw\nw ", b"3\r\n", b"\nlo", b"ok\n") == ["draw", "w 3", "", "look"]


async def test_a_last_line_without_a_line_end_is_read() -> None:
    assert await all_lines(b"draw\nquit") == ["draw", "quit"]


async def test_a_character_split_between_chunks_is_decoded() -> None:
    assert await all_lines("name Zoë\n".encode()[:8], "name Zoë\n".encode()[8:]) == ["name Zoë"]


async def test_invalid_bytes_are_replaced_and_long_lines_are_truncated() -> None:
    assert await all_lines(b"a\xffb\n") == ["a�b"]
    assert await all_lines(b"x" * 3 * LONGEST, b"y" * LONGEST, b"\nlook\n") == [
        "x" * LONGEST,
        "look",
    ]


async def test_the_end_stays_the_end() -> None:
    reader = LineReader(Pipe(b""))
    async with asyncio.timeout(WITHIN):
        assert await reader.next() is None
        assert await reader.next() is None


async def test_waiting_for_a_line_does_not_block_the_event_loop() -> None:
    pipe = Pipe()
    reader = LineReader(pipe)
    async with asyncio.timeout(WITHIN), asyncio.TaskGroup() as group:
        waiting = group.create_task(reader.next())
        await asyncio.sleep(0)
        assert not waiting.done()
        pipe.chunks.put(b"draw\n")
    assert waiting.result() == "draw"
    pipe.chunks.put(b"")


async def test_only_a_few_lines_are_read_in_advance() -> None:
    pipe = Pipe(*[b"draw\n"] * (AHEAD + 50), b"")
    reader = LineReader(pipe)
    async with asyncio.timeout(WITHIN):
        assert await reader.next() == "draw"
        # the next line is read only after one was taken
        assert pipe.chunks.qsize() >= 48
        assert len([line async for line in reader]) == AHEAD + 49


async def test_a_source_that_fails_is_treated_as_ended() -> None:
    class Broken:
        def read(self, size: int, /) -> bytes:
            raise OSError("the terminal is gone")

    async with asyncio.timeout(WITHIN):
        assert await LineReader(Broken()).next() is None
