"""Lines are read and written one at a time."""

import asyncio
import sys
from queue import SimpleQueue

import pytest

from kit.line_client import scripted_session
from saratoga_client.plain.grammar import Context
from saratoga_client.plain.session import LONGEST, LineOutput, LineReader

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
    reader, lines = LineReader(Pipe(*chunks, b"").read), []
    async with asyncio.timeout(WITHIN):
        while (line := await reader.next()) is not None:
            lines.append(line)
    return lines


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ((b"draw\nw ", b"3\r\n", b"\nlo", b"ok\n"), ["draw", "w 3", "", "look"]),
        ((b"draw\nquit",), ["draw", "quit"]),
        (("name Zoë\n".encode()[:8], "name Zoë\n".encode()[8:]), ["name Zoë"]),
        ((b"a\xffb\n",), ["a\N{REPLACEMENT CHARACTER}b"]),
        ((b"x" * 3 * LONGEST, b"y" * LONGEST, b"\nlook\n"), ["x" * LONGEST, "look"]),
    ],
    ids=["line ends", "no last line end", "split character", "invalid byte", "long line"],
)
async def test_lines_are_read_whatever_the_chunks_and_bytes(
    chunks: tuple[bytes, ...], lines: list[str]
) -> None:
    assert await all_lines(*chunks) == lines


async def test_waiting_for_a_line_does_not_block_the_event_loop() -> None:
    pipe = Pipe()
    reader = LineReader(pipe.read)
    async with asyncio.timeout(WITHIN), asyncio.TaskGroup() as group:
        waiting = group.create_task(reader.next())
        await asyncio.sleep(0)
        assert not waiting.done()
        pipe.chunks.put(b"draw\n")
    assert waiting.result() == "draw"
    pipe.chunks.put(b"")


async def test_a_source_that_fails_is_treated_as_ended() -> None:
    def broken(size: int) -> bytes:
        raise OSError("the terminal is gone")

    async with asyncio.timeout(WITHIN):
        assert await LineReader(broken).next() is None


def test_lines_are_written_whole_and_without_a_prompt_to_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    output = LineOutput(prompts=False)
    output.write("stock: 34, all of them hidden", "waste: empty")
    output.prompt()
    output.write_all(iter(["reserve: 13, 4H"]))
    assert capsys.readouterr().out == (
        "stock: 34, all of them hidden\nwaste: empty\nreserve: 13, 4H\n"
    )


def test_the_prompt_is_shown_once_and_an_event_begins_a_line_but_an_answer_follows_what_is_typed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = LineOutput(prompts=True)
    output.prompt()
    output.prompt()
    assert capsys.readouterr().out == "> "
    output.write("Otto [bot] took the lead", "2. Anna")
    output.prompt()
    assert capsys.readouterr().out == "\nOtto [bot] took the lead\n2. Anna\n> "
    output.line_typed()
    output.write("clock: 3:12 gone, 6:48 left")
    assert capsys.readouterr().out == "clock: 3:12 gone, 6:48 left\n"


def test_control_characters_are_made_visible(
    capsys: pytest.CaptureFixture[str],
) -> None:
    LineOutput(prompts=False).write("seat: An\x1b[2Jna")
    assert capsys.readouterr().out == "seat: An<U+001B>[2Jna\n"


def test_a_long_line_is_wrapped_between_words_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    line = "note: type ready to take part in the next race, and start when the others are ready"
    LineOutput(prompts=False).write(line)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 1
    assert all(len(each) <= 40 for each in lines)
    assert " ".join(lines) == line


async def test_empty_lines_are_skipped_and_the_end_of_the_input_stays_the_end() -> None:
    session, _ = scripted_session("", "   ", "look", "")
    parsed = await session.command(Context.TABLE)
    assert parsed is not None
    assert parsed.command is not None
    assert parsed.command.name == "look"
    assert await session.command(Context.TABLE) is None
    assert await session.command(Context.TABLE) is None


async def test_verbose_can_be_chosen_and_toggled() -> None:
    session, output = scripted_session()
    for words in ("on", "off", "", "much"):
        session.choose_verbose(words)
    assert session.output.style.is_verbose
    assert [line.split(":")[0] for line in output.lines] == ["ok", "ok", "ok", "no"]
