"""A player at a terminal who has nothing but keys and what stands on the screen.

`KeyPlayer` opens the real program in tmux, and reads every screen as a person would: a line that is
cut anywhere is a fault.
"""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rich.cells import cell_len

from kit.tmux import Pane, Screen, Tmux

SARATOGA: Final = (sys.executable, "-m", "saratoga_client")

CODE: Final = re.compile(r"\b[a-z]+-[a-z]+-\d+\b")
CUT: Final = ("...", "…")
"""How the program shows that a line goes on where there is no room."""
_PLACE: Final = re.compile(
    r"^.(?P<place>[ \d]\d) (?P<name>\S.{25}) (?P<banked>[ \d]{6}) +(?P<net>[-+]?\$\d+)"
)


@dataclass(frozen=True, slots=True)
class Placed:
    """One racer's line among the results."""

    place: int
    name: str
    banked: int
    net: int


@dataclass
class KeyPlayer:
    """Somebody at a terminal of 80x24, or of another size."""

    tmux: Tmux
    name: str
    server: str
    home: Path
    columns: int = 80
    lines: int = 24
    seen: list[Screen] = field(default_factory=list)
    """Every screen that was waited for."""
    _pane: Pane | None = None

    @property
    def env(self) -> Mapping[str, str | None]:
        return {"SARATOGA_SERVER": self.server, "SARATOGA_HOME": str(self.home)}

    @property
    def pane(self) -> Pane:
        assert self._pane is not None, "nothing was started yet"
        return self._pane

    async def start(self, *words: str) -> None:
        """Type a command at the shell."""
        self._pane = await self.tmux.open(
            *SARATOGA, *words, columns=self.columns, lines=self.lines, env=self.env
        )

    async def press(self, *keys: str) -> None:
        await self.pane.press(*keys)

    async def sees(self, wanted: str | Callable[[Screen], bool]) -> Screen:
        """Wait for that screen; on it nothing may be cut."""
        screen = await self.pane.until(wanted)
        self.seen.append(screen)
        assert cut_lines(screen, self.columns, self.lines) == [], str(screen)
        return screen

    # What one does at a table

    async def hosts(self, game: str, *words: str) -> str:
        """Open a table; returns its code."""
        await self.start("host", game, "--name", self.name, *words)
        screen = await self.sees("Friends come to the table")
        found = CODE.search(str(screen))
        assert found is not None, str(screen)
        return found[0]

    async def joins(self, code: str) -> None:
        await self.start("join", code, "--name", self.name)
        await self.sees("Friends come to the table")

    async def is_ready(self) -> None:
        await self.press("r")
        await self.sees(lambda screen: "not ready" in screen.lines[-1])

    async def makes_moves(self, count: int) -> None:
        """Play what Tab lights, so many times, but what banks a card wherever something does."""
        for _ in range(count):
            before = await self.sees(has_the_board)
            await self.press("Tab")
            await self.sees(lambda screen: "play" in screen.lines[-1])
            await self.press("Enter")
            await self.sees(lambda screen, shown=before: is_played(shown, screen))

    async def cashes_out(self) -> None:
        await self.press("x")
        await self.sees("Cash out with")
        await self.press("y")

    async def results(self) -> tuple[Placed, ...]:
        """The order on the page after the race, once the record has been checked."""
        return places_on(await self.sees("the race is over"))


def has_the_board(screen: Screen) -> bool:
    """Whether the race can be played: its keys are offered."""
    return "cash out" in screen.lines[-1] and "play" not in screen.lines[-1]


def is_played(before: Screen, now: Screen) -> bool:
    """Whether a move has changed the board, or the race has gone on without it."""
    return "play" not in now.lines[-1] and now.lines[1:-2] != before.lines[1:-2]


def places_on(screen: Screen) -> tuple[Placed, ...]:
    found = [match for line in screen.lines if (match := _PLACE.match(line))]
    return tuple(
        Placed(
            int(match["place"]),
            match["name"].strip(),
            int(match["banked"]),
            int(match["net"].replace("$", "")),
        )
        for match in found
    )


def cut_lines(screen: Screen, columns: int, lines: int) -> list[str]:
    """The lines of a screen that do not stand there whole."""
    if len(screen.lines) != lines:
        return [f"{len(screen.lines)} lines of {lines}"]
    return [
        line
        for line in screen.lines
        if cell_len(line) > columns or any(line.rstrip().endswith(sign) for sign in CUT)
    ]
