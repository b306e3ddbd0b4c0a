"""Whole races of four bots over the wire: server, players and rules agree on the result.

Each race is compared three ways: the result that the server announced, the events that each player
received, and the replay of the record by the rules.
"""

import asyncio
import time
from functools import partial
from random import Random

import pytest

from kit.altered_server import QUICK
from kit.programs import note
from kit.race_audit import disagreements, unnoticed_change_of_any_byte, unnoticed_changes
from kit.recorded_players import LINE_UP, RecordedPlayer, players_at_a_table
from kit.server_process import ServerProcess, running_server
from saratoga_protocol.commands import GetRecord
from saratoga_protocol.events import Record
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import parse_record

AT_FULL_PACE = ("--rate", "0", "--log-level", "warning")
CHANGES = 8
"""The number of random single-byte changes that are tried on every record."""

RACES = 200
TABLES = 25
"""The number of tables at the same time; each plays `RACES / TABLES` races."""


async def records_of_a_table(
    server_process: ServerProcess, game: str, names: str, races: int
) -> list[str]:
    """Play races at one table and return their records, on which all players agree."""
    async with players_at_a_table(server_process.url, game, names) as players:
        await asyncio.gather(*(player.race(races, 0, len(LINE_UP)) for player in players))
        return [await record_agreed_on(players, race) for race in players[0].notes.outcomes]


async def record_agreed_on(players: list[RecordedPlayer], race: str) -> str:
    record = await players[0].connection.ask(partial(GetRecord, race=race), Record)
    notes = [player.notes for player in players]
    assert await asyncio.to_thread(disagreements, record.text, notes) == []
    assert [player.objections(race) for player in players] == [()] * len(players)
    assert [player.notes.announced.count(race) for player in players] == [1] * len(players)
    return record.text


async def records(game: str, tables: int, races: int) -> list[str]:
    async with (
        running_server(*AT_FULL_PACE, module=QUICK) as server_process,
        asyncio.TaskGroup() as group,
    ):
        raced = [
            group.create_task(records_of_a_table(server_process, game, f"Bot{table}x", races))
            for table in range(1, tables + 1)
        ]
    return [text for each in raced for text in each.result()]


@pytest.mark.parametrize("game", GAMES)
async def test_server_players_and_rules_agree_on_a_race(game: str) -> None:
    texts = await records(game, tables=1, races=1)
    assert len(texts) == 1
    chance = Random(game)
    assert [unnoticed_changes(text, chance, CHANGES) for text in texts] == [[]]


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
async def test_server_players_and_rules_agree_on_many_races(game: str) -> None:
    began = time.monotonic()
    texts = await records(game, TABLES, RACES // TABLES)
    raced = time.monotonic() - began
    assert len(texts) == RACES
    chance = Random(game)
    assert [unnoticed_changes(text, chance, CHANGES) for text in texts] == [[]] * RACES
    shortest = min(texts, key=len)
    assert unnoticed_change_of_any_byte(shortest, chance) == []
    moves = sum(racer.moves for text in texts for racer in parse_record(text).racers)
    note(
        f"{game}: {RACES} races, {moves} moves, 0 disagreements, in {raced:.0f} s; "
        f"{RACES * CHANGES + len(shortest)} changed bytes, all detected"
    )
