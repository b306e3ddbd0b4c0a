"""The routes of the page: each loads without a fault, over plain http and over TLS."""

from pathlib import Path

import pytest

from kit.browser_pages import Pages, look, page_url, serving_pages
from kit.deployment import write_certificate
from kit.player_sockets import player_at
from kit.server_process import ServerProcess
from saratoga_protocol.commands import CreateTable


async def test_every_route_loads_in_every_size(page_server: ServerProcess, pages: Pages) -> None:
    async with player_at(page_server.url, "Anna") as anna:
        code = (await anna.at_table(CreateTable, game="canfield")).table.code
        for name, path in (
            ("lobby", "/"),
            ("table", f"/{code}"),
            ("leaderboards", "/leaderboards/canfield"),
            ("race", f"/races/{code}/1"),
        ):
            page = await pages.open(page_url(page_server, path))
            assert await page.evaluate("isSecureContext") is False
            await look(page, f"route-{name}")


@pytest.mark.parametrize(
    "path", ["/mint-otter-42", "/leaderboards/poker", "/races/mint-otter-42/1"]
)
async def test_what_does_not_exist_is_a_page_too(
    page_server: ServerProcess, pages: Pages, path: str
) -> None:
    pages.forgive("404 (Not Found)")
    page = await pages.open(page_url(page_server, path))
    await look(page, f"missing-{path.split('/')[1]}")
    await page.get_by_role("link", name="See the open tables").click()
    await page.wait_for_url(page_url(page_server))


@pytest.mark.needs("openssl")
async def test_the_page_loads_over_tls(pages: Pages, tmp_path: Path) -> None:
    certificate = write_certificate(tmp_path)
    tls = ("--tls-cert", str(certificate), "--tls-key", str(tmp_path / "privkey.pem"))
    async with serving_pages(*tls) as server:
        page = await pages.open(page_url(server, scheme="https"), ignore_https_errors=True)
        assert await page.evaluate("isSecureContext") is True
        await look(page, "tls-lobby")
        await pages.close()


async def test_the_page_is_loaded_by_few_requests_and_then_kept(
    page_server: ServerProcess, pages: Pages
) -> None:
    page = await pages.open(page_url(page_server))
    loaded = "performance.getEntriesByType('resource').map(each => [each.name, each.transferSize])"
    first = await page.evaluate(loaded)
    # the style, twelve modules, and those that are loaded when the first screen stands
    assert 0 < len(first) <= 16
    assert all(size > 0 for _, size in first)
    await page.reload()
    assert {size for _, size in await page.evaluate(loaded)} == {0}
