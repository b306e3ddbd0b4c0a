"""Whenever and however the client's program ends, it restores the terminal.

Each test opens the program in a pseudo-terminal and brings it to a moment of play. Then it terminates or
interrupts the program, resizes the terminal while the program ends, or kills the server.
"""

import signal
from pathlib import Path
from random import Random
from typing import Final

import pytest

from kit.server_process import ServerProcess
from kit.terminal_moments import COLUMNS, LINES, ONLINE, Moment, TerminalPlayers
from kit.windows import Window

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
