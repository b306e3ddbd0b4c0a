"""The target of a storm: server nodes, their store, and players who race all the time.

Each player connects through its own link to the nodes in turn. Each node has its
own link to the store. Players reconnect by themselves after every fault.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from kit.faulty_link import FaultyLink, link_to_store, listening, to_ports
from kit.racing_bots import Racing
from kit.recorded_players import RecordedPlayer, players_at_a_table
from kit.server_process import ServerProcess
from kit.stores import SCRATCH, StoreServer, free_port
from kit.storms.leaks import Footprint, footprint
from saratoga_client.net.connection import Timing
from saratoga_server.embedded_store.process import find_binary

LINE_UP = ("weak", "strong", "weak", "weak")

LOG_LINES = 12
"""The number of lines from the end of each log in the description of a failure."""

KEEP_ON_FULL_DISK = ("sh", "-c", 'trap "" XFSZ; exec "$@"', "sh")
"""A command prefix: a write to a full disk fails in the program and does not kill it."""


@dataclass
class Node:
    """One server process, and its link to the store."""

    server: ServerProcess
    link: FaultyLink
    metrics_port: int
    is_down: bool = False
    """True if a fault that is not healed yet has killed, paused or stopped the node."""

    @property
    def port(self) -> int:
        return self.server.port

    def footprint(self) -> Footprint:
        """Count the resources that the node's process holds open."""
        return footprint(self.server.pid, self.port, self.metrics_port)


@dataclass
class Installation(Racing):
    """Nodes, store, tables and players; opened by `open_installation`."""

    nodes: list[Node] = field(default_factory=list)
    store: StoreServer = field(kw_only=True)
    baseline: list[Footprint] = field(default_factory=list)
    """The resources that each node held before the first player connected."""

    def up(self) -> list[Node]:
        return [node for node in self.nodes if not node.is_down]

    def at(self, node: Node) -> list[RecordedPlayer]:
        """Return the players that are connected to a node."""
        return [player for player in self.players if player.link.server_port == node.port]

    def describe(self) -> str:
        """Describe the state of players, nodes and store, for the report of a failure."""
        lines = [
            f"{player.name} at {player.notes.code}: {player.notes.phase}, board {player.notes.board}, "
            f"connected {player.notes.is_connected} to {player.link.server_port}, "
            f"refusals {player.notes.refused}"
            for player in self.players
        ]
        for node in self.nodes:
            lines.append(f"node {node.port}, down {node.is_down}; its log ends:")
            lines += node.server.log.read_text().splitlines()[-LOG_LINES:]
        lines.append("the store's log ends:")
        lines += (self.store.folder / "log").read_text().splitlines()[-LOG_LINES:]
        return "\n".join(lines)


@asynccontextmanager
async def open_installation(
    games: Sequence[str],
    *,
    nodes: int,
    pace: float,
    module: str = ServerProcess.module,
    timing: Timing = Timing(),  # noqa: B008 - frozen
) -> AsyncIterator[Installation]:
    """Start an installation with a table of four for each game; players race until the end."""
    async with AsyncExitStack() as stack:
        scratch = TemporaryDirectory(prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(scratch))
        (folder / "store").mkdir()
        store = StoreServer(str(find_binary()), folder / "store", before=[*KEEP_ON_FULL_DISK])
        stack.callback(store.kill)
        await asyncio.to_thread(store.start)
        installation = Installation(store=store)
        for number in range(nodes):
            link = await stack.enter_async_context(
                link_to_store(store.socket, folder / f"link-{number}")
            )
            installation.nodes.append(_node(link, folder, number, module))
        for node in installation.nodes:
            stack.push_async_callback(node.server.stop)
        await asyncio.gather(*(node.server.start() for node in installation.nodes))
        dial = to_ports([node.port for node in installation.nodes])
        stack.push_async_callback(installation.stop_racing)
        try:
            installation.baseline = [each.footprint() for each in installation.nodes]
            for number, game in enumerate(games, start=1):
                links = [FaultyLink(dial) for _ in LINE_UP]
                for link in links:
                    await stack.enter_async_context(listening(link))
                seated = await stack.enter_async_context(
                    players_at_a_table(
                        [link.url for link in links], game, f"Table{number}x", LINE_UP, timing
                    )
                )
                for player, link in zip(seated, links, strict=True):
                    player.link = link
                installation.tables.append(seated)
        except Exception as error:
            error.add_note(installation.describe())
            raise
        installation.start_racing(pace)
        yield installation


def _node(link: FaultyLink, folder: Path, number: int, module: str) -> Node:
    metrics_port = free_port()
    flags = (
        *("--redis", link.url, "--durability", "safe", "--node", f"node{number}"),
        *("--rate", "0", "--log-level", "warning", "--metrics-port", str(metrics_port)),
    )
    return Node(ServerProcess(folder / f"node-{number}", flags, module=module), link, metrics_port)
