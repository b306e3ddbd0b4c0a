"""A player who gives no sign on the page is warned before the server ends the board or chooses another host."""

from typing import Final

import pytest
from playwright.async_api import Page, Route, expect

from kit.browser_pages import Pages, page_url
from kit.page_player import open_table, racing, seat_of
from kit.player_sockets import player_at
from kit.server_process import ServerProcess
from saratoga_protocol.commands import JoinTable

IDLE: Final = "const IDLE = 180_000;"
SOON: Final = "const IDLE = 70_000;"
"""A warning after two seconds: a minute before the end."""

IDLE_LEFT: Final = """async ([state, sign, now]) => {
    const page = await import(document.querySelector("script[type=module]").src.replace("main.js", "session.js"));
    return page.idleLeft(state, sign, now);
}"""


async def warn_soon(page: Page) -> None:
    """Let the page warn after two seconds without a sign."""

    async def answer(route: Route) -> None:
        fetched = await route.fetch()
        text = await fetched.text()
        assert IDLE in text
        await route.fulfill(response=fetched, body=text.replace(IDLE, SOON))

    await page.route("**/session.js", answer)


async def test_a_racer_is_warned_and_a_key_ends_the_warning(
    page_server: ServerProcess, pages: Pages
) -> None:
    async with racing(
        page_server, pages, "canfield", pace=1, finishes=False, has_touch=True, prepare=warn_soon
    ) as (player, _):
        warning = player.page.get_by_text("Your board ends in 60 s")
        await warning.wait_for()
        await player.page.keyboard.press("Shift")
        await warning.wait_for(state="detached")


async def test_a_host_between_races_is_warned_unless_alone(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open("about:blank")
    await warn_soon(page)
    await page.goto(page_url(page_server))
    code = await open_table(page)
    async with player_at(page_server.url, "Bert") as bert:
        await bert.at_table(JoinTable, table=code)
        await expect(seat_of(page, "Bert")).to_be_visible()
        await expect(page.get_by_role("status")).to_contain_text("another player becomes host")
        await page.keyboard.press("Shift")
        await expect(page.get_by_role("status")).to_have_text("You stay host.")


@pytest.mark.parametrize(
    ("seats", "sign", "idle_since", "start_at", "left"),
    [
        ("mbt", 1_000, 0, 0, 60),
        ("mbt", 1_000, 0, 60_000, 0),
        ("mbt", 1_000, 60_000, 0, 0),
        ("mbt", 60_000, 0, 0, 0),
        ("mt", 1_000, 0, 0, 60),
        ("m", 1_000, 0, 0, 0),
    ],
)
async def test_silence_counts_from_the_last_sign_or_the_start_or_as_the_server_says(
    page_server: ServerProcess,
    pages: Pages,
    seats: str,
    sign: int,
    idle_since: int,
    start_at: int,
    left: int,
) -> None:
    page = await pages.open(page_url(page_server))
    table = {"phase": "running", "seats": [{"player": seat} for seat in seats]}
    own = {"state": "racing", "startAt": start_at}
    state = {"player": "m", "table": table, "own": own, "idleSince": idle_since}
    assert await page.evaluate(IDLE_LEFT, [state, sign, 130_000]) == left
