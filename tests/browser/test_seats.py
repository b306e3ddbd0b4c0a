"""A seat on the page that another tab or device has taken over, or that is lost while another screen is shown."""

from playwright.async_api import Page, expect

from kit.browser_pages import Pages, page_url, serving_pages
from kit.page_player import get_ready, open_table, press, seat_of, visit
from kit.player_sockets import player_at
from kit.server_process import ServerProcess
from saratoga_protocol.commands import CreateTable, Kick, Start


async def test_a_tab_that_takes_over_a_ready_seat_reveals_the_nonce_of_the_other(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    code = await open_table(page)
    other = await pages.open_tab(page, page_url(page_server))
    await expect(other.get_by_text(code).first).to_be_visible()
    await press(page, "I am ready").click()
    await expect(seat_of(page, "Mira").locator(".ready")).to_be_visible()
    await visit(other, f"/{code}")
    await press(other, "Start").click()
    await other.locator(".race .pile").first.wait_for()
    await expect(other.locator(".alarms")).to_be_empty()


async def test_a_tab_that_was_in_the_lobby_before_the_seat_was_taken_plays_at_the_table(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    other = await tab_in_lobby(page, pages, page_server)
    code = await open_table(page)
    await visit(other, f"/{code}")
    await expect(page.get_by_text("in another window")).to_be_visible()
    await get_ready(other)
    await press(other, "Start").click()
    await other.locator(".race .pile").first.wait_for()


async def test_a_tab_that_comes_to_the_countdown_of_another_tab_gets_its_deal(
    pages: Pages,
) -> None:
    # the usual countdown leaves time for the visit
    async with (
        serving_pages(module=ServerProcess.module) as server,
        player_at(server.url, "Anna") as anna,
    ):
        code = (await anna.at_table(CreateTable, game="canfield")).table.code
        page = await pages.open(page_url(server, f"/{code}"))
        other = await tab_in_lobby(page, pages, server)
        await page.get_by_label("Your name at this table").fill("Mira")
        await press(page, "Sit down").click()
        await get_ready(page)
        await anna.ready()
        await anna.ask(Start, table=code)
        await anna.reveal()
        await visit(other, f"/{code}")
        await other.locator(".race .pile").first.wait_for()
        await expect(other.locator(".alarms")).to_be_empty()
        await pages.close()


async def tab_in_lobby(beside: Page, pages: Pages, server: ServerProcess) -> Page:
    """Open another tab in the lobby, and wait until the server has answered it."""
    tab = await pages.open_tab(beside, page_url(server))
    await expect(tab.get_by_text("None now")).to_be_visible()
    return tab


async def test_a_device_without_the_nonce_of_its_ready_player_lets_the_countdown_end(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    code = await open_table(page)
    await press(page, "I am ready").click()
    await expect(seat_of(page, "Mira").locator(".ready")).to_be_visible()
    token = await page.evaluate("localStorage.getItem('saratoga.token')")
    other = await pages.open("about:blank")
    await other.context.add_init_script(f"localStorage.setItem('saratoga.token', '{token}')")
    await other.goto(page_url(page_server, f"/{code}"))
    await press(other, "Start").click()
    await expect(other.get_by_text("The countdown was voided").first).to_be_visible()
    await expect(other.locator(".alarms")).to_be_empty()


async def test_a_player_who_is_kicked_while_in_the_lobby_reads_the_reason(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    async with player_at(page_server.url, "Bert") as bert:
        code = (await bert.at_table(CreateTable, game="canfield")).table.code
        await visit(page, f"/{code}")
        await page.get_by_label("Your name at this table").fill("Mira")
        await press(page, "Sit down").click()
        await expect(seat_of(page, "Mira")).to_be_visible()
        await visit(page, "/")
        (mira,) = [seat.player for seat in bert.table.seats if seat.name == "Mira"]
        await bert.ask(Kick, table=code, player=mira)
        notice = page.get_by_role("dialog", name=f"You are no longer at table {code}.")
        await expect(notice).to_contain_text("kicked")
