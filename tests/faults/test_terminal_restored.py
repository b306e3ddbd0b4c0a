"""Whenever and however the client's program ends, it restores the terminal.

Each test opens the program in a pseudo-terminal and brings it to a moment of play. Then it terminates or
interrupts the program, resizes the terminal while the program ends, or kills the server.
"""

import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Final

import pytest

from kit.keyboard_player import CODE, SARATOGA
from kit.pseudo_terminal import Window, window
from kit.server_process import ServerProcess
from saratoga_client.board_view.layout import Spot, lay_out
from saratoga_client.practice.deals import from_seed
from saratoga_rules.games import GAMES
from saratoga_rules.position import redact

COLUMNS, LINES, PANEL = 80, 24, 24
PRESSED, DRAGGED = 0, 32


class Moment(StrEnum):
    """The state of the player's program at the moment when a test ends it."""

    LOBBY = "lobby"
    PRACTICE = "practice"
    PRACTICE_DRAG = "drag in practice"
    GATHERING = "gathering"
    COUNTDOWN = "countdown"
    RACE = "race"
    RACE_DRAG = "drag in a race"
    RESULTS = "results"
    REVIEW = "review"


ALONE: Final = (Moment.PRACTICE, Moment.PRACTICE_DRAG)
"""The moments that need no server."""
ONLINE: Final = tuple(moment for moment in Moment if moment not in ALONE)


@dataclass
class TerminalPlayers:
    """Players on one server, one for each `Moment` at which a test ends the player's program."""

    server_process: ServerProcess
    folder: Path
    _codes: dict[Moment, str] = field(default_factory=dict)
    """The table's code for each moment, with which a player returns to the table in the next window."""
    _players: int = 0

    @asynccontextmanager
    async def at(self, moment: Moment, *, modern: bool = True) -> AsyncIterator[Window]:
        """Open a window and bring the player to that moment."""
        async with AsyncExitStack() as stack:
            match moment:
                case Moment.LOBBY:
                    opened = await self._open(stack, moment, modern)
                    await opened.terminal.shows("TODAY")
                case Moment.PRACTICE | Moment.PRACTICE_DRAG:
                    words = ("practice", "canfield", "--seed", "1")
                    opened = await self._open(stack, moment, modern, *words)
                    await opened.terminal.shows("undo")
                case Moment.COUNTDOWN:
                    self._players += 1
                    opened = await self._host(stack, moment, modern)
                    await self._start(opened)
                case _:
                    opened = await self._at_table(stack, moment, modern)
            if moment in (Moment.PRACTICE_DRAG, Moment.RACE_DRAG):
                await drag(opened)
            if moment is Moment.REVIEW:
                opened.terminal.type(b"v")
                await opened.terminal.shows("back", len(opened.terminal.written))
            yield opened

    async def _at_table(self, stack: AsyncExitStack, moment: Moment, modern: bool) -> Window:
        """Open a window at the table of that moment, created at the first call."""
        shows = {
            Moment.GATHERING: "ready",
            Moment.RACE: "cash out",
            Moment.RACE_DRAG: "cash out",
            Moment.RESULTS: "see all boards",
            Moment.REVIEW: "see all boards",
        }[moment]
        if moment in self._codes:
            opened = await self._open(stack, moment, modern, "join", self._codes[moment])
            await opened.terminal.shows(shows)
            return opened
        opened = await self._host(stack, moment, modern)
        found = CODE.search(bytes(opened.terminal.written).decode(errors="replace"))
        assert found is not None
        self._codes[moment] = found[0]
        if moment is not Moment.GATHERING:
            await self._start(opened)
            await opened.terminal.shows("cash out")
        if moment in (Moment.RESULTS, Moment.REVIEW):
            opened.terminal.type(b"x")
            await opened.terminal.shows("Your race ends")
            opened.terminal.type(b"y")
            await opened.terminal.shows(shows)
        return opened

    async def _host(self, stack: AsyncExitStack, moment: Moment, modern: bool) -> Window:
        opened = await self._open(stack, moment, modern, "host", "canfield", "--cap", "0")
        await opened.terminal.shows("when you are ready")
        return opened

    async def _start(self, opened: Window) -> None:
        opened.terminal.type(b"r")
        await opened.terminal.shows("not ready")
        opened.terminal.type(b"s")
        await opened.terminal.shows("starts in")

    async def _open(
        self, stack: AsyncExitStack, moment: Moment, modern: bool, *words: str
    ) -> Window:
        player = f"{moment.name.title()}{self._players if moment is Moment.COUNTDOWN else ''}"
        env: Mapping[str, str | None] = {
            "SARATOGA_HOME": str(self.folder / player),
            "SARATOGA_SERVER": self.server_process.url,
            "SARATOGA_NAME": player.replace("_", ""),
        }
        return await stack.enter_async_context(
            window(*SARATOGA, *words, columns=COLUMNS, lines=LINES, modern=modern, env=env)
        )


