"""Whole races over the wire: server, players and rules agree on the result; the example client of the README and the demonstration race too.

Each race of four bots is compared three ways: the result that the server announced, the events that each player
received, and the replay of the record by the rules.
"""

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any

import msgpack
import pytest
from msgspec import to_builtins

from kit.altered_server import QUICK
from kit.auditor import check_race
from kit.recorded_players import LINE_UP, RecordedPlayer, players_at_a_table
from kit.server_process import ServerProcess, python_path, running_server
from kit.tables import ANN, BEN, CODE, OTHER_SEED, all_shown, counting
from saratoga_rules.games import GAMES
from saratoga_server.domain.tables import allow_ready, elapse, public_view

AT_FULL_PACE = ("--rate", "0", "--log-level", "warning")

RACES = 200
"""The number of races in the long run."""
TABLES = 25
"""The number of tables at the same time; each plays `RACES / TABLES` races."""


async def agreed_races(server_process: ServerProcess, game: str, names: str, races: int) -> None:
    """Play races at one table; all players must agree on their records."""
    async with players_at_a_table(server_process.url, game, names) as players:
        await asyncio.gather(*(player.race(races, 0, len(LINE_UP)) for player in players))
        assert len(players[0].notes.outcomes) == races
        for race in players[0].notes.outcomes:
            await agree(players, race)


async def agree(players: list[RecordedPlayer], race: str) -> None:
    await check_race(players[0].connection, race, [player.notes for player in players])
    assert [player.objections(race) for player in players] == [()] * len(players)
    assert [player.notes.announced.count(race) for player in players] == [1] * len(players)


@pytest.mark.parametrize(
    ("game", "tables", "races"),
    [
        *((game, 1, 1) for game in GAMES),
        *(pytest.param(game, TABLES, RACES // TABLES, marks=pytest.mark.long) for game in GAMES),
    ],
)
async def test_server_players_and_rules_agree_on_every_race(
    game: str, tables: int, races: int
) -> None:
    async with (
        running_server(*AT_FULL_PACE, module=QUICK) as server_process,
        asyncio.TaskGroup() as group,
    ):
        for table in range(1, tables + 1):
            group.create_task(agreed_races(server_process, game, f"Bot{table}x", races))


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


@pytest.mark.parametrize("game", ["canfield", "klondike"])
async def test_two_clients_of_the_page_race_each_other(
    quick_server: ServerProcess, tmp_path: Path, game: str
) -> None:
    client = tmp_path / "player.py"
    client.write_text(client_on_the_page())
    players: list[Process] = []
    try:
        async with asyncio.timeout(ENDS_WITHIN):
            otto = await start(client, quick_server.url, "Otto", game, "2")
            players.append(otto)
            assert otto.stdout is not None
            code = (await otto.stdout.readline()).decode().strip()
            emma = await start(client, quick_server.url, "Emma", code)
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
    assert re.fullmatch(r"(1|2) \w+ \d+ -?\d+ [a-z-]+\n(1|2) \w+ \d+ -?\d+ [a-z-]+\n", results)
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
    page["gather"](socket, to_builtins(public_view(voided, 1)))
    assert socket.commands == []
    allowed = allow_ready(voided, ANN, target=BEN, now=counted.reveal_by)
    page["gather"](socket, to_builtins(public_view(allowed, 2)))
    (ready,) = socket.commands
    assert (ready["type"], ready["commitment"]) == ("ready", allowed.commitment)


DEMONSTRATED_WITHIN = 240
"""Seconds after which the demonstration is killed; a bound, not a measurement."""

DEMONSTRATION_PACE = "40"
"""Moves a second, faster than in a demonstration that people watch."""


async def test_the_demonstration_races_and_verifies(tmp_path: Path) -> None:
    game = "klondike"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kit.demo", "--game", game, "--pace", DEMONSTRATION_PACE),
        env={**os.environ, "SARATOGA_HOME": str(tmp_path), "PYTHONPATH": python_path()},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(DEMONSTRATED_WITHIN):
            out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    printed = out.decode()
    assert process.returncode == 0, printed
    last = printed.strip().splitlines()[-1]
    assert last.endswith("is verified: it is the race that you played."), printed
    assert "one deal for all 4" in printed
    assert f"{game}, best, bots" in printed
