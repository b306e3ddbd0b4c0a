"""The client as lines, as a process at the other end of two pipes.

It is told orders and heard line by line; whoever waits for a line is told what was said instead.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final

RECEIVED_WITHIN: Final = 60.0
"""Seconds: a bound for what is awaited, never a measure."""


class LineClient:
    """A running `saratoga`, and everything that it has said."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self.read_to = 0
        """Lines that were waited for, or passed over."""
        self.errors: list[str] = []
        """What it has said on its error stream."""
        self._more = asyncio.Event()
        assert process.stdout is not None
        assert process.stderr is not None
        self._listening = asyncio.create_task(self._listen(process.stdout, self.lines))
        self._minding = asyncio.create_task(self._listen(process.stderr, self.errors))

    async def _listen(self, stream: asyncio.StreamReader, lines: list[str]) -> None:
        async for line in stream:
            lines.append(line.decode().rstrip("\n"))
            self._more.set()
        self._more.set()

    def say(self, *orders: str) -> None:
        """Type these lines."""
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{order}\n" for order in orders).encode())

    def fall_silent(self) -> None:
        """Close its standard input: there will be no more lines."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def hear(self, *beginnings: str) -> str:
        """The next line that begins with one of these; what comes before it is passed over."""
        try:
            async with asyncio.timeout(RECEIVED_WITHIN):
                while True:
                    while self.read_to < len(self.lines):
                        line = self.lines[self.read_to]
                        self.read_to += 1
                        if line.startswith(beginnings):
                            return line
                    assert not self._listening.done(), self._instead(beginnings)
                    self._more.clear()
                    if self.read_to == len(self.lines) and not self._listening.done():
                        await self._more.wait()
        except TimeoutError:
            raise AssertionError(self._instead(beginnings)) from None

    def hear_again(self, read_to: int) -> None:
        """Go back to an earlier `read_to`: what was passed over since is heard by who asks for it."""
        self.read_to = read_to

    def _instead(self, beginnings: Sequence[str]) -> str:
        return "\n".join([f"{beginnings} was not said, but:", *self.lines[-40:], *self.errors])

    async def legal(self) -> list[str]:
        """Every legal move, as the client lists them."""
        self.say("legal")
        count = int((await self.hear("legal: ", "no: ")).removeprefix("legal: "))
        return [(await self.hear("legal ")).split()[1].rstrip(":") for _ in range(count)]

    async def play(self, chance: Random, most: int) -> int:
        """Play so many moves at most, chosen among the legal ones; how many were made."""
        for made in range(most):
            moves = await self.legal()
            if not moves:
                return made
            self.say(typed(liked(moves, chance), chance))
            answer = await self.hear("move ", "no: ")
            assert answer.startswith("move "), "\n".join(self.lines[-40:])
        return most

    async def ended(self) -> int:
        """Wait until it has ended by itself; its exit code."""
        async with asyncio.timeout(RECEIVED_WITHIN):
            await asyncio.gather(self._listening, self._minding)
            return await self.process.wait()

    async def end(self) -> None:
        """End it if it has not ended yet."""
        if self.process.returncode is None:
            self.process.kill()
        self.fall_silent()
        await self.ended()


def liked(moves: Sequence[str], chance: Random) -> str:
    """A move that somebody in a hurry would make: bank if possible, seldom only turn cards."""
    banking = [move for move in moves if move.endswith(("up", "down"))]
    carrying = [move for move in moves if ">" in move and not move.startswith("up.")]
    turning = [move for move in moves if ">" not in move]
    if banking:
        return chance.choice(banking)
    if carrying and (not turning or chance.random() < 0.5):
        return chance.choice(carrying)
    return chance.choice(turning or moves)


def typed(move: str, chance: Random) -> str:
    """A move in one of the forms in which people type it."""
    source, _, rest = move.partition(">")
    target, _, count = rest.partition(":")
    if not rest or source.startswith("up.") or chance.random() < 0.3:
        return move
    source = source.removeprefix("t")
    target = {"up": "f", "down": "g"}.get(target, target.removeprefix("t"))
    # without a number the largest packet is meant
    return f"{source} {target} {count or 1}"


@asynccontextmanager
async def line_client(server: str, home: Path, *words: str) -> AsyncIterator[LineClient]:
    """`saratoga WORDS` over pipes, as the player who is at home there."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "saratoga_client", *words),
        env={**os.environ, "SARATOGA_SERVER": server, "SARATOGA_HOME": str(home)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    client = LineClient(process)
    try:
        yield client
    finally:
        await client.end()
