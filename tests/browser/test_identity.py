"""Who a player is on the page: the name, and the token that moves to a terminal and back."""

from pathlib import Path

from playwright.async_api import Locator, Page, expect

from kit.browser_pages import Pages, check_accessible, look, page_url
from kit.line_client import line_client
from kit.players import player_at
from kit.server_process import ServerProcess
from saratoga_client.local.identity import read_export
from saratoga_client.local.origins import origin_of
from saratoga_protocol.commands import player_id


def address(server: ServerProcess) -> str:
    """Return the server's address for programs, by the name that pages use."""
    return page_url(server, "").replace("http", "ws")


async def you(page: Page, name: str = "You") -> Locator:
    """Open the sheet about the player, and return it."""
    await page.get_by_role("button", name=name, exact=True).click()
    sheet = page.get_by_role("dialog", name="You")
    await sheet.wait_for()
    return sheet


async def run(server: ServerProcess, home: Path, *words: str, typed: str = "") -> list[str]:
    """Run `saratoga WORDS` to its end; return what it wrote."""
    async with line_client(address(server), home, *words) as client:
        if typed:
            client.type(typed)
        assert await client.ended() == 0, client.errors
        return [*client.lines, *client.errors]


async def test_a_player_of_the_page_goes_on_in_a_terminal_and_by_a_link_in_another_browser(
    page_server: ServerProcess, pages: Pages, tmp_path: Path
) -> None:
    page = await pages.open(page_url(page_server))
    sheet = await you(page)
    await sheet.get_by_label("What shall we call you?").fill("Mira")
    await sheet.get_by_role("button", name="Save name").click()
    await expect(sheet.get_by_text("You are Mira.")).to_be_visible()
    await sheet.get_by_role("button", name="Show my link").click()
    link = await sheet.get_by_label("Your link").input_value()
    await look(page, "you-link")
    await sheet.get_by_text("With a terminal").click()
    await sheet.get_by_role("button", name="Show the token").click()
    line = await sheet.get_by_label("Your token, in one line").input_value()
    await look(page, "you")

    exported = read_export(line)
    assert exported is not None
    assert exported[1] == origin_of(address(page_server))
    await expect(sheet).to_contain_text(f"as player {player_id(exported[0])}")
    await run(page_server, tmp_path, "token", "import", "-", typed=line)
    async with line_client(address(page_server), tmp_path, "--plain") as terminal:
        assert "you are Mira" in await terminal.expect("lobby: ")

    other = await pages.open(link)
    assert other.url == page_url(page_server)
    await other.get_by_role("dialog", name="Become that player?").wait_for()
    await check_accessible(other)
    await other.get_by_role("button", name="Become that player").click()
    await you(other, "Mira")


async def test_a_player_of_a_terminal_goes_on_on_the_page(
    page_server: ServerProcess, pages: Pages, tmp_path: Path
) -> None:
    async with line_client(address(page_server), tmp_path, "--plain") as terminal:
        terminal.type("name Bert")
        await terminal.expect("name: you are Bert")
    (line,) = await run(
        *(page_server, tmp_path, "token", "export", "--show", "--server", address(page_server))
    )
    page = await pages.open(page_url(page_server, f"/#you={line.split()[-1]}"))
    await page.get_by_role("button", name="Become that player").click()
    exported = read_export(line)
    assert exported is not None
    await expect(await you(page, "Bert")).to_contain_text(player_id(exported[0]))


async def test_no_name_and_a_name_that_is_taken_are_refused_in_the_sheet(
    own_page_server: ServerProcess, pages: Pages
) -> None:
    async with player_at(own_page_server.url, "Anna"):
        page = await pages.open(page_url(own_page_server))
        sheet = await you(page)
        await sheet.get_by_role("button", name="Save name").click()
        said = sheet.get_by_role("status").filter(has_text="Give a name, such as Anna")
        await expect(said).to_be_in_viewport(ratio=1)
        await sheet.get_by_label("What shall we call you?").fill("Anna")
        await sheet.get_by_role("button", name="Save name").click()
        await expect(sheet.get_by_text("is taken")).to_be_in_viewport(ratio=1)
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("button", name="You", exact=True)).to_be_focused()


async def test_what_a_full_storage_does_not_take_is_known_until_the_page_is_closed(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    known = await page.evaluate("""async () => {
        const page = await import(document.querySelector("script[type=module]").src.replace("main.js", "identity.js"));
        page.store("note", "old");
        for (let size = 2 ** 22; size; size = Math.floor(size / 2))
            try { localStorage.setItem(`filler ${size}`, "x".repeat(size)); } catch {}
        page.store("note", "new".repeat(100));
        const full = page.stored("note");
        for (const key of Object.keys(localStorage)) if (key.startsWith("filler")) localStorage.removeItem(key);
        page.store("note", "newest");
        return [full, page.stored("note"), localStorage.getItem("note")];
    }""")
    assert known == ["new" * 100, "newest", "newest"]
