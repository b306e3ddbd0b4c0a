"""Whole races of two players in terminals, by keys alone, on a real server.

The players use only what their screens show, and fail on a screen with truncated text.
"""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from rich.cells import cell_len

from kit.server_process import ServerProcess
from kit.tmux import Pane, Screen, Tmux, open_tmux

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


SARATOGA: Final = (sys.executable, "-m", "saratoga_client")

CODE: Final = re.compile(r"\b[a-z]+-[a-z]+-\d+\b")
INVITATION: Final = " or type"
"""Words in the invitation at the top of a table's page before a race."""
PATIENCE: Final = 40
"""Moves in a row without a card banked, after which a player cashes out."""

_PLACE: Final = re.compile(
    r"^.(?P<place>[ \d]\d) (?P<name>\S.{25}) (?P<banked>[ \d]{6}) +(?P<net>[-+]?\$\d+)"
    r" +(?:\d+:\d\d +)?(?P<state>\S.*)"
)
_LIT: Final = re.compile(r"^ (?:\d+ of (?P<all>\d+): )?(?P<move>.*?)(?:; enter plays it)?\.$")
_BANK: Final = re.compile(r"(?:^| )([fg]) bank")
_WHICH: Final = re.compile(r"^ (\S+)(?: \S+)*? bank  esc drop")
_BANKED: Final = re.compile(r"banked (\d+)/\d+")


@dataclass(frozen=True, slots=True)
class Placed:
    """One racer's line on the results page."""

    place: int
    name: str
    banked: int
    net: int
    state: str


@dataclass
class KeyboardPlayer:
    """A player at a terminal, by default of 80x24 cells."""

    tmux: Tmux
    name: str
    server: str
    home: Path
    columns: int = 80
    lines: int = 24
    made: int = 0
    """The number of moves made in all races."""
    _pane: Pane | None = None
    _tried: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of a board's picture and a move that was tried on it in this race."""

    @property
    def env(self) -> Mapping[str, str | None]:
        return {"SARATOGA_SERVER": self.server, "SARATOGA_HOME": str(self.home)}

    @property
    def pane(self) -> Pane:
        assert self._pane is not None, "no program was started"
        return self._pane

    async def start(self, *words: str) -> None:
        """Start a program by typing its command at the shell."""
        self._pane = await self.tmux.open(
            *SARATOGA, *words, columns=self.columns, lines=self.lines, env=self.env
        )

    async def press(self, *keys: str) -> None:
        await self.pane.press(*keys)

    async def sees(self, wanted: str | Callable[[Screen], bool]) -> Screen:
        """Wait for a complete screen that matches; check that no line or frame is cut."""
        faults: list[str] = []

        def is_whole(screen: Screen) -> bool:
            assert "ended: " not in screen, f"{self.name}'s program has ended:\n{screen}"
            if not (wanted in screen if isinstance(wanted, str) else wanted(screen)):
                return False
            # a screen that is being painted may have faults
            faults[:] = faults_on(screen, self.columns, self.lines)
            return not faults

        try:
            while True:
                screen = await self.pane.until(is_whole)
                if await self.pane.is_painted() and screen == await self.pane.screen():
                    return screen
        except AssertionError as never:
            raise AssertionError(f"{self.name} at {faults}: {never}") from None

    # At a table

    async def hosts(self, game: str, *words: str) -> str:
        """Open a table; returns its code."""
        await self.start("host", game, "--name", self.name, *words)
        screen = await self.sees(INVITATION)
        found = CODE.search(str(screen))
        assert found is not None, str(screen)
        return found[0]

    async def joins(self, code: str) -> None:
        await self.start("join", code, "--name", self.name)
        await self.sees(INVITATION)

    async def is_ready(self) -> None:
        await self.press("r")
        await self.sees(lambda screen: "not ready" in screen.lines[-1])

    async def races(self) -> None:
        """Play until the board ends; cash out after `PATIENCE` moves without a card banked."""
        self._tried = set()
        await self.sees(lambda screen: RACE in screen)
        since_banked, banked = 0, 0
        while True:
            screen = await self.sees(lambda screen: may_play(screen) or is_over(screen))
            if is_over(screen):
                return
            found = _BANKED.search(str(screen))
            assert found is not None, str(screen)
            since_banked = 0 if int(found[1]) != banked else since_banked + 1
            banked = int(found[1])
            if since_banked > PATIENCE or not await self._moves(screen):
                break
            self.made += 1
        await self.cashes_out()

    async def _moves(self, screen: Screen) -> bool:
        """Bank a card if possible, else make the first move that Tab offers and that was not tried.

        Returns False if every move was tried on this board.
        """
        if bank := _BANK.search(screen.lines[-1]):
            await self._banks(screen, bank[1])
            return True
        board, before = board_of(screen), screen
        for number in range(1, 100):
            await self.press("Tab")
            before = await self.sees(is_lit_after(before))
            if is_over(before):
                return True
            lit = _LIT.match(before.lines[-2])
            assert lit is not None, str(before)
            if (board, lit["move"]) not in self._tried:
                self._tried.add((board, lit["move"]))
                await self.press("Enter")
                await self._sees_the_move(board)
                return True
            if number == int(lit["all"] or 100):
                break
        await self.press("Escape")
        await self.sees(lambda screen: may_play(screen) or is_over(screen))
        return False

    async def _banks(self, screen: Screen, key: str) -> None:
        await self.press(key)
        after = await self.sees(
            lambda after: (
                (after.lines[-2], board_of(after)) != (screen.lines[-2], board_of(screen))
                if RACE in after
                else is_over(after)
            )
        )
        if which := _WHICH.match(after.lines[-1]):
            await self.press(which[1])
            await self._sees_the_move(board_of(screen))

    async def _sees_the_move(self, board: str) -> None:
        await self.sees(
            lambda after: is_over(after) or (may_play(after) and board_of(after) != board)
        )

    async def cashes_out(self) -> None:
        """Cash out and confirm it; the server may end the board before the confirmation."""
        await self.press("x")
        screen = await self.sees(lambda screen: "Cash out with" in screen or is_over(screen))
        if not is_over(screen):
            await self.press("y")
            await self.sees(is_over)

    async def results(self) -> tuple[Placed, ...]:
        """Return the lines of the results page, after the client has verified the record."""
        screen = await self.sees("fair deal")
        assert "the race is over" in screen.lines[0]
        return places_on(screen)


