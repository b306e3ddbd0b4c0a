"""Whole races over the wire: server, players and rules agree on the result; the example client of the README races too.

Each race of four bots is compared three ways: the result that the server announced, the events that
each player received, and the replay of the record by the rules.
"""

import asyncio
import re
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import pytest

from kit.altered_server import UNHURRIED
from kit.auditor import check_race
from kit.racing_bots import LINE_UP, RecordedPlayer, players_at_a_table
from kit.server_process import ServerProcess, running_server
from saratoga_rules.games import GAMES

AT_FULL_PACE = ("--rate", "0", "--log-level", "warning")

RACES = 200
"""The number of races of each game in the long run."""
TABLES = 4
"""The number of tables of each game at the same time; each plays `RACES / TABLES` races."""


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
    ("tables", "races"), [(1, 1), pytest.param(TABLES, RACES // TABLES, marks=pytest.mark.long)]
)
async def test_server_players_and_rules_agree_on_every_race(tables: int, races: int) -> None:
    async with (
        running_server(*AT_FULL_PACE, module=UNHURRIED) as server_process,
        asyncio.TaskGroup() as group,
    ):
        for number, game in enumerate([*GAMES] * tables):
            group.create_task(agreed_races(server_process, game, f"Bot{number}x", races))


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


async def test_two_clients_of_the_page_race_each_other(tmp_path: Path) -> None:
    client = tmp_path / "player.py"
    client.write_text(client_on_the_page())
    players: list[Process] = []
    try:
        async with asyncio.timeout(ENDS_WITHIN), running_server(module=UNHURRIED) as server:
            otto = await start(client, server.url, "Otto", "klondike", "2")
            players.append(otto)
            assert otto.stdout is not None
            code = (await otto.stdout.readline()).decode().strip()
            emma = await start(client, server.url, "Emma", code)
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
