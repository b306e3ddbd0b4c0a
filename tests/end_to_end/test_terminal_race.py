"""Whole races of two players in terminals, by keys alone, on a real server.

The players use only what their screens show, and fail on a screen with truncated text.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kit.keyboard_player import KeyboardPlayer
from kit.server_process import ServerProcess
from kit.tmux import Screen, open_tmux

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
    return screen.lines[-1].split()[:2] == ["r", "ready"]


@pytest.mark.parametrize("game", ["canfield-aisleriot", "lady-palk"])
async def test_two_players_finish_a_race_by_keys_alone(
    quick_server: ServerProcess, tmp_path: Path, game: str
) -> None:
    async with two_at_a_table(quick_server, tmp_path, game, SIZES.get(game, NARROW)) as players:
        await race(players)
        assert all(player.made for player in players)
