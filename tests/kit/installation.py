"""The target of a storm: server nodes, their store, and players who race all the time.

Each player connects through its own link to the nodes in turn. Each node has its
own link to the store. Players reconnect by themselves after every fault.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

from redis import Redis

from kit.faulty_link import FaultyLink, open_link, to_ports, to_socket
from kit.racing_bots import Racing, RecordedPlayer, players_at_a_table
from kit.server_process import ServerProcess
from kit.stores import StoreServer, free_port, scratch_folder
from saratoga_client.net.connection import Timing
from saratoga_server.embedded_store.process import find_binary

GONE_WITHIN = 30.0
"""Longest time in seconds until closed connections are noticed; idle nodes stay listed for six."""

SPARE_TASKS = 4
"""The number of additional tasks that may run at any moment; a leak would exceed it."""

BACKGROUND_TASKS = 8
"""The number of a node's background tasks that may call the store at once."""

FOR_COMMITS = FOR_EVENTS = 1
"""The number of connections of each kind from one node to the store, outside the node's pool."""

ESTABLISHED = "01"

WITH_TTL = re.compile(
    r"^(node|player):|^table:[a-z0-9-]+(:race:.*|:records)?$|^leaderboard:[^:]+:(best|bankroll):[0-9]"
)
"""Keys that may have a TTL (`saratoga_server/store/keys.py`)."""

RACE_OR_RECORDS = re.compile(r"^(table:[a-z0-9-]+):(race|records)")


@dataclass(frozen=True, slots=True)
class Footprint:
    """The resources that one server process holds."""

    files: int
    """The number of open files, except sockets."""
    sockets: int
    players: int
    """The number of connections to the server's port."""
    tasks: int
    """The number of tasks in the event loop, as last measured by the server."""


def footprint(pid: int, port: int, metrics_port: int) -> Footprint:
    sockets = files = 0
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            is_socket = str(entry.readlink()).startswith("socket:")
        except FileNotFoundError:
            continue
        sockets += is_socket
        files += not is_socket
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    players = sum(
        words[3] == ESTABLISHED and int(words[1].rpartition(":")[2], 16) == port for words in lines
    )
    with urlopen(f"http://127.0.0.1:{metrics_port}/metrics", timeout=10) as page:
        tasks = re.search(r"^saratoga_tasks ([0-9.]+)$", page.read().decode(), re.MULTILINE)
    assert tasks, "no metric saratoga_tasks"
    return Footprint(files, sockets, players, int(float(tasks[1])))


async def leaks_of(installation: "Installation") -> list[str]:
    """Disconnect all players; describe the resources that nodes and store fail to release."""
    for player in installation.players:
        await player.connection.close()
        player.link.cut_half_open()
    for node in installation.nodes:
        node.link.cut_half_open()
    return await asyncio.to_thread(_settled, installation)


def _settled(installation: "Installation") -> list[str]:
    deadline = time.monotonic() + GONE_WITHIN
    with Redis(unix_socket_path=str(installation.store.socket), decode_responses=True) as store:
        while (found := list(_held(installation, store))) and time.monotonic() < deadline:
            time.sleep(0.1)
        return [*found, *_keys_left_over(store)]


def _held(installation: "Installation", store: Redis) -> Iterator[str]:
    """Describe what nodes and store hold beyond what they held before the first player."""
    nodes = installation.nodes
    # far below the pool's own limit, so that a leak of a few connections is found
    pool = len(installation.players) + BACKGROUND_TASKS
    most_files = max(each.files for each in installation.baseline)
    most_tasks = max(each.tasks for each in installation.baseline) + SPARE_TASKS
    most_sockets = max(each.sockets for each in installation.baseline) + pool
    for node in nodes:
        now = node.footprint()
        if now.players:
            yield f"node {node.port} has {now.players} connections after all players left"
        if now.files > most_files or now.tasks > most_tasks or now.sockets > most_sockets:
            yield f"node {node.port} holds {now}, at first {installation.baseline}"
    kinds = [str(store.execute_command("CLIENT", "LIST", "TYPE", k)) for k in ("normal", "pubsub")]
    normal, subscribed = (len([line for line in kind.splitlines() if line]) for kind in kinds)
    # one is this client
    clients = normal + subscribed - 1
    if clients > len(nodes) * (pool + FOR_COMMITS + FOR_EVENTS):
        yield f"the store has {clients} clients"
    if clients != (connections := sum(len(node.link.connections) for node in nodes)):
        yield f"the store has {clients} clients, the nodes {connections} connections"
    if subscribed != len(nodes) * FOR_EVENTS:
        yield f"the store has {subscribed} subscribed clients, of {len(nodes)} nodes"
    for channel, subscribers in store.pubsub_numsub(*store.pubsub_channels()):
        if subscribers != len(nodes):
            yield f"the channel {channel!r} has {subscribers} subscribers, of {len(nodes)} nodes"
    if living := list(store.scan_iter("node:*", count=1000)):
        yield f"the store lists {living}, which serve nobody"


