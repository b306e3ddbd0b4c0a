"""A program in a terminal, and a check that the program restores the terminal."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from kit.pseudo_terminal import PseudoTerminal, open_terminal

TAKEN: Final = frozenset({25, 1049})
"""Private modes that every full-screen program uses: a hidden cursor (25) and the alternate screen (1049)."""


@dataclass(frozen=True, slots=True)
class Window:
    """A terminal, the program in it, and the output of `stty -a` before its start."""

    terminal: PseudoTerminal
    process: asyncio.subprocess.Process
    before: str

    @property
    def last_words(self) -> str:
        """The text that the program left on the normal screen."""
        said = bytes(self.terminal.written).rpartition(b"\x1b[?1049l")[2]
        return said.decode(errors="replace")

    async def given_back(self) -> int:
        """Wait for the program's end; check that the terminal is restored; return the exit code."""
        code = await self.terminal.ended(self.process)
        modes = self.terminal.modes
        assert modes.ever >= TAKEN, "the program never took the terminal"
        assert modes.kept == [], modes.kept
        assert self.terminal.settings() == self.before
        return code


@asynccontextmanager
async def window(
    *program: str,
    columns: int = 80,
    lines: int = 24,
    modern: bool = True,
    env: Mapping[str, str | None] | None = None,
) -> AsyncIterator[Window]:
    """Run a program in a terminal; kill it at the end of the block if it still runs."""
    async with open_terminal(columns, lines, modern=modern) as terminal:
        before = terminal.settings()
        async with terminal.running(*program, env=env) as process:
            yield Window(terminal, process, before)
