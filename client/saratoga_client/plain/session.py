"""Plain input and output: the lines of a terminal, a pipe or a file, read without blocking the event loop; and a session.

A thread reads the standard input, because no event loop can wait for a Windows console or a file.
The thread bypasses Python's buffered reader: it may block in a read for ever, and a blocked read
holds the buffer's lock, which the interpreter needs at exit.
"""

import asyncio
import io
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from select import select
from threading import Semaphore, Thread
from typing import Final

import click

from saratoga_client.output import write_line
from saratoga_client.plain.card_names import CardNames, LineStyle
from saratoga_client.plain.grammar import Context, ParsedLine, help_lines, parse_line
from saratoga_client.session.table_session import TableSession
from saratoga_protocol.visible_text import sanitised

CHUNK: Final = 65536
"""Maximum bytes of one read."""

LONGEST: Final = 500
"""Maximum characters of a line, which is cut there; every command is much shorter."""

AHEAD: Final = 64
"""Maximum lines read in advance; the rest of a long script stays in its pipe."""


def read_input(size: int) -> bytes:
    """Read the standard input without Python's buffer: block until there are bytes and return at most `size`."""
    buffer = sys.stdin.buffer
    # On Windows too, the raw console reader returns UTF-8.
    raw = buffer.raw if isinstance(buffer, io.BufferedReader) else buffer
    while (chunk := raw.read(size)) is None:
        # Another process has made the shared pipe non-blocking.
        select([raw], [], [])
    return chunk


class LineReader:
    """A reader of lines that does not block the event loop; it replaces invalid UTF-8 and truncates long lines."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        """`read` blocks until bytes arrive and returns at most so many; `b""` is the end."""
        self._source = read
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._free = Semaphore(AHEAD)
        self._loop = asyncio.get_running_loop()
        self._ended = False
        Thread(target=self._read, name="input lines", daemon=True).start()

    async def next(self) -> str | None:
        """Return the next line without its line end; `None` at and after the end of the input."""
        if self._ended:
            return None
        line = await self._lines.get()
        self._free.release()
        self._ended = line is None
        return line

    def _read(self) -> None:
        """Read until the source ends or the event loop is closed. Runs in the thread."""
        decoder, rest = getincrementaldecoder("utf-8")(errors="replace"), ""
        try:
            while chunk := self._chunk():
                *lines, rest = (rest + decoder.decode(chunk)).split("\n")
                for line in lines:
                    self._enqueue(line[:LONGEST].rstrip("\r"))
                rest = rest[:LONGEST]
            if rest:
                self._enqueue(rest.rstrip("\r"))
            self._enqueue(None)
        except RuntimeError:
            # The event loop is closed: the program is ending.
            return

    def _chunk(self) -> bytes:
        try:
            return self._source(CHUNK)
        except (OSError, ValueError):
            # The terminal is closed, or the input was closed during the read.
            return b""

    def _enqueue(self, line: str | None) -> None:
        self._free.acquire()
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


PROMPT: Final = "> "


class LineOutput:
    """A writer of lines to the standard output."""

    def __init__(self, *, prompts: bool | None = None, is_verbose: bool = False) -> None:
        """Create the output; with `prompts=None`, prompt only if a person types at a terminal."""
        self.style = LineStyle(is_verbose=is_verbose)
        self.is_interactive = is_interactive() if prompts is None else prompts
        """True if a person types at a terminal; then a prompt is shown."""
        self._has_prompted = False

    def write(self, *lines: str) -> None:
        """Write lines; control characters in them are made visible."""
        for line in lines:
            if self._has_prompted:
                # Leave the prompt's line before an event is written.
                self._has_prompted = False
                write_line("")
            write_line(line)

    def write_all(self, lines: Iterable[str]) -> None:
        """Write every line of an iterable."""
        self.write(*lines)

    def line_typed(self) -> None:
        """Note that the player pressed Enter, so the cursor has left the prompt's line."""
        self._has_prompted = False

    def prompt(self) -> None:
        """Show the prompt, unless the last line shows it already."""
        if self.is_interactive and not self._has_prompted:
            click.echo(PROMPT, nl=False)
            sys.stdout.flush()
            self._has_prompted = True