def may_play(screen: Screen) -> bool:
    """Return whether the player can move: the keys for a race are shown and no card is picked."""
    keys = screen.lines[-1]
    return RACE in screen and "cash out" in keys and "play" not in keys and "no" not in keys.split()


def is_over(screen: Screen) -> bool:
    """Return whether this player's board has ended."""
    return "the race is over" in screen.lines[0] or (
        RACE in screen and screen.lines[-1].split()[:2] == ["p", "panel"]
    )


def is_lit_after(before: Screen) -> Callable[[Screen], bool]:
    """Return a test of a screen: Tab has highlighted another move, or the board has ended."""

    def is_lit(screen: Screen) -> bool:
        lit = "enter play" in screen.lines[-1] and screen.lines[-2] != before.lines[-2]
        return lit or is_over(screen)

    return is_lit


def places_on(screen: Screen) -> tuple[Placed, ...]:
    found = [match for line in screen.lines if (match := _PLACE.match(line))]
    return tuple(
        Placed(
            int(match["place"]),
            match["name"].strip(),
            int(match["banked"]),
            int(match["net"].replace("$", "")),
            match["state"].strip(),
        )
        for match in found
    )


NARROW, WIDE, BROAD = (80, 24), (100, 30), (120, 40)

SIZES = {"canfield-aisleriot": WIDE, "lady-palk": BROAD}
"""The size of the second player's terminal, if it is not narrow as the first player's is, by game."""


@asynccontextmanager
async def two_at_a_table(
    server_process: ServerProcess, homes: Path, game: str, size: tuple[int, int]
) -> AsyncIterator[tuple[KeyboardPlayer, KeyboardPlayer]]:
    """Open two terminals whose players have seats at a new table of this game."""
    columns, lines = size
    async with open_tmux() as tmux:
        anna = KeyboardPlayer(tmux, "Anna", server_process.url, homes / "anna")
        bert = KeyboardPlayer(tmux, "Bert", server_process.url, homes / "bert", columns, lines)
        await bert.joins(await anna.hosts(game))
        yield anna, bert


async def both(
    players: tuple[KeyboardPlayer, KeyboardPlayer],
    do: Callable[[KeyboardPlayer], Coroutine[Any, Any, Any]],
) -> None:
    async with asyncio.TaskGroup() as group:
        for player in players:
            group.create_task(do(player))


async def race(players: tuple[KeyboardPlayer, KeyboardPlayer]) -> None:
    """Play a race to its results, which must be the same on both screens; go to the next race."""
    anna, bert = players
    await both(players, lambda player: player.is_ready())
    await anna.sees(lambda screen: str(screen).count("ready") > 2)
    await anna.press("s")
    await both(players, lambda player: player.races())
    results = await anna.results()
    assert results == await bert.results()
    assert [placed.place for placed in results] in ([1, 2], [1, 1])
    assert {placed.name for placed in results} == {"Anna", "Bert"}
    assert [placed.banked for placed in results] == sorted(
        (placed.banked for placed in results), reverse=True
    )
    await anna.press("n")
    for player in players:
        await player.sees(lambda screen: "RACE 2" in screen and is_to_get_ready(screen))


def is_to_get_ready(screen: Screen) -> bool:
    """Return whether the next race gathers; a player who goes on to it is ready."""
    return screen.lines[-1].split()[:2] in (["r", "ready"], ["r", "not"])


@pytest.mark.parametrize("game", ["canfield-aisleriot", "lady-palk"])
async def test_two_players_finish_a_race_by_keys_alone(
    quick_server: ServerProcess, tmp_path: Path, game: str
) -> None:
    async with two_at_a_table(quick_server, tmp_path, game, SIZES.get(game, NARROW)) as players:
        await race(players)
        assert all(player.made for player in players)
