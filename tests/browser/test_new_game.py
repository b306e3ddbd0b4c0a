"""A game that only the server knows: the page has its facts from there."""

import re

from playwright.async_api import expect

from kit import new_game
from kit.browser_pages import DESKTOP, Pages, page_url, serving_pages
from kit.new_game import TITLE, UNKNOWN_GAME
from kit.page_player import get_ready, open_table, press


async def test_a_game_that_only_the_server_knows_is_raced_and_checked(pages: Pages) -> None:
    async with serving_pages(module=new_game.__name__) as server:
        page = await pages.open(page_url(server), DESKTOP)
        code = await open_table(page)
        await page.get_by_label("Game").select_option(TITLE)
        await expect(page.get_by_role("heading", name=TITLE)).to_be_visible()

        guest = await pages.open(page_url(server, f"/{code}"))
        await expect(guest.get_by_role("heading", name=TITLE)).to_be_visible()
        await expect(guest.get_by_text("The cards cost $48 of casino money; every")).to_be_visible()

        await get_ready(page)
        await press(page, "Start").click()
        stock = page.locator('.race .pile[data-pile="stock"]')
        await expect(stock).to_have_attribute("aria-label", "Stock: 34 cards, pass 1 of 4; draw 2")
        await expect(stock).to_contain_text("draw 2")
        reserve = page.locator('.race .pile[data-pile="r"]')
        await expect(reserve).to_have_attribute("aria-label", re.compile("^Reserve: 9 cards, "))
        await expect(page.get_by_text("9 to get ahead")).to_be_visible()
        await expect(page.get_by_role("img", name="You have 1, ahead at 10")).to_be_visible()

        await page.keyboard.press("?")
        rules = page.get_by_role("dialog")
        await expect(rules.get_by_text(f"Rules of {TITLE}")).to_be_visible()
        await expect(rules.get_by_text("A game for the moon.")).to_be_visible()
        await expect(
            rules.get_by_text("2 cards at a time onto the waste, 4 passes")
        ).to_be_visible()
        await page.keyboard.press("Escape")

        await page.keyboard.press("x")
        await page.get_by_role("dialog").get_by_role("button", name="Cash out").click()
        await page.get_by_text("witnessed here").wait_for()
        await expect(page.get_by_text("seed and nonces make this deal")).to_be_visible()
        await page.get_by_role("link", name="Review").click()
        await expect(page.locator('.mini .pile[data-pile="stock"]').first).to_have_attribute(
            "aria-label", "Stock: 34 cards, pass 1 of 4; draw 2"
        )
        link = f"/leaderboards/{UNKNOWN_GAME}"
        await page.goto(page_url(server, link))
        await expect(page.get_by_role("heading", name=f"{TITLE}: best results")).to_be_visible()
        await pages.close()