def is_interactive() -> bool:
    """Return whether a person types and reads at a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


async def ask(question: str) -> str:
    """Ask on the error stream, and return the one line that the player types.

    Nothing after the line is read. Raises `click.Abort` at the end of the input.
    """
    loop = asyncio.get_running_loop()
    line: asyncio.Future[bytes] = loop.create_future()

    def deliver(typed: bytes) -> None:
        if not line.done():
            line.set_result(typed)

    def read() -> None:
        typed = b""
        # ValueError, OSError: the terminal is closed
        with suppress(OSError, ValueError):
            typed = read_input(CHUNK)
        # RuntimeError: the program has ended in the meantime
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver, typed)

    click.echo(sanitised(f"{question}: "), nl=False, err=True)
    Thread(target=read, name="prompt", daemon=True).start()
    if not (typed := await line):
        raise click.Abort
    return typed.decode(errors="replace").strip()


class ExitReason(Enum):
    """The reason for leaving a table, a practice game or the lobby."""

    LEFT = auto()
    """The player returns to the lobby, or to the shell."""
    QUIT = auto()
    """The player ends the program."""
    INPUT_ENDED = auto()
    """The input has no more lines, so the program ends."""


@dataclass(slots=True)
class PlainSession:
    """Input and output of one run; shared by lobby, tables and practice."""

    lines: LineReader
    output: LineOutput
    friends: str = ""
    """The address by which friends reach the server; empty if it follows from the server's own."""
    alarms: list[str] = field(default_factory=list)
    """The alarms of all tables of this run; the program ends with them."""
    table: TableSession | None = None
    """The last table of this run."""

    @property
    def card_names(self) -> CardNames:
        """Return the names of cards that the player chose."""
        return self.output.style.card_names

    async def command(self, context: Context) -> ParsedLine | None:
        """Return the next line that is not empty; `None` at the end of the input."""
        while True:
            self.output.prompt()
            line = await self.lines.next()
            self.output.line_typed()
            if line is None:
                return None
            parsed = parse_line(line, context)
            if parsed.line:
                return parsed

    async def ask(self, question: str) -> str:
        """Ask, and return the next line. Raises `click.Abort` at the end of the input."""
        click.echo(f"{question}: ", nl=False, err=True)
        line = await self.lines.next()
        if line is None:
            raise click.Abort
        return line.strip()

    def help(self, context: Context) -> None:
        """Write the help on the commands that can be typed in this context."""
        self.output.write_all(help_lines(context))

    def choose_cards(self, words: str) -> None:
        """Carry out the command `cards`: change or show the style of card names."""
        match words.lower():
            case "letters" | "words" as form:
                names = CardNames(in_words=form == "words")
                self.output.style = replace(self.output.style, card_names=names)
            case "":
                pass
            case _:
                self.output.write("no: Type cards letters, or cards words.")
                return
        form = "words" if self.card_names.in_words else "letters"
        self.output.write(f"ok: cards are written in {form}")

    def choose_verbose(self, words: str) -> None:
        """Carry out the command `verbose`: set or toggle verbose standings."""
        match words.lower():
            case "on" | "off" as switch:
                is_verbose = switch == "on"
            case "":
                is_verbose = not self.output.style.is_verbose
            case _:
                self.output.write("no: Type verbose on, or verbose off.")
                return
        self.output.style = replace(self.output.style, is_verbose=is_verbose)
        self.output.write(
            "ok: every change of the standings is shown"
            if is_verbose
            else "ok: only standings that concern you are shown"
        )


def open_session(friends: str = "") -> PlainSession:
    """Return a session on the standard input and output; `friends` as in `PlainSession`."""
    return PlainSession(LineReader(read_input), LineOutput(), friends=friends)
