"""The target of a storm: server nodes, their store, and players who race all the time.

Each player connects through its own link to the nodes in turn. Each node has its
own link to the store. Players reconnect by themselves after every fault.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from kit.faulty_link import FaultyLink, link_to_store, listening, to_ports
from kit.racing_bots import Racing
from kit.recorded_players import RecordedPlayer, players_at_a_table
from kit.server_process import ServerProcess
from kit.stores import SCRATCH, StoreServer, free_port
from kit.storms.footprints import Footprint, footprint
from saratoga_client.net.connection import Timing
from saratoga_server.embedded_store.process import find_binary

RECENT = 50
"""The number of latest acknowledged moves that `back_since` searches."""


@dataclass
class StormPlayer(RecordedPlayer):
    """A racing bot and its faulty link to the servers."""

    link: FaultyLink = field(kw_only=True)

    def back_since(self, moment: float, *, by_reconnect: bool) -> float | None:
        """Return when the server first acknowledged a move after `moment`, `None` if it has not yet.

        A player without a board to play on is back when any event arrives. With `by_reconnect`, only
        what follows a new connection counts.
        """
        notes = self.notes
        if by_reconnect:
            connected = [at for at in notes.connected if at > moment]
            if not connected:
                return None
            moment = connected[0]
        for each in notes.acknowledged[-RECENT:]:
            if each.moment > moment:
                return each.moment
        if notes.is_connected and not notes.is_racing and notes.heard > moment:
            return notes.heard
        return None

    def __str__(self) -> str:
        notes = self.notes
        board = notes.board
        count = "" if board is None else f", {board.count} moves ({board.state})"
        link = "connected" if notes.is_connected else "disconnected"
        ago = time.monotonic() - notes.heard
        return (
            f"{self.name} at {notes.code}: {notes.phase}{count}, {link} "
            f"(node {self.link.server_port}), last event {ago:.1f} s ago, "
            f"refusals {dict(notes.refused)}"
        )


LINE_UP = ("weak", "strong", "weak", "weak")
CAP = 20
"""Time limit of a race in minutes."""

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
class Installation(Racing[StormPlayer]):
    """Nodes, store, tables and players; opened by `open_installation`."""

    nodes: list[Node] = field(default_factory=list)
    store: StoreServer = field(kw_only=True)
    baseline: list[Footprint] = field(default_factory=list)
    """The resources that each node held before the first player connected."""

    @property
    def store_url(self) -> str:
        """The store's own address, which bypasses the fault-injecting links."""
        return self.store.url

    def up(self) -> list[Node]:
        return [node for node in self.nodes if not node.is_down]

    def at(self, node: Node) -> list[StormPlayer]:
        """Return the players that are connected to a node."""
        return [player for player in self.players if player.link.server_port == node.port]

    async def all_back(
        self, players: Iterable[StormPlayer], since: float, what: str, *, by_reconnect: bool
    ) -> list[tuple[StormPlayer, float]]:
        """Wait until all these players are back; return each with its time of return."""
        back: list[tuple[StormPlayer, float]] = []
        awaited = list(players)

        def are_back() -> bool:
            for player in list(awaited):
                moment = player.back_since(since, by_reconnect=by_reconnect)
                if moment is not None:
                    back.append((player, moment))
                    awaited.remove(player)
            return not awaited

        await self.until(are_back, f"all players back after {what}")
        return back

    def racers(self) -> list[StormPlayer]:
        """Return the players whose boards are in play."""
        return [player for player in self.players if player.notes.is_racing]

    def describe(self) -> str:
        """Describe the state of players, nodes and store, for the report of a failure."""
        lines = [str(player) for player in self.players]
        for node in self.nodes:
            process = node.server.process
            state = "not running" if process is None else f"exit {process.returncode}"
            lines.append(f"node {node.port}, {state}, down {node.is_down}; its log ends:")
            lines += node.server.log.read_text().splitlines()[-LOG_LINES:]
        lines.append("the store's log ends:")
        lines += (self.store.folder / "log").read_text().splitlines()[-LOG_LINES:]
        return "\n".join(lines)

    def refusals(self) -> Counter[str]:
        """Count the refusals that all players received, by code."""
        return sum((player.notes.refused for player in self.players), Counter())


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
        folder = Path(
            stack.enter_context(
                TemporaryDirectory(prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True)
            )
        )
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
                seated = players_at_a_table(
                    [link.url for link in links], game, f"Table{number}x", LINE_UP, timing
                )
                installation.tables.append(
                    [
                        StormPlayer(
                            each.connection,
                            each.session,
                            each.strength,
                            each.variation,
                            each.name,
                            link=link,
                        )
                        for each, link in zip(
                            await stack.enter_async_context(seated), links, strict=True
                        )
                    ]
                )
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
