"""The countdown on the page, which lasts five seconds, and the start that leads to it."""

import asyncio
import json
import re
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Page, WebSocketRoute, expect

from kit.browser_pages import Pages, check_accessible, page_url, serving_pages, take_screenshot
from kit.page_player import BRISK, PagePlayer, get_ready, open_table, press, rival_at
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


@dataclass
class HeldReady:
    """A host's page whose first `ready` does not reach the server until the test says so."""

    sent: list[dict[str, Any]] = field(default_factory=list)
    """The commands that the page has sent."""
    ready: dict[str, Any] = field(default_factory=dict)

    def connect(self, page: WebSocketRoute) -> None:
        self.page, self.server = page, page.connect_to_server()
        page.on_message(self._sent)

    def _sent(self, frame: str | bytes) -> None:
        command = json.loads(frame)
        self.sent.append(command)
        if command["type"] == "ready" and not self.ready:
            self.ready = command
        else:
            self.server.send(frame)

    async def press_start(self, page: Page, server: ServerProcess) -> None:
        """Open a table, get ready, and press Start before the server has the mark."""
        await page.route_web_socket(re.compile("^ws:"), self.connect)
        await page.goto(page_url(server))
        await open_table(page)
        await press(page, "I am ready").click()
        await press(page, "Start").click()
        await expect(page.get_by_text("The race starts as soon as you are ready.")).to_be_visible()


async def test_a_start_before_the_ready_mark_waits_for_it(
    page_server: ServerProcess, pages: Pages
) -> None:
    page, held = await pages.open("about:blank"), HeldReady()
    await held.press_start(page, page_server)
    held.server.send(json.dumps(held.ready))
    await page.locator(".race .pile").first.wait_for()


async def test_a_start_whose_ready_mark_is_refused_is_forgotten(
    page_server: ServerProcess, pages: Pages
) -> None:
    page, held = await pages.open("about:blank"), HeldReady()
    await held.press_start(page, page_server)
    refusal = {"type": "refused", "re": held.ready["id"], "code": "blocked", "message": "Not now."}
    held.page.send(json.dumps(refusal))
    await expect(page.get_by_text("Not now.")).to_be_visible()
    await get_ready(page)
    await press(page, "Not ready").click()
    await expect(press(page, "I am ready")).to_be_visible()
    assert "start" not in [command["type"] for command in held.sent]
