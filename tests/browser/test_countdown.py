"""The countdown on the page, which lasts five seconds."""

import asyncio

from kit.browser_pages import Pages, check_accessible, page_url, serving_pages, take_screenshot
from kit.page_player import BRISK, PagePlayer, rival_at
from kit.server_process import ServerProcess


async def test_the_countdown_names_the_racers_and_the_seal_of_the_deal(pages: Pages) -> None:
    async with (
        serving_pages(module=ServerProcess.module) as server,
        rival_at(server, "caprice") as rival,
        asyncio.TaskGroup() as group,
    ):
        race = group.create_task(rival.race(1, BRISK, 2))
        page = await pages.open(page_url(server, f"/{rival.notes.code}"))
        player = PagePlayer(page, "caprice")
        await player.sit_down("Mira")
        await player.get_ready()
        await page.get_by_text("Caprice, one deal for both").wait_for()
        await page.get_by_text("Rival [bot]").wait_for()
        seal = page.locator("code")
        shown = (await seal.inner_text()).replace(" ", "")
        assert any(known.startswith(shown) for known in rival.notes.commitments.values())
        await check_accessible(page)
        await take_screenshot(page, "countdown")
        await page.locator(".race .pile").first.wait_for()
        race.cancel()
        await pages.close()
