"""The plain client: its session in the test's process, and the program as a process of its own.

`scripted_session` reads prepared commands, and keeps the lines written. Tests write commands to a
`LineClient`'s standard input and read its output lines; one that waits in vain for a line fails,
and shows the last lines that the program wrote.
"""

import asyncio
import io
import os
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final

from saratoga_client.plain.session import LineOutput, LineReader, PlainSession


class RecordedOutput(LineOutput):
    """An output that keeps every line written to it."""

    def __init__(self) -> None:
        super().__init__(prompts=False)
        self.lines: list[str] = []

    def write(self, *lines: str) -> None:
        self.lines.extend(lines)

    def write_all(self, lines: Iterable[str]) -> None:
        self.write(*lines)


def scripted_session(*commands: str) -> tuple[PlainSession, RecordedOutput]:
    """Return a session that reads these commands and then ends, and its output.

    Call it inside a running event loop.
    """
    output = RecordedOutput()
    source = io.BytesIO("".join(f"{command}\n" for command in commands).encode())
    return PlainSession(LineReader(source.read), output), output


RECEIVED_WITHIN: Final = 60.0
"""Longest time in seconds to wait for a line; a bound, not a measurement."""


DRAWING: Final = (
    "import secrets; secrets.token_hex = lambda count: {nonce!r}\n"
    "from saratoga_client.__main__ import main; main()"
)
"""The program, with a nonce that the test knows before."""


class LineClient:
    """A running `saratoga` process, and every line that it has written."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self.read_to = 0
        """The number of lines that the test has read or skipped; a test may set it back."""
        self.errors: list[str] = []
        """Lines that the program wrote to its standard error."""
        self._more = asyncio.Event()
        assert process.stdout is not None
        assert process.stderr is not None
        self._reading_output = asyncio.create_task(self._read(process.stdout, self.lines))
        self._reading_errors = asyncio.create_task(self._read(process.stderr, self.errors))

    async def _read(self, stream: asyncio.StreamReader, lines: list[str]) -> None:
        async for line in stream:
            lines.append(line.decode().rstrip("\n"))
            self._more.set()
        self._more.set()

    def type(self, *commands: str) -> None:
        """Write these lines to the program's standard input."""
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{command}\n" for command in commands).encode())

    def end_input(self) -> None:
        """Close the program's standard input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def expect(self, *beginnings: str) -> str:
        """Return the next line that begins with one of these texts; skip the lines before it."""
        try:
            async with asyncio.timeout(RECEIVED_WITHIN):
                while True:
                    while self.read_to < len(self.lines):
                        line = self.lines[self.read_to]
                        self.read_to += 1
                        if line.startswith(beginnings):
                            return line
                    assert not self._reading_output.done(), self._instead(beginnings)
                    self._more.clear()
                    if self.read_to == len(self.lines) and not self._reading_output.done():
                        await self._more.wait()
        except TimeoutError:
            raise AssertionError(self._instead(beginnings)) from None

    def _instead(self, beginnings: Sequence[str]) -> str:
        return "\n".join([f"{beginnings} did not come, but:", *self.lines[-40:], *self.errors])

    async def legal(self) -> list[str]:
        """Return the legal moves that the client lists."""
        self.type("legal")
        count = int((await self.expect("legal: ", "no: ")).removeprefix("legal: "))
        return [(await self.expect("legal ")).split()[1].rstrip(":") for _ in range(count)]

    async def play(self, chance: Random, most: int) -> int:
        """Play up to `most` legal moves; return the number of moves made."""
        for made in range(most):
            moves = await self.legal()
            if not moves:
                return made
            self.type(typed(hurried_choice(moves, chance), chance))
            answer = await self.expect("move ", "no: ")
            assert answer.startswith("move "), "\n".join(self.lines[-40:])
        return most

    async def ended(self) -> int:
        """Wait until the program ends by itself; return its exit code."""
        async with asyncio.timeout(RECEIVED_WITHIN):
            await asyncio.gather(self._reading_output, self._reading_errors)
            return await self.process.wait()

    async def end(self) -> None:
        """Kill the program if it has not ended yet."""
        if self.process.returncode is None:
            self.process.kill()
        self.end_input()
        await self.ended()


def hurried_choice(moves: Sequence[str], chance: Random) -> str:
    """Choose a move as a player in a hurry does: bank if possible, else carry cards, else draw."""
    banking = [move for move in moves if move.endswith(("up", "down"))]
    carrying = [move for move in moves if ">" in move and not move.startswith("up.")]
    turning = [move for move in moves if ">" not in move]
    if banking:
        return chance.choice(banking)
    if carrying and (not turning or chance.random() < 0.5):
        return chance.choice(carrying)
    return chance.choice(turning or moves)


def typed(move: str, chance: Random) -> str:
    """Return a move in one of the forms that players may type."""
    source, _, rest = move.partition(">")
    target, _, count = rest.partition(":")
    if not rest or source.startswith("up.") or chance.random() < 0.3:
        return move
    source = source.removeprefix("t")
    target = {"up": "f", "down": "g"}.get(target, target.removeprefix("t"))
    # without a number the largest packet moves
    return f"{source} {target} {count or 1}"


@asynccontextmanager
async def piped(*words: str, **env: str) -> AsyncIterator[LineClient]:
    """Run a program over pipes, with these variables added to the environment."""
    process = await asyncio.create_subprocess_exec(
        *words,
        env={**os.environ, **env},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    client = LineClient(process)
    try:
        yield client
    finally:
        await client.end()


@asynccontextmanager
async def line_client(
    server: str, home: Path, *words: str, nonce: str = ""
) -> AsyncIterator[LineClient]:
    """Run `saratoga WORDS` over pipes, with `home` as the player's folder; it draws `nonce`, if given."""
    program = ("-c", DRAWING.format(nonce=nonce)) if nonce else ("-m", "saratoga_client")
    env = {"SARATOGA_SERVER": server, "SARATOGA_HOME": str(home)}
    async with piped(sys.executable, *program, *words, **env) as client:
        yield client