async def drag(opened: Window) -> None:
    """Drag the card of the first column some cells away and keep the button down."""
    game = GAMES["canfield"]
    # The position of the column does not depend on the cards.
    view = redact(from_seed(game, "1").position)
    layout = lay_out(game, view, COLUMNS - PANEL, LINES - 3)
    place = layout.tile(Spot("t1", 0))
    assert place is not None
    if opened.terminal.modern:
        await opened.terminal.until(lambda: opened.terminal.modes.private.get(1016, False))
    # The title is above the board.
    x, y = place.x + 1, place.y + 2
    opened.terminal.point(PRESSED, x, y)
    for step in range(1, 4):
        opened.terminal.point(DRAGGED, x + step, y + step)
    # a key that the program handles after the pointer
    opened.terminal.type(b"%")
    await opened.terminal.shows("does nothing here")


CTRL_C: Final = b"\x03"
INTERRUPTED: Final = 128 + signal.SIGINT
RESIZES: Final = 20
"""The number of times that the terminal is resized."""
ROUNDS: Final = 15
"""Repetitions of every moment: more than a hundred of each kind of end in total."""
SHORT: Final = (Moment.LOBBY, Moment.PRACTICE_DRAG, Moment.RACE_DRAG)
"""The moments at which the short tests end the program."""


async def is_terminated(opened: Window) -> None:
    opened.process.send_signal(signal.SIGTERM)
    assert await opened.given_back() == 128 + signal.SIGTERM, opened.last_words


async def is_interrupted(opened: Window) -> None:
    opened.terminal.type(CTRL_C)
    assert await opened.given_back() == INTERRUPTED, opened.last_words


async def is_resized_while_interrupted(opened: Window, chance: Random) -> None:
    """Resize the window many times and interrupt the program in between."""
    for _ in range(RESIZES):
        opened.terminal.resize(chance.randint(1, 200), chance.randint(1, 60))
        if chance.random() < 0.2:
            await opened.terminal.writes()
    # The output of `stty -a` includes the size.
    opened.terminal.resize(COLUMNS, LINES)
    await is_interrupted(opened)


async def loses_the_server(opened: Window, server_process: ServerProcess, moment: Moment) -> None:
    """Kill the server; wait until the program shows that, then quit the program."""
    since = len(opened.terminal.written)
    await server_process.kill()
    said = "no server" if moment is Moment.LOBBY else "reconnecting"
    # The review covers the table's screen, which would show that the connection is lost.
    if moment is not Moment.REVIEW:
        await opened.terminal.shows(said, since)
    if moment is Moment.LOBBY:
        opened.terminal.type(b"q")
        assert await opened.given_back() == 0, opened.last_words
    else:
        await is_interrupted(opened)
    await server_process.start()


async def ends_in_every_way(
    players: TerminalPlayers, moment: Moment, chance: Random, *, modern: bool
) -> None:
    async with players.at(moment, modern=modern) as opened:
        await is_terminated(opened)
    async with players.at(moment, modern=modern) as opened:
        await is_interrupted(opened)
    async with players.at(moment, modern=modern) as opened:
        await is_resized_while_interrupted(opened, chance)
    if moment in ONLINE:
        async with players.at(moment, modern=modern) as opened:
            await loses_the_server(opened, players.server_process, moment)


@pytest.mark.parametrize("moment", SHORT)
async def test_the_terminal_is_restored(
    quick_server: ServerProcess, tmp_path: Path, moment: Moment
) -> None:
    await ends_in_every_way(
        TerminalPlayers(quick_server, tmp_path), moment, Random(moment), modern=True
    )


@pytest.mark.long
@pytest.mark.parametrize("moment", Moment)
async def test_the_terminal_is_restored_a_hundred_times(
    server_process: ServerProcess, tmp_path: Path, moment: Moment
) -> None:
    players = TerminalPlayers(server_process, tmp_path)
    for number in range(ROUNDS):
        await ends_in_every_way(
            players, moment, Random(f"{moment} {number}"), modern=number % 2 == 0
        )
