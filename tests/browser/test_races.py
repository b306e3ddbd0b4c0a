"""Whole races on the page against a bot, in every game: page, record and verification agree."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.async_api import expect

from kit.browser_pages import DESKTOP, PHONE, Pages, page_url
from kit.line_client import line_client
from kit.page_player import PagePlayer, open_table, press, racing
from kit.server_process import ServerProcess
from saratoga_rules.games import GAMES
from saratoga_rules.records.digest_words import digest_words

MOVES = 15
"""The moves on the page before it cashes out."""

FEW = 8
"""The moves of each player in a race against a terminal."""

MANY = 20
"""The races of each game in the long test."""
MANY_MOVES = 120
STEADY = 10


async def raced(
    server: ServerProcess, pages: Pages, game: str, how: str, *, moves: int = MOVES, **more: Any
) -> None:
    """Race on the page against a bot to the end; fail on any disagreement or refusal."""
    size, touch = (PHONE, True) if how == "taps" else (DESKTOP, False)
    async with racing(server, pages, game, size=size, has_touch=touch, **more) as player:
        ways = {"taps": player.tap_move, "keys": player.type_move, "drags": player.drag_move}
        await player.race(ways[how], moves)
    assert not player.notes.denied


@pytest.mark.parametrize("game", GAMES)
async def test_a_race_on_the_page_agrees_with_its_record(
    page_server: ServerProcess, pages: Pages, game: str
) -> None:
    how = {"caprice": "keys", "lady-palk": "drags"}.get(game, "taps")
    await raced(page_server, pages, game, how)


async def test_a_race_against_a_terminal_ends_with_the_same_result_for_both(
    page_server: ServerProcess, pages: Pages, tmp_path: Path
) -> None:
    game = "canfield-aisleriot"
    page = await pages.open("about:blank", has_touch=True, reduced_motion="reduce")
    player = PagePlayer(page, game)
    await page.goto(page_url(page_server))
    code = await open_table(page, game=GAMES[game].title)
    words = ("join", code, "--plain", "--name", "Bert")
    async with line_client(page_server.url, tmp_path, *words) as bert:
        await bert.expect("table ")
        bert.type("ready")
        await expect(page.locator(".seats .ready")).to_have_count(1)
        await press(page, "Start the race").click()
        await player.dealt()
        await bert.expect("deal: ")
        heard = bert.read_to
        await player.race(player.tap_move, FEW)
        await bert.play(Random(1), FEW)
        bert.type("cash out yes")
        if player.board.state == "racing":
            await player.cash_out()
        await player.seen_results()
        # the board may have been stuck before the last command
        bert.read_to = heard
        results = [await bert.expect("result ") for _ in range(2)]
        assert (await bert.expect("verified: ")).endswith("the race that you played.")
        await page.locator(".seal").get_by_text("Fair deal.").wait_for()
        (outcome,) = player.notes.outcomes.values()
        assert digest_words(outcome.digest) in await page.locator(".seal").text_content()
        for row, line in zip(outcome.results, results, strict=True):
            assert f"{row.banked} banked" in line


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
async def test_many_races_on_the_page_agree_with_their_records(
    page_server: ServerProcess, pages: Pages, game: str
) -> None:
    for seed in range(MANY):
        how = ("taps", "keys", "drags")[seed % 3]
        await raced(page_server, pages, game, how, moves=MANY_MOVES, pace=STEADY, seed=seed)
