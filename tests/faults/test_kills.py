"""`kill -9` and lost connections in mid-race: no acknowledged move is lost or doubled, and every player comes back.

Each bot records the moves that are acknowledged to it. After the races, every record and every
stored log must contain them. (An external store and several nodes are killed in storms:
`test_storms`.)
"""

import asyncio
import os
import signal
import time
from random import Random

import pytest

from kit.auditor import audit
from kit.racing_bots import RacingBots, racing_bots
from kit.server_process import wait_for_listener

PACE = 120.0
"""Moves a second of each player."""

LONGEST_PAUSE = 0.3
"""Longest time in seconds that all players race before the next kill."""


VICTIMS = ["server", "store", "server and store"]


async def kill(bots: RacingBots, victim: str) -> None:
    """Kill the server, its embedded store, or both; wait until every player is back."""
    server = bots.server_process
    if "store" in victim:
        # the store may still be starting after the kill before
        store = await asyncio.to_thread(wait_for_listener, server.store_socket)
        os.kill(store, signal.SIGKILL)
    if "server" in victim:
        await server.kill()
    down = time.monotonic()
    if "server" in victim:
        await server.start()
    await bots.all_back(bots.players, down, by_reconnect="server" in victim)


@pytest.mark.parametrize(
    ("durability", "victims"),
    [
        ("safe", VICTIMS),
        pytest.param("fast", ["server"] * 3, marks=pytest.mark.long),
        pytest.param("safe", VICTIMS * 3, marks=pytest.mark.long),
    ],
)
async def test_races_go_on_after_kills(durability: str, victims: list[str]) -> None:
    """At `fast` a killed store may lose up to two seconds of writes while the disk is slow (server/README.md)."""
    chance = Random(1)
    async with racing_bots(("lady-palk",), pace=PACE, durability=durability) as bots:
        for victim in victims:
            await bots.mid_race()
            await asyncio.sleep(chance.uniform(0, LONGEST_PAUSE))
            await kill(bots, victim)
        await bots.finish()
        races, moves = await audit(bots)
    assert races
    assert moves
