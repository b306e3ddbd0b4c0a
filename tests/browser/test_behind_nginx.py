"""The page behind nginx, with TLS and the settings of `deploy/nginx`, on two nodes: every route, the WebSocket, `/api`."""

from typing import Any

import pytest

from kit.browser_pages import Pages
from kit.deployment import deployed
from kit.page_player import racing

MOVES = 5


@pytest.mark.needs("nginx", "openssl")
async def test_a_race_is_played_and_reviewed_through_nginx_while_nodes_are_killed(
    pages: Pages,
) -> None:
    pages.forgive("WebSocket connection")
    trusting: dict[str, Any] = {"ignore_https_errors": True}
    async with deployed() as deployment:
        address = deployment.proxy.url.replace("wss:", "https:")
        async with racing(
            deployment.nodes[0],
            pages,
            "canfield",
            address=address,
            has_touch=True,
            **trusting,
        ) as racers:
            player, _ = racers
            assert await player.page.evaluate("isSecureContext")
            await player.race(player.tap_move, MOVES)
            for node in deployment.nodes:
                await node.kill()
                await player.race(player.tap_move, MOVES)
                await node.start()
        page = await pages.open(f"{address}/races/{player.board.race}", **trusting)
        await page.get_by_role("heading", name="Where they parted").wait_for()
        code = player.board.race.split("/")[0]
        drawn = await page.request.get(f"{address}/api/qr/{code}.svg")
        assert (drawn.status, drawn.headers["content-type"]) == (200, "image/svg+xml")
        await page.goto(f"{address}/leaderboards/canfield")
        await page.get_by_role("heading", name="Canfield: best results").wait_for()
        await pages.close()
