import asyncio
from queue import SimpleQueue

from saratoga_client.plain.line_reader import AHEAD, LONGEST, LineReader

WITHIN = 10.0
"""Seconds: a bound for what a thread brings, never a measure."""


class Pipe:
    """A source that gives what it is given; `b""` is the end."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks: SimpleQueue[bytes] = SimpleQueue()
        for chunk in chunks:
            self.chunks.put(chunk)

    def read(self, size: int, /) -> bytes:
        return self.chunks.get()


async def all_lines(*chunks: bytes) -> list[str]:
    async with asyncio.timeout(WITHIN):
        return [line async for line in LineReader(Pipe(*chunks, b""))]


async def test_lines_come_one_by_one_however_they_were_cut() -> None:
    assert await all_lines(b"draw\nw ", b"3\r\n", b"\nlo", b"ok\n") == ["draw", "w 3", "", "look"]


async def test_the_last_line_may_lack_its_end() -> None:
    assert await all_lines(b"draw\nquit") == ["draw", "quit"]


async def test_a_letter_that_was_cut_in_two_is_put_together() -> None:
    assert await all_lines("name Zoë\n".encode()[:8], "name Zoë\n".encode()[8:]) == ["name Zoë"]


async def test_what_is_no_text_is_marked_and_what_is_too_long_is_cut() -> None:
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


async def test_a_line_that_is_waited_for_holds_nothing_up() -> None:
    pipe = Pipe()
    reader = LineReader(pipe)
    async with asyncio.timeout(WITHIN), asyncio.TaskGroup() as group:
        waiting = group.create_task(reader.next())
        await asyncio.sleep(0)
        assert not waiting.done()
        pipe.chunks.put(b"draw\n")
    assert waiting.result() == "draw"
    pipe.chunks.put(b"")


async def test_a_long_script_waits_in_its_pipe() -> None:
    pipe = Pipe(*[b"draw\n"] * (AHEAD + 50), b"")
    reader = LineReader(pipe)
    async with asyncio.timeout(WITHIN):
        assert await reader.next() == "draw"
        # the line after those read ahead is not taken before there is room
        assert pipe.chunks.qsize() >= 48
        assert len([line async for line in reader]) == AHEAD + 49


async def test_a_source_that_breaks_is_at_its_end() -> None:
    class Broken:
        def read(self, size: int, /) -> bytes:
            raise OSError("the terminal is gone")

    async with asyncio.timeout(WITHIN):
        assert await LineReader(Broken()).next() is None
