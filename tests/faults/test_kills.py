"""`kill -9` and lost connections in mid-race: no acknowledged move is lost or doubled, and every player comes back.

Each bot records the moves that are acknowledged to it. After the races, every record and every
stored log must contain them. (An external store and several nodes are killed in storms:
`test_storms`.)
"""

import asyncio
from random import Random

import pytest

from kit.auditor import audit
from kit.racing_bots import Victim, racing_bots

PACE = 120.0
"""Moves a second of each player."""

LONGEST_PAUSE = 0.3
"""Longest time in seconds that all players race before the next kill."""


@pytest.mark.parametrize(
    ("durability", "victims"),
    [
        ("safe", list(Victim)),
        pytest.param("fast", [Victim.SERVER] * 3, marks=pytest.mark.long),
        pytest.param("safe", list(Victim) * 3, marks=pytest.mark.long),
    ],
)
async def test_races_go_on_after_kills(durability: str, victims: list[Victim]) -> None:
    """At `fast` a killed store may lose up to two seconds of writes while the disk is slow (server/README.md)."""
    chance = Random(1)
    async with racing_bots(("lady-palk",), pace=PACE, durability=durability) as bots:
        for victim in victims:
            await bots.mid_race()
            await asyncio.sleep(chance.uniform(0, LONGEST_PAUSE))
            await bots.kill(victim)
        await bots.finish()
        races, moves = await audit(bots)
    assert races
    assert moves
