"""Nodes restart one after another during races: no move is lost, and no player waits long."""

from collections.abc import Iterator
from itertools import pairwise

from kit.altered_server import QUICK
from kit.faulty_link import link_to_ports
from kit.racing_bots import racing_bots_at
from kit.recorded_players import Notes
from kit.server_process import nodes_on
from kit.stores import StoreServer

PACE = 60.0
"""Moves a second of each player."""
LONGEST_PAUSE = 2.0
"""Longest pause in seconds for a player, as server/README.md promises."""


def pauses(notes: Notes) -> Iterator[float]:
    """Yield each player's pause at each restart: seconds between two answers, less the usual time of a move."""
    for before, after in pairwise(notes.acknowledged):
        changed = any(before.moment < at <= after.moment for at in notes.connected[1:])
        if changed and before.race == after.race:
            yield max(0.0, after.moment - before.moment - 1 / PACE)


async def test_a_rolling_restart_loses_nothing(store_servers: dict[str, StoreServer]) -> None:
    store = store_servers["valkey"]
    store.empty()
    async with (
        nodes_on(store.url, 3, module=QUICK) as nodes,
        link_to_ports(*(node.port for node in nodes)) as balancer,
        racing_bots_at(balancer.url, ("lady-palk",), PACE, nodes[0], store.url) as bots,
    ):
        for node in nodes:
            await bots.mid_race()
            assert await node.stop() == 0
            await node.start()
        await bots.finish()
        waited = [each for player in bots.players for each in pauses(player.notes)]
        await bots.audit()
        assert waited, "no player had to change nodes in mid-race"
        assert max(waited) <= LONGEST_PAUSE
