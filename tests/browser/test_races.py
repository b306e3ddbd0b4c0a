"""Whole races on the page against a bot, in every game: page, record and verification agree."""

from typing import Any

import pytest

from kit.browser_pages import DESKTOP, PHONE, Pages
from kit.page_player import racing
from kit.server_process import ServerProcess
from saratoga_rules.games import GAMES

MOVES = 25
"""The moves on the page before it cashes out."""

MANY = 20
"""The races of each game in the long test."""
MANY_MOVES = 120
STEADY = 10


async def raced(
    server: ServerProcess, pages: Pages, game: str, how: str, *, moves: int = MOVES, **more: Any
) -> None:
    """Race on the page against a bot to the end; fail on any disagreement or refusal."""
    size, touch = (PHONE, True) if how == "taps" else (DESKTOP, False)
    async with racing(server, pages, game, size=size, has_touch=touch, **more) as (player, _):
        ways = {"taps": player.tap_move, "keys": player.type_move, "drags": player.drag_move}
        await player.race(ways[how], moves)
    assert not player.notes.refusals


@pytest.mark.parametrize(
    ("game", "how"),
    [
        *((game, "taps") for game in GAMES),
        *(("canfield-aisleriot", "keys"), ("caprice", "keys")),
        *(("canfield", "drags"), ("lady-palk", "drags")),
    ],
)
async def test_a_race_on_the_page_agrees_with_its_record(
    page_server: ServerProcess, pages: Pages, game: str, how: str
) -> None:
    await raced(page_server, pages, game, how)


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
async def test_many_races_on_the_page_agree_with_their_records(
    page_server: ServerProcess, pages: Pages, game: str
) -> None:
    for seed in range(MANY):
        how = ("taps", "keys", "drags")[seed % 3]
        await raced(page_server, pages, game, how, moves=MANY_MOVES, pace=STEADY, seed=seed)
