"""Checks of a whole screen: no cut lines, no gaps in frames, a title and a message line."""

import re
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len

from kit.tmux import Screen

CUT: Final = ("..", "…")
"""The ends of a text that has been cut."""

RACE: Final = "┌ RACE "
"""The start of the title of the panel beside a board."""
CLOCK: Final = re.compile(r" \d+:\d\d$")


def faults_on(screen: Screen, columns: int, lines: int) -> list[str]:
    """Return a description of every layout fault on a screen of this size."""
    if len(screen.lines) != lines:
        return [f"{len(screen.lines)} lines of {lines}"]
    found = [
        f"cut: {line}"
        for line in screen.lines
        if cell_len(line) > columns or line.rstrip().endswith(CUT)
    ]
    if not screen.lines[0].strip():
        found.append("no title")
    if not screen.lines[-2].strip():
        found.append("no message")
    if not screen.lines[-1].rstrip().endswith(("q leave", "any other key no")):
        found.append(f"the key line: {screen.lines[-1]}")
    if RACE in screen:
        found.extend(_faults_of_race(screen, columns))
    return found


def board_of(screen: Screen) -> str:
    """Return the board's part of a race's screen, without the side panel."""
    (left,) = {line.index(RACE) for line in screen.lines if RACE in line}
    return "\n".join(line[:left].rstrip() for line in screen.lines[1:-2])


def _faults_of_race(screen: Screen, columns: int) -> Iterator[str]:
    if not CLOCK.search(screen.lines[0].rstrip()):
        yield f"no clock: {screen.lines[0]}"
    if RACE not in screen.lines[1]:
        yield "the panel does not begin below the title"
        return
    left = screen.lines[1].index(RACE)
    ends = [row for row, line in enumerate(screen.lines) if line[left : left + 1] == "└"]
    if not ends:
        yield "the panel does not end"
        return
    edges = {"┌": "┐", "├": "┤", "│": "│", "└": "┘"}
    for line in screen.lines[1 : ends[0] + 1]:
        if cell_len(line) != columns or edges.get(line[left]) != line[columns - 1]:
            yield f"the panel's frame: {line}"
        if line[left - 1].strip():
            yield f"the board reaches the panel: {line}"
        # no name is too long for the panel, so no line of it may be shortened
        if any(sign in line for sign in CUT):
            yield f"shortened: {line}"
