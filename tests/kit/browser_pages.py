"""The page in Chromium, on a server that listens on this machine's address in its network.

`pages` opens pages, each player's in a browser profile of its own:

    async def test_...(page_server: ServerProcess, pages: Pages) -> None:
        anna = await pages.open(page_url(page_server, "/mint-otter-42"))
        await anna.get_by_role("button", name="Take a seat").click()

After the test, a console error, an uncaught exception or a violation of the content security policy
on any page fails it; `pages.forgive` names those that the test causes on purpose. Plain http to
that address is no secure context, as with `saratoga host` in a network at home.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from axe_playwright_python.base import AxeResults
from msgspec import structs, to_builtins
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    async_playwright,
    expect,
)

from kit.altered_server import SHARED, UNHURRIED
from kit.positions import banking, walk
from kit.server_process import ServerProcess, program, running_server
from kit.session_states import board, snapshot, table
from saratoga_client.local.hosting import EVERY_ADDRESS, lan_address

PHONE: Final = (360, 640)
PHONE_ON_ITS_SIDE: Final = (640, 360)
TABLET: Final = (768, 1024)
DESKTOP: Final = (1280, 800)
SIZES: Final = (PHONE, PHONE_ON_ITS_SIDE, TABLET, DESKTOP)

SHOWN_WITHIN: Final = 60.0
"""Longest time in seconds for anything that a test waits for on a page; a machine may be busy or paused."""

expect.set_options(timeout=SHOWN_WITHIN * 1000)

SCREENSHOTS: Final = "SARATOGA_SCREENSHOTS"
"""The environment variable that names a folder for screenshots; without it none are taken."""

AXE: Final[str] = Axe().axe_script
"""The script that checks how accessible a page is."""

RUN_AXE: Final = """axe.run({
    resultTypes: ["violations"],
    rules: {"target-size": {enabled: true}},  // 24 pixels; not among axe's own choice
})"""

QUIET: Final = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--ignore-certificate-errors"),
)
"""Options with which Chromium asks nobody but the server under test, and takes the certificates of tests.

Playwright's own `ignore_https_errors` lets Chromium ask about each connection, and give up on a
file after a few.
"""

REPORT_VIOLATIONS: Final = """
document.addEventListener("securitypolicyviolation", event =>
    console.error("policy violated:", event.violatedDirective, event.blockedURI, event.sourceFile));
"""

BROKEN_WORDS: Final = """() => [...document.querySelectorAll("button, a.button")].filter(button => {
    if (getComputedStyle(button).textOverflow === "ellipsis") return false;
    const texts = document.createTreeWalker(button, NodeFilter.SHOW_TEXT);
    while (texts.nextNode())
        for (const word of texts.currentNode.data.matchAll(/[^\\s-]+/g)) {
            const range = document.createRange();
            range.setStart(texts.currentNode, word.index);
            range.setEnd(texts.currentNode, word.index + word[0].length);
            if (range.getClientRects().length > 1) return true;
        }
}).map(button => button.textContent)"""
"""A function that returns the names of buttons with a word on two lines."""


@dataclass
class Pages:
    """The pages of one test."""

    browser: Browser
    faults: list[str] = field(default_factory=list)
    """Console errors, exceptions and violated policies, with the page's address."""
    forgiven: list[str] = field(default_factory=list)
    """Parts of faults that the test causes on purpose."""
    profiles: list[BrowserContext] = field(default_factory=list)

    async def open(self, url: str, size: tuple[int, int] = PHONE, **options: Any) -> Page:
        """Open a page in a new profile, and wait until it is loaded.

        `options` are those of Playwright's `new_context`, such as `color_scheme="dark"` or
        `has_touch=True`.
        """
        width, height = size
        profile = await self.browser.new_context(
            viewport={"width": width, "height": height}, **options
        )
        self.profiles.append(profile)
        profile.set_default_timeout(SHOWN_WITHIN * 1000)
        profile.on("console", self._said)
        profile.on("weberror", self._failed)
        await profile.add_init_script(REPORT_VIOLATIONS)
        page = await profile.new_page()
        await page.goto(url)
        return page

    async def open_tab(self, beside: Page, url: str) -> Page:
        """Open another tab in the profile of a page."""
        page = await beside.context.new_page()
        await page.goto(url)
        return page

    def forgive(self, *parts: str) -> None:
        """Let faults pass that contain one of these texts."""
        self.forgiven += parts

    def check(self) -> None:
        """Fail if a page has reported a fault."""
        faults = [
            fault for fault in self.faults if not any(part in fault for part in self.forgiven)
        ]
        assert not faults, "\n".join(faults)

    async def close(self) -> None:
        """Close all pages."""
        for profile in self.profiles:
            await profile.close()

    def _said(self, message: ConsoleMessage) -> None:
        where = message.location
        # a server that is still replaying boards says so, and the page asks again
        is_asked_again = where["url"].endswith("/boards") and "503" in message.text
        if message.type == "error" and not is_asked_again:
            self.faults.append(f"{where['url']}:{where['lineNumber']}: {message.text}")

    def _failed(self, error: Any) -> None:
        self.faults.append(f"uncaught: {error.error}")


