"""The look that a player chooses for the page, and what the keys of a race do."""

import re

from playwright.async_api import Page, expect

from kit.browser_pages import DESKTOP, PHONE_ON_ITS_SIDE, Pages, look, page_url, take_screenshot
from kit.page_player import PagePlayer, racing
from kit.server_process import ServerProcess

THEME = "document.documentElement.dataset.theme ?? ''"


async def ink(page: Page, suit: str) -> str:
    """Return the colour in which the board draws a suit."""
    card = page.locator(f".pile .card.{suit}").first
    return str(await card.evaluate("card => getComputedStyle(card).color"))


async def left_edge(page: Page, part: str) -> float:
    """Return where a part of the board begins, in pixels from the left."""
    box = await page.locator(part).first.bounding_box()
    assert box is not None
    return float(box["x"])


async def test_hand_and_colours_of_suits_are_chosen_and_kept(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(
        page_server, pages, "lady-palk", pace=1, finishes=False, size=PHONE_ON_ITS_SIDE
    ) as (player, _):
        page = player.page
        assert await ink(page, "h") == await ink(page, "d")
        assert await left_edge(page, ".hand") > await left_edge(page, ".cols")
        await page.keyboard.press("?")
        sheet = page.get_by_role("dialog")
        await sheet.get_by_label("Suits of Lady Palk").select_option("four colours")
        await sheet.get_by_label("Hand").select_option("left")
        await sheet.get_by_role("button", name="Back").click()
        for _ in range(2):
            assert len({await ink(page, suit) for suit in "shdc"}) == 4
            assert await left_edge(page, ".hand") < await left_edge(page, ".cols")
            await page.reload()
            await page.locator(".race .pile").first.wait_for()
        await look(page, "race-left-hand")


async def test_high_contrast_follows_the_system_as_long_as_no_colours_are_chosen(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server), contrast="more")
    assert await page.evaluate(THEME) == "contrast"
    await page.emulate_media(contrast="no-preference")
    # a function: an expression is evaluated again at each frame, which the page's policy forbids
    await page.wait_for_function(f"() => ({THEME}) === ''")
    await page.get_by_role("heading", name="Public tables").focus()
    await page.keyboard.press("t")
    assert await page.evaluate(THEME) == "felt"
    await page.reload()
    assert await page.evaluate(THEME) == "felt"


async def carry_cards(player: PagePlayer) -> None:
    """Make moves until one has carried cards."""
    while not any(">" in made.text for made in player.notes.acknowledged):
        await player.race(player.type_move, 1)
    player.notes.acknowledged.clear()


async def test_cards_move_only_if_the_system_wants_motion(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "lady-palk", pace=1, finishes=False) as (player, _):
        page = player.page
        await page.evaluate(
            "void (Element.prototype.animate = () => ({ moved: document.body.dataset.moved = '' }))"
        )
        await carry_cards(player)
        assert await page.evaluate("'moved' in document.body.dataset") is False
        await page.emulate_media(reduced_motion="no-preference")
        await carry_cards(player)
        assert await page.evaluate("'moved' in document.body.dataset") is True


async def said(player: PagePlayer, sentence: str) -> None:
    await player.page.locator(".say [role=status]").get_by_text(re.compile(sentence)).wait_for()


async def test_the_terminals_keys_do_in_a_race_what_they_do_there(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(page_server, pages, "klondike", pace=1, finishes=False, size=DESKTOP) as (
        player,
        _,
    ):
        page, press = player.page, player.page.keyboard.press
        await press("o")
        await said(player, "Quick on")
        await press("o")
        await said(player, "Quick off")
        for key in "+-":
            await press(key)
            await said(player, "pick a pile first")
        await press("b")
        await said(player, "No card can be taken back")
        await press("Tab")
        await said(player, "^1 of ")
        await press("Shift+Tab")
        await said(player, "^([0-9]+) of \\1:")
        await press("Escape")
        await said(player, "Selection cleared")
        await press("f")
        await said(player, "No card can be banked|Bank which|banked")
        await press("Escape")

        await press("/")
        await page.keyboard.type("k")
        await expect(page.locator(".finder [role=status]")).to_have_text(re.compile("[0-9] card"))
        assert await page.locator(".card.sought:not([data-card^=K])").count() == 0
        await press("Escape")
        await expect(page.locator(".sought")).to_have_count(0)

        assert await page.locator(".race").get_attribute("data-suits") == "2"
        await press("c")
        assert await page.locator(".race").get_attribute("data-suits") == "4"
        await press("t")
        await said(player, "Colours: felt")
        await press("p")
        await page.get_by_role("dialog", name="Klondike").wait_for()
        await press("Escape")
        await press("e")
        await said(player, "when one other player is left")
        await press("q")
        await page.get_by_role("dialog", name="Leave the table?").wait_for()
        await press("n")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await take_screenshot(page, "race-keys")
