"""Nodes restart one after another during races: no move is lost, and no player waits long."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import pytest

from kit.altered_server import QUICK
from kit.faulty_link import link_to_ports
from kit.programs import note
from kit.racing_bots import RacingBots, racing_bots_at
from kit.recorded_players import Notes
from kit.server_process import ServerProcess, nodes_on
from kit.stores import StoreServer

PACE = 60.0
"""Moves a second of each player."""
MANY = ("lady-palk", "caprice")
"""The games of the races; each game is played at one table."""
LONGEST_PAUSE = 2.0
"""Longest pause in seconds for a player, as server/README.md promises."""


@dataclass
class RollingRestart:
    """Three nodes behind a balancer, and players who race through it."""

    nodes: Sequence[ServerProcess]
    bots: RacingBots

    async def restart(self) -> None:
        """Restart the nodes one after another, each in mid-race."""
        for node in self.nodes:
            await self.bots.mid_race()
            assert await node.stop() == 0
            await node.start()

    async def finish(self, what: str) -> None:
        """Finish the races; check the records and pauses."""
        await self.bots.finish()
        waited = [each for player in self.bots.players for each in pauses(player.notes)]
        _, moves = await self.bots.audit()
        assert waited, "no player had to change nodes in mid-race"
        note(
            f"{what}: {len(waited)} pauses, in median {median(waited):.2f} s, at most "
            f"{max(waited):.2f} s; {moves} acknowledged moves, 0 lost, 0 played twice"
        )
        assert max(waited) <= LONGEST_PAUSE


def pauses(notes: Notes) -> Iterator[float]:
    """Yield each player's pause at each restart: seconds between two answers, less the usual time of a move."""
    for before, after in pairwise(notes.acknowledged):
        changed = any(before.moment < at <= after.moment for at in notes.connected[1:])
        if changed and before.race == after.race:
            yield max(0.0, after.moment - before.moment - 1 / PACE)


@asynccontextmanager
async def rolling(store: StoreServer, games: tuple[str, ...]) -> AsyncIterator[RollingRestart]:
    store.empty()
    async with (
        nodes_on(store.url, 3, module=QUICK) as nodes,
        link_to_ports(*(node.port for node in nodes)) as balancer,
        racing_bots_at(balancer.url, games, PACE, nodes[0], store) as bots,
    ):
        yield RollingRestart(nodes, bots)


async def test_a_rolling_restart_loses_nothing(store_servers: dict[str, StoreServer]) -> None:
    async with rolling(store_servers["valkey"], ("lady-palk",)) as running:
        await running.restart()
        await running.finish("rolling restart of 3 nodes")


@pytest.mark.long
async def test_no_player_waits_long_however_often_nodes_are_restarted(
    store_servers: dict[str, StoreServer],
) -> None:
    times = 5
    async with rolling(store_servers["valkey"], MANY) as running:
        for _ in range(times):
            await running.restart()
        await running.finish(f"rolling restart of 3 nodes, {times} times")
