"""Faults of nodes: killed, hung, restarted, cut off from the store."""

import signal
from contextlib import suppress
from functools import partial
from random import Random

from kit.storms.fault import ActiveFault, Fault
from kit.storms.installation import Installation, NeverHappened, Node

BACK_AFTER_A_NODE = 2.0
"""The promised time in seconds for players of a killed node to be back."""

PAUSE_OF_A_RESTART = 2.0
"""The promised longest wait of players, in seconds, while nodes are restarted in turn."""

PLAYER_WITHIN = 5.0
"""Longest time in seconds for a player to reconnect after the previous fault."""


async def some_node(installation: Installation, random: Random) -> Node:
    """Return a random running node, one with connected players if possible."""
    up = installation.up() or installation.nodes
    with suppress(NeverHappened):
        await installation.until(
            "a player at a node", lambda: any(map(installation.at, up)), PLAYER_WITHIN
        )
    return random.choice([node for node in up if installation.at(node)] or up)


async def kill(installation: Installation, random: Random) -> ActiveFault:
    node = await some_node(installation, random)
    affected = installation.at(node)
    node.is_down = True
    await node.server.kill()
    return ActiveFault(affected, partial(_start, node))


async def _start(node: Node) -> None:
    await node.server.start()
    node.is_down = False


async def hang(installation: Installation, random: Random) -> ActiveFault:
    node = await some_node(installation, random)
    affected = installation.at(node)
    node.is_down = True
    assert node.server.process is not None
    node.server.process.send_signal(signal.SIGSTOP)
    return ActiveFault(affected, partial(_resume, node))


async def _resume(node: Node) -> None:
    assert node.server.process is not None
    node.server.process.send_signal(signal.SIGCONT)
    node.is_down = False


async def restart(installation: Installation, random: Random) -> ActiveFault:
    """Stop a node and start it again."""
    node = await some_node(installation, random)
    affected = installation.at(node)
    node.is_down = True
    code = await node.server.stop()
    assert code == 0, f"node {node.port} ended with exit code {code}"
    return ActiveFault(affected, partial(_start, node))


async def cut_off(installation: Installation, random: Random) -> ActiveFault:
    """Cut all connections between a node and the store."""
    node = await some_node(installation, random)
    node.link.cut()
    return ActiveFault(installation.at(node))


async def make_store_half_open(installation: Installation, random: Random) -> ActiveFault:
    """Make all connections between a node and the store half-open."""
    node = await some_node(installation, random)
    node.link.go_half_open()
    return ActiveFault(installation.at(node))


NODE_FAULTS = (
    Fault(
        name="node killed",
        part="node",
        inject=kill,
        hold=(0.0, 0.5),
        by_reconnect=True,
        limit=BACK_AFTER_A_NODE,
    ),
    Fault(name="node hung", part="node", inject=hang, hold=(0.3, 2.0), from_heal=True),
    Fault(
        name="node restarted",
        part="node",
        inject=restart,
        by_reconnect=True,
        by_pause=True,
        limit=PAUSE_OF_A_RESTART,
    ),
)

HUNG_LONG = Fault(
    name="node hung for long", part="node", inject=hang, hold=(4.5, 6.0), from_heal=True
)
"""A fault that lasts longer than players wait for an event."""

STORE_LINK_FAULTS = (
    Fault(name="store connections cut", part="store", inject=cut_off),
    Fault(name="store connections half-open", part="store", inject=make_store_half_open),
)
"""Faults of the links between nodes and the store."""
