"""What tests press and look at in the page's lobby and at its tables."""

import re
from typing import Final

from playwright.async_api import Locator, Page, expect

TABLE: Final = re.compile(r"/[a-z]+-[a-z]+-[0-9]{2}$")
"""The end of a table's address."""


def press(page: Page, name: str) -> Locator:
    """Return the button of that name."""
    return page.get_by_role("button", name=name, exact=True)


def seat_of(page: Page, name: str) -> Locator:
    """Return a player's line in the list of seats."""
    return page.locator(".seats li").filter(has_text=name)


async def open_table(page: Page, name: str = "Mira", game: str = "Lafayette") -> str:
    """Open a table in the lobby as a guest, and return its code."""
    await page.get_by_label("Your name").fill(name)
    await page.get_by_label("Game").select_option(game)
    await press(page, "Open a table").click()
    await page.wait_for_url(TABLE)
    await expect(page.get_by_role("heading", name=game)).to_be_visible()
    return str(page.url).rpartition("/")[2]


async def visit(page: Page, path: str) -> None:
    """Go to another path of the page without loading it again."""
    await page.evaluate(
        f"history.pushState(null, '', '{path}'); dispatchEvent(new PopStateEvent('popstate'))"
    )


async def get_ready(page: Page) -> None:
    """Get ready, and wait until the server has taken it: a host who is not ready cannot start."""
    await press(page, "I am ready").click()
    await expect(press(page, "Not ready")).to_be_visible()
