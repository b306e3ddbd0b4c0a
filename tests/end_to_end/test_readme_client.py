"""The example client in protocol/README.md runs unchanged against a real server."""

import asyncio
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kit import quick_countdown
from kit.server_process import ServerProcess, running_server

PAGE = Path(__file__).parents[2] / "protocol" / "README.md"

ENDS_WITHIN = 120
"""Longest time in seconds for a whole race on a slow machine."""


def client_on_the_page() -> str:
    (source,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return str(source)


async def start(client: Path, *words: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, str(client), *words, stdout=PIPE, stderr=PIPE
    )


@pytest.fixture
async def server_process() -> AsyncIterator[ServerProcess]:
    """A server with a short countdown."""
    async with running_server(module=quick_countdown.MODULE) as opened:
        yield opened


async def test_two_clients_of_the_page_race_each_other(
    server_process: ServerProcess, tmp_path: Path
) -> None:
    client = tmp_path / "player.py"
    client.write_text(client_on_the_page())
    players: list[Process] = []
    try:
        async with asyncio.timeout(ENDS_WITHIN):
            otto = await start(client, server_process.url, "Otto", "canfield", "2")
            players.append(otto)
            assert otto.stdout is not None
            code = (await otto.stdout.readline()).decode().strip()
            emma = await start(client, server_process.url, "Emma", code)
            players.append(emma)
            (seen_by_otto, otto_erred), (seen_by_emma, emma_erred) = await asyncio.gather(
                otto.communicate(), emma.communicate()
            )
    finally:
        for player in players:
            if player.returncode is None:
                player.kill()
                await player.wait()
    assert (otto_erred, emma_erred) == (b"", b"")
    results = seen_by_otto.decode()
    assert seen_by_emma.decode() == f"{code}\n{results}"
    assert re.fullmatch(r"(1|2) \w+ \d+ -?\d+ [a-z ]+\n(1|2) \w+ \d+ -?\d+ [a-z ]+\n", results)
    assert {line.split()[1] for line in results.splitlines()} == {"Otto", "Emma"}
