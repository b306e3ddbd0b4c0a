"""`admin accept-clock` as an administrator types it."""

import asyncio
import json
from pathlib import Path

from click.testing import CliRunner

from kit.running_race import CODE, running_race
from kit.stores import StoreServer
from saratoga_server.__main__ import main
from saratoga_server.config import Config
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.ports import StoreRefused
from saratoga_server.store.keys import LEDGER as KEY
from saratoga_server.store.opening import open_store

AHEAD = 100 * 24 * 60 * 60 * 1000


def test_a_folder_without_a_store_gets_none(tmp_path: Path) -> None:
    code, told = typed("--data", tmp_path / "mistyped", "accept-clock")
    assert (code, "mistyped/store has no store" in told) == (1, True)
    assert list(tmp_path.iterdir()) == []


def typed(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["admin", *map(str, words)])
    return result.exit_code, result.output


async def was_ahead(url: str) -> None:
    """Leave a store as if its clock had been ahead while a table was stored."""
    async with open_store(url) as store:
        await running_race(store)
        await store.client.command("HSET", KEY, "at", await store.tables.now() + AHEAD)


async def refusal(url: str) -> str:
    """Return the reason why a server refuses the store; empty if it serves the table."""
    try:
        async with open_store(url) as store:
            return "" if await store.tables.load_table(CODE) else "the table is missing"
    except StoreRefused as fault:
        return str(fault)


def test_a_store_that_was_ahead_is_served_again(store_server: StoreServer) -> None:
    url = store_server.url
    asyncio.run(was_ahead(url))
    assert "admin accept-clock" in asyncio.run(refusal(url))
    code, output = typed("--redis", url, "accept-clock")
    assert (code, output.startswith("The clock is accepted: it shows ")) == (0, True)
    assert asyncio.run(refusal(url)) == ""
    assert typed("--redis", url, "accept-clock")[1].startswith("There was nothing to do")
    (act,) = json.loads(typed("--redis", url, "audit", "--json")[1])
    assert act["act"] == "accept-clock"
    assert act["detail"].startswith("the newest time stored was ")
    assert "@" in act["who"]


def test_an_embedded_store_is_started_if_no_server_runs(tmp_path: Path) -> None:
    folder = Config(data=tmp_path).store_folder

    async def with_embedded(*, is_first: bool) -> str:
        async with EmbeddedStore(folder) as url:
            if is_first:
                await was_ahead(url)
            return await refusal(url)

    assert "admin accept-clock" in asyncio.run(with_embedded(is_first=True))
    code, output = typed("--data", tmp_path, "accept-clock")
    assert (code, output.startswith("The clock is accepted")) == (0, True)
    assert asyncio.run(with_embedded(is_first=False)) == ""
