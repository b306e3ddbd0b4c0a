"""`kill -9` and lost connections in mid-race: no acknowledged move is lost or doubled, and every player comes back.

Each bot records the moves that are acknowledged to it. After the races, every record and every stored log
must contain them. (An external store and several nodes are killed in storms: `test_storms`.)
"""

import asyncio
from random import Random

from kit.racing_bots import Victim, racing_bots

PACE = 120.0
"""Moves a second of each player."""

LONGEST_PAUSE = 0.3
"""Longest time in seconds that all players race before the next kill."""


async def test_races_go_on_after_kills() -> None:
    chance = Random(1)
    async with racing_bots(("lady-palk",), pace=PACE) as bots:
        for victim in Victim:
            for _ in range(2):
                await bots.mid_race()
                await asyncio.sleep(chance.uniform(0, LONGEST_PAUSE))
                await bots.kill(victim)
        await bots.finish()
        races, moves = await bots.audit()
    assert races
    assert moves