def _keys_left_over(store: Redis) -> Iterator[str]:
    """Describe wrong TTLs, and keys and timers without a table."""
    keys = set(store.scan_iter(count=1000))
    for key in sorted(keys):
        ttl = store.pttl(key)
        if ttl >= 0 and not WITH_TTL.match(key):
            yield f"{key!r} has a TTL, so a wrong clock of the store deletes it"
        if ttl == -1 and key.startswith("node:"):
            yield f"{key!r} has no TTL"
        owner = RACE_OR_RECORDS.match(key)
        if owner and owner[1] not in keys:
            yield f"{key!r} has no table"
    for code in store.zrange("due", 0, -1):
        if f"table:{code!s}" not in keys and str(code) not in keys:
            yield f"a timer names {code!r}, which does not exist"


LINE_UP = ("weak", "strong", "weak", "weak")

NODES = 3

PACE = 6.0
"""Moves a second of each player."""

TIMING = Timing(silence=4.0, heartbeat_every=4 / 3)
"""Players reconnect after four seconds without an event: sooner than usual."""

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

    def at(self, node: Node) -> list[RecordedPlayer]:
        """Return the players that are connected to a node."""
        return [player for player in self.players if player.link.server_port == node.port]

    def describe(self) -> str:
        """Describe the state of players, nodes and store, for the report of a failure."""
        lines = [
            f"{player.name} at {player.notes.code}: {player.notes.phase}, board "
            f"{player.notes.board}, connected {player.notes.is_connected} to "
            f"{player.link.server_port}, refusals {player.notes.refused}"
            for player in self.players
        ]
        for node in self.nodes:
            lines.append(f"node {node.port}, down {node.is_down}; its log ends:")
            lines += node.server.log.read_text().splitlines()[-LOG_LINES:]
        lines.append("the store's log ends:")
        lines += self.store.log().splitlines()[-LOG_LINES:]
        return "\n".join(lines)


@asynccontextmanager
async def open_installation(games: Sequence[str]) -> AsyncIterator[Installation]:
    """Start an installation with a table of four for each game; players race until the end."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        (folder / "store").mkdir()
        store = StoreServer(str(find_binary()), folder / "store", before=[*KEEP_ON_FULL_DISK])
        stack.callback(store.kill)
        await asyncio.to_thread(store.start)
        installation = Installation(store=store)
        for number in range(NODES):
            link = await stack.enter_async_context(
                open_link(to_socket(store.socket), socket=folder / f"link-{number}")
            )
            installation.nodes.append(_node(link, folder, number))
        for node in installation.nodes:
            stack.push_async_callback(node.server.stop)
        await asyncio.gather(*(node.server.start() for node in installation.nodes))
        dial = to_ports(*(node.port for node in installation.nodes))
        stack.push_async_callback(installation.stop_racing)
        try:
            installation.baseline = [each.footprint() for each in installation.nodes]
            for number, game in enumerate(games, start=1):
                links = [await stack.enter_async_context(open_link(dial)) for _ in LINE_UP]
                seated = await stack.enter_async_context(
                    players_at_a_table(
                        [link.url for link in links], game, f"Table{number}x", LINE_UP, TIMING
                    )
                )
                for player, link in zip(seated, links, strict=True):
                    player.link = link
                installation.tables.append(seated)
        except Exception as error:
            error.add_note(installation.describe())
            raise
        installation.start_racing(PACE)
        yield installation


def _node(link: FaultyLink, folder: Path, number: int) -> Node:
    metrics_port = free_port()
    flags = (
        *("--redis", link.url, "--durability", "safe", "--node", f"node{number}"),
        *("--rate", "0", "--log-level", "warning", "--metrics-port", str(metrics_port)),
    )
    return Node(ServerProcess(folder / f"node-{number}", flags), link, metrics_port)
