"""`kill -9` and lost connections in mid-race: no acknowledged move is lost or doubled, and every player comes back.

Each bot records the moves that are acknowledged to it. After the races, every record and every stored log
must contain them. (An external store and several nodes are killed in storms: `test_storms`.)
"""

import asyncio
from random import Random

import pytest

from kit.programs import note
from kit.racing_bots import RacingBots, Victim, racing_bots

PACE = 120.0
"""Moves a second of each player in the short tests."""

LONGEST_PAUSE = 0.3
"""Longest time in seconds that all players race before the next kill."""


async def kill_in_mid_race(bots: RacingBots, victim: Victim, times: int, chance: Random) -> None:
    for _ in range(times):
        await bots.mid_race()
        await asyncio.sleep(chance.uniform(0, LONGEST_PAUSE))
        await bots.kill(victim)


async def test_races_go_on_after_kills() -> None:
    chance = Random(1)
    async with racing_bots(("lady-palk",), pace=PACE) as bots:
        for victim in Victim:
            await kill_in_mid_race(bots, victim, 2, chance)
        races, moves = await bots.audited()
    assert races
    assert moves


KILLS = 50


@pytest.mark.long
@pytest.mark.parametrize("victim", Victim)
async def test_races_go_on_after_many_kills(victim: Victim) -> None:
    games = ("lady-palk", "canfield-aisleriot", "canfield")
    async with racing_bots(games, pace=20) as bots:
        await kill_in_mid_race(bots, victim, KILLS, Random(f"long {victim.value}"))
        races, moves = await bots.audited()
    note(
        f"{victim.value}: {bots.figures()}; {races} races, {moves} acknowledged moves, "
        "0 lost, 0 played twice"
    )
