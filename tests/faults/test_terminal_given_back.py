"""However a player's program ends, and wherever they are then, the terminal is as it was before.

`stty -a` says the same, and in the bytes nothing is left switched: alternate screen, mouse, cursor,
bracketed paste, keyboard protocols.
"""

import signal
from pathlib import Path
from random import Random
from typing import Final

import pytest

from kit.server_process import ServerProcess
from kit.terminal_moments import AT_A_HOUSE, COLUMNS, LINES, EveningAtHome, Moment
from kit.windows import Window

CTRL_C: Final = b"\x03"
INTERRUPTED: Final = 128 + signal.SIGINT
STORM: Final = 40
"""Sizes, one after the other, that a terminal is pulled to."""
ROUNDS: Final = 15
"""Times every moment, and every end: more than a hundred of each end."""
SHORT: Final = (Moment.LOBBY, Moment.PRACTICE_DRAG, Moment.GATHERING, Moment.RACE_DRAG)
"""Moments of the short tests."""


async def is_terminated(opened: Window) -> None:
    opened.process.send_signal(signal.SIGTERM)
    assert await opened.given_back() == 128 + signal.SIGTERM, opened.last_words


async def is_interrupted(opened: Window) -> None:
    opened.terminal.type(CTRL_C)
    assert await opened.given_back() == INTERRUPTED, opened.last_words


async def sees_a_storm(opened: Window, chance: Random) -> None:
    """The window is pulled to and fro, and the program ends in the middle of it."""
    for _ in range(STORM):
        opened.terminal.resize(chance.randint(1, 200), chance.randint(1, 60))
        if chance.random() < 0.2:
            await opened.terminal.writes()
    # `stty -a` tells the size too
    opened.terminal.resize(COLUMNS, LINES)
    await is_interrupted(opened)


async def loses_the_house(opened: Window, server_process: ServerProcess, moment: Moment) -> None:
    """The house is killed and stays away; the player waits for a word about it, and quits."""
    since = len(opened.terminal.written)
    await server_process.kill()
    said = "no house" if moment is Moment.LOBBY else "reconnecting"
    # what covers the table's screen says nothing of the house
    if moment is not Moment.REVIEW:
        await opened.terminal.shows(said, since)
    if moment is Moment.LOBBY:
        opened.terminal.type(b"q")
        assert await opened.given_back() == 0, opened.last_words
    else:
        await is_interrupted(opened)
    await server_process.start()


async def ends_in_every_way(
    evening: EveningAtHome, moment: Moment, chance: Random, *, modern: bool
) -> None:
    async with evening.at(moment, modern=modern) as opened:
        await is_terminated(opened)
    async with evening.at(moment, modern=modern) as opened:
        await is_interrupted(opened)
    async with evening.at(moment, modern=modern) as opened:
        await sees_a_storm(opened, chance)
    if moment in AT_A_HOUSE:
        async with evening.at(moment, modern=modern) as opened:
            await loses_the_house(opened, evening.server_process, moment)


@pytest.mark.parametrize("moment", SHORT)
async def test_the_terminal_is_given_back(
    server_process: ServerProcess, tmp_path: Path, moment: Moment
) -> None:
    await ends_in_every_way(
        EveningAtHome(server_process, tmp_path), moment, Random(moment), modern=True
    )


@pytest.mark.long
@pytest.mark.parametrize("moment", Moment)
async def test_the_terminal_is_given_back_again_and_again(
    server_process: ServerProcess, tmp_path: Path, moment: Moment
) -> None:
    evening = EveningAtHome(server_process, tmp_path)
    for number in range(ROUNDS):
        await ends_in_every_way(
            evening, moment, Random(f"{moment} {number}"), modern=number % 2 == 0
        )
