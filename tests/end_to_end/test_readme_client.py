"""The example client in protocol/README.md runs unchanged against a real server."""

import asyncio
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgpack
import pytest
from msgspec import to_builtins

from kit.altered_server import QUICK
from kit.server_process import ServerProcess, running_server
from kit.tables import ANN, BEN, CODE, OTHER_SEED, all_shown, counting, next_id
from saratoga_server.domain.tables import allow_ready, elapse, public_view

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
    async with running_server(module=QUICK) as opened:
        yield opened


@pytest.mark.parametrize("game", ["canfield", "klondike"])
async def test_two_clients_of_the_page_race_each_other(
    server_process: ServerProcess, tmp_path: Path, game: str
) -> None:
    client = tmp_path / "player.py"
    client.write_text(client_on_the_page())
    players: list[Process] = []
    try:
        async with asyncio.timeout(ENDS_WITHIN):
            otto = await start(client, server_process.url, "Otto", game, "2")
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


class SentFrames:
    """A socket that keeps what the client sends."""

    def __init__(self) -> None:
        self.commands: list[dict[str, Any]] = []

    def send(self, frame: bytes) -> None:
        self.commands.append(msgpack.unpackb(frame))


def test_a_blocked_client_of_the_page_gets_ready_when_the_host_allows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    functions, _, _ = client_on_the_page().partition("with connect(")
    monkeypatch.setattr(sys, "argv", ["player.py", "ws://127.0.0.1:7470", "Ben", CODE])
    page: dict[str, Any] = {}
    exec(functions, page)
    page["me"] = BEN
    socket = SentFrames()
    counted = all_shown(counting(ANN, BEN), ANN)
    voided = elapse(counted, counted.reveal_by, OTHER_SEED)
    assert voided is not None
    page["gather"](socket, to_builtins(public_view(voided.table, 1)))
    assert socket.commands == []
    host = next_id(voided.table, ANN)
    allowed = allow_ready(voided.table, ANN, host, target=BEN, now=counted.reveal_by).table
    page["gather"](socket, to_builtins(public_view(allowed, 2)))
    (ready,) = socket.commands
    assert (ready["type"], ready["commitment"]) == ("ready", allowed.commitment)
