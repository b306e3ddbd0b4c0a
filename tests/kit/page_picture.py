"""Take the picture of a race on the page for the README: `make picture`.

The page races in Chromium, as large as a phone, against the rivals of the terminal's picture. The deal and
the players' strategies are always the same.
"""

import asyncio
import sys
from pathlib import Path
from random import Random
from typing import Final

from kit.browser_pages import PHONE, Pages, chromium
from kit.page_player import PagePlayer
from kit.race_picture import PACE, SEED, YOU, planned_moves, table_of_rivals
from saratoga_rules.moves import Carry, Move
from saratoga_server.transport.web_files import load_web_files, web_folder

PICTURE: Final = Path(__file__).parents[2] / "client" / "race-page.jpg"
GAME: Final = "klondike"
MOVES: Final = 45
SHARPNESS: Final = 2
"""Pixels of the picture for each one of the page."""
QUALITY: Final = 85


async def race(player: PagePlayer, moves: list[Move]) -> None:
    """Play the moves, and pick the source of the last one, so that the places light up where it can go."""
    for move in moves[:-1]:
        await player.page.wait_for_timeout(1000 / PACE)
        await player.answered(player.tap_move(move))
    last = moves[-1]
    assert isinstance(last, Carry), f"{last} lights nothing up"
    await player.tap(last.source)
    await player.page.locator(".pile.lit").first.wait_for()


async def picture() -> bytes:
    """Race at a table of rivals, and return the picture as JPEG."""
    web = load_web_files(web_folder())
    async with table_of_rivals(GAME, web) as (url, code), chromium() as browser:
        pages = Pages(browser)
        page = await pages.open(
            "about:blank",
            PHONE,
            has_touch=True,
            color_scheme="dark",
            reduced_motion="reduce",
            device_scale_factor=SHARPNESS,
        )
        player = PagePlayer(page, GAME, chance=Random(1))
        await page.goto(f"{url.replace('ws', 'http', 1)}/{code}")
        await player.sit_down(YOU)
        await player.get_ready()
        await player.dealt()
        await race(player, planned_moves(GAME, SEED, MOVES))
        taken: bytes = await page.screenshot(type="jpeg", quality=QUALITY)
        return taken


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    place.write_bytes(asyncio.run(picture()))
