"""Nodes killed, hung, drained, cut off from their store, and with clocks that step."""

import signal
from contextlib import suppress
from functools import partial
from random import Random

from kit.stepping_clocks import SEEN_WITHIN
from kit.storms.fault import Blow, Fault
from kit.storms.town import NeverCame, Node, Town

BACK_AFTER_A_NODE = 2.0
"""Seconds; what is promised when a node dies."""

PAUSE_OF_A_RESTART = 2.0
"""Seconds; what is promised when nodes are restarted one after the other."""

VERSIONS = ("saratoga_server", "kit.other_version")
"""Of the server."""

MOST_STEPPED = 600
"""Seconds that a clock is ever away from the true time."""


SOMEBODY_WITHIN = 5.0
"""Seconds for a player to come to a node, where the fault before has sent all of them away."""


async def _some_node(town: Town, chance: Random) -> Node:
    """One that somebody is connected to, if there is any."""
    up = town.up() or town.nodes
    with suppress(NeverCame):
        await town.until("somebody at a node", lambda: any(map(town.at, up)), SOMEBODY_WITHIN)
    return chance.choice([node for node in up if town.at(node)] or up)


async def kill(town: Town, chance: Random) -> Blow:
    node = await _some_node(town, chance)
    felt_by = town.at(node)
    node.is_down = True
    await node.house.kill()
    return Blow(felt_by, partial(_start, node))


async def _start(node: Node) -> None:
    await node.house.start()
    node.is_down = False


async def hang(town: Town, chance: Random) -> Blow:
    node = await _some_node(town, chance)
    felt_by = town.at(node)
    node.is_down = True
    assert node.house.process is not None
    node.house.process.send_signal(signal.SIGSTOP)
    return Blow(felt_by, partial(_go_on, node))


async def _go_on(node: Node) -> None:
    assert node.house.process is not None
    node.house.process.send_signal(signal.SIGCONT)
    node.is_down = False


async def restart(town: Town, chance: Random) -> Blow:
    """Down in order and up again, as the one version or the other: they are mixed all the time."""
    node = await _some_node(town, chance)
    felt_by = town.at(node)
    node.is_down = True
    code = await node.house.stop()
    assert code == 0, f"node {node.port} ended with {code}"
    node.house.module = chance.choice(VERSIONS)
    return Blow(felt_by, partial(_start, node))


async def step_clock(town: Town, chance: Random) -> Blow:
    """Minutes forth or back; it stays so until the next step."""
    node = await _some_node(town, chance)
    node.clock.set(chance.randint(-MOST_STEPPED, MOST_STEPPED))
    return Blow(town.at(node))


async def cut_off(town: Town, chance: Random) -> Blow:
    """All connections between a node and the store break."""
    node = await _some_node(town, chance)
    assert node.link is not None
    node.link.cut()
    return Blow(town.at(node))


async def swallow(town: Town, chance: Random) -> Blow:
    """All connections between a node and the store are half-open from now on."""
    node = await _some_node(town, chance)
    assert node.link is not None
    node.link.go_half_open()
    return Blow(town.at(node))


NODE_FAULTS = (
    Fault(
        name="node killed",
        part="node",
        strike=kill,
        hold=(0.0, 0.5),
        by_connection=True,
        bar=BACK_AFTER_A_NODE,
    ),
    Fault(name="node hung", part="node", strike=hang, hold=(0.3, 2.0), from_heal=True),
    Fault(
        name="node restarted",
        part="node",
        strike=restart,
        by_connection=True,
        by_pause=True,
        bar=PAUSE_OF_A_RESTART,
    ),
    Fault(
        name="node's clock stepped",
        part="clock",
        strike=step_clock,
        hold=(SEEN_WITHIN, SEEN_WITHIN),
        from_heal=True,
    ),
)

HUNG_LONG = Fault(
    name="node hung until given up", part="node", strike=hang, hold=(4.5, 6.0), from_heal=True
)
"""Longer than players wait for a sign of life."""

WAY_FAULTS = (
    Fault(name="node cut off its store", part="store", strike=cut_off),
    Fault(name="node's store half-open", part="store", strike=swallow),
)
"""For a store that stands alone."""
