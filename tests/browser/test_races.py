"""Whole races on the page against a bot, in every game: page, record and verification agree."""

import asyncio
from functools import partial
from random import Random

import pytest

from kit.browser_pages import DESKTOP, PHONE, Pages, page_url
from kit.page_player import PagePlayer, rival_at
from kit.race_audit import disagreements
from kit.recorded_players import RecordedPlayer
from kit.server_process import ServerProcess
from saratoga_protocol.commands import GetRecord
from saratoga_protocol.events import Record
from saratoga_rules.games import GAMES

MOVES = 25
"""The moves on the page before it cashes out."""
PACE = 40
"""The bot's moves a second."""

MANY = 20
"""The races of each game in the long test."""
MANY_MOVES = 120
STEADY = 10


async def raced(
    server: ServerProcess,
    pages: Pages,
    game: str,
    how: str,
    *,
    moves: int = MOVES,
    pace: float = PACE,
    seed: int = 1,
) -> None:
    """Race on the page against a bot to the end; fail on any disagreement."""
    async with rival_at(server, game) as rival, asyncio.TaskGroup() as group:
        rivals_race = group.create_task(rival.race(1, pace, 2))
        size, touch = (PHONE, True) if how == "taps" else (DESKTOP, False)
        # a finger that waits for nothing would miss a card on its way
        page = await pages.open("about:blank", size, has_touch=touch, reduced_motion="reduce")
        player = PagePlayer(page, game, chance=Random(seed))
        await page.goto(page_url(server, f"/{rival.notes.code}"))
        await player.sit_down(f"Mira {seed}")
        await player.get_ready()
        await player.dealt()
        ways = {"taps": player.tap_move, "keys": player.type_move, "drags": player.drag_move}
        await player.race(ways[how], moves)
        if player.board.state == "racing":
            await player.cash_out()
        await player.seen_results()
        await rivals_race
        await agree(rival, player)
        assert not player.notes.refusals
        await page.context.close()


async def agree(rival: RecordedPlayer, player: PagePlayer) -> None:
    """Compare the record with what both players saw."""
    race = player.board.race
    record = await rival.connection.ask(partial(GetRecord, race=race), Record)
    notes = [rival.notes, player.notes]
    assert await asyncio.to_thread(disagreements, record.text, notes) == []


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