def page_url(server: ServerProcess, path: str = "/", scheme: str = "http") -> str:
    """Return the address of a page for the other machines of this network."""
    address = lan_address()
    assert address is not None, "this machine has no address in a network"
    return f"{scheme}://{address}:{server.port}{path}"


def serving_pages(*flags: str, module: str = UNHURRIED) -> Any:
    """Run a server on every address of this machine; by default its countdown takes a second."""
    return running_server("--host", EVERY_ADDRESS, *flags, module=module)


async def check_accessible(page: Page) -> None:
    """Fail if axe finds a violation on the page as it is."""
    # to evaluate axe again takes longer than its run
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE)
    found = AxeResults(await page.evaluate(RUN_AXE))
    assert found.violations_count == 0, found.generate_report()


async def look(page: Page, name: str) -> None:
    """Check the page at every size: nothing sticks out sideways, no button breaks a word; take screenshots.

    Axe finds nothing at the smallest and the largest.
    """
    before = page.viewport_size
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        room, taken = await page.evaluate(
            "[document.documentElement.clientWidth, document.documentElement.scrollWidth]"
        )
        assert taken <= room, f"{name} at {width}x{height} is {taken} wide"
        broken = await page.evaluate(BROKEN_WORDS)
        assert not broken, f"{name} at {width}x{height} breaks words of {broken}"
        if (width, height) in (PHONE, DESKTOP):
            await check_accessible(page)
        await take_screenshot(page, f"{name}-{width}x{height}")
    await page.set_viewport_size(before)


async def take_screenshot(page: Page, name: str) -> None:
    """Write a screenshot into the folder for them, if one is named."""
    folder = os.environ.get(SCREENSHOTS)
    if folder:
        await page.screenshot(path=Path(folder) / f"{name}.png")


SHOW_RACE: Final = """async () => {
    const from = name => import(document.querySelector("script[type=module]").src.replace("main.js", name));
    const [{RaceScreen}, {firstState}] = await Promise.all([from("race.js"), from("session.js")]);
    window.showRace = snapshot => {
        const state = firstState(snapshot.standings[0].player, snapshot, false);
        const app = {state, now: () => snapshot.now, takeOpening: () => "", waited: () => 0, idleLeft: 0, alarms: [],
            connection: {link: "connected", silence: 0}};
        const screen = new RaceScreen(app);
        screen.show(state);
        document.getElementById("screen").replaceChildren(screen.node);
        window.shown = screen;
    };
}"""
"""A function that defines `showRace`, which shows the race of a snapshot as the variable `shown`."""


def race_snapshot(game: str) -> dict[str, Any]:
    """Return a snapshot of a race of five in the middle of a game; a fan of three cards is on the waste."""
    steps = walk(game, 3, banking)
    fanned = [step for step in steps if len(step.position.waste) >= 3] or steps
    step = max(fanned, key=lambda step: max(map(len, step.position.columns)))
    legal = [str(move) for move in step.legal]
    own = structs.replace(board(step.position, 7, game=game), legal=legal, banked=9, net=-12)
    shown = snapshot("y9 b9 c9 d9 e9", own, table("ybcde", game=game))
    seats = [structs.replace(each, name=f"Racer {each.player[0]}") for each in shown.table.seats]
    shown = structs.replace(shown, table=structs.replace(shown.table, seats=seats))
    sent: dict[str, Any] = to_builtins(shown)
    return sent


async def open_for_races(pages: Pages, server: ServerProcess, **options: Any) -> Page:
    """Open a page on which `showRace` shows the race of a snapshot in place of the home; no server deals it."""
    page = await pages.open(page_url(server), **options)
    await page.get_by_text("None now").wait_for()
    await page.evaluate(SHOW_RACE)
    return page


async def shown_race(pages: Pages, server: ServerProcess, game: str, **options: Any) -> Page:
    """Show a race in the middle of the game."""
    page = await open_for_races(pages, server, **options)
    await page.evaluate("snapshot => showRace(snapshot)", race_snapshot(game))
    return page


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Run Debian's Chromium that has no window: it starts in a fifth of the time."""
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(
            executable_path=program("chromium-headless-shell"), args=QUIET, chromium_sandbox=False
        )
        try:
            yield opened
        finally:
            await opened.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One Chromium for all tests of a process."""
    async with chromium() as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def pages(browser: Browser) -> AsyncIterator[Pages]:
    """The pages of one test, which must report no fault."""
    opened = Pages(browser)
    try:
        yield opened
    finally:
        await opened.close()
    opened.check()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def page_server() -> AsyncIterator[ServerProcess]:
    """A server process that other machines reach, with a short countdown: one for all tests of a process.

    Each test may use the same names. Public tables, leaderboards, announcements and restarts would
    be seen by later tests: those are for `own_page_server`.
    """
    async with serving_pages("--limits-per-address", "off", module=SHARED) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def own_page_server() -> AsyncIterator[ServerProcess]:
    """A server like `page_server` for one test."""
    async with serving_pages() as opened:
        yield opened
