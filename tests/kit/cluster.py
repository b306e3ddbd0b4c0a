"""A Valkey or Redis Cluster for tests: three primaries with a replica each.

All functions block. A test with racing players calls them through `asyncio.to_thread`.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from kit.stores import SCRATCH, StoreServer, free_port
from saratoga_server.embedded_store.process import find_binary
from saratoga_server.store.slots import slot_of

SLOTS = 16384
PRIMARIES = 3
NODE_TIMEOUT = 1_000
"""Milliseconds after which nodes count a silent node as dead, as in `deploy/valkey`."""
HANDOVER_WITHIN = 5.5
"""Seconds after which a replica has given up a failover and must be asked again."""
WITHIN = 30.0
"""Longest time in seconds for the cluster to agree on a change."""


def until(agreed: Callable[[], bool], what: str) -> None:
    """Poll until `agreed()` is true."""
    deadline = time.monotonic() + WITHIN
    while not agreed():
        assert time.monotonic() < deadline, f"the cluster did not agree in time: {what}"
        time.sleep(0.005)


class ClusterNode:
    """One process of the cluster."""

    def __init__(self, binary: str, folder: Path, settings: dict[str, str]) -> None:
        self.port, self.bus = free_port(), free_port()
        self.server = StoreServer(
            binary,
            folder,
            {
                "port": str(self.port),
                "bind": "127.0.0.1",
                "cluster-enabled": "yes",
                "cluster-port": str(self.bus),
                "cluster-node-timeout": str(NODE_TIMEOUT),
                "cluster-require-full-coverage": "no",
                "cluster-allow-replica-migration": "no",
                "repl-diskless-sync-delay": "0",
            }
            | settings,
        )

    def __repr__(self) -> str:
        return f"<node {self.port}>"

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    @property
    def id(self) -> str:
        return self.ask("CLUSTER", "MYID").splitlines()[1]

    @property
    def is_alive(self) -> bool:
        return self.server.process is not None

    def ask(self, *words: str) -> str:
        """Return the reply to one command, empty if the node does not reply."""
        return self.server.ask_all(*words).decode()

    def do(self, *words: str) -> None:
        """Run a command; raise an error if it fails."""
        reply = self.ask(*words)
        assert reply == "+OK\r\n", (self, words, reply)

    def role(self) -> str:
        """Return the node's role, `master` or `slave`; empty if the node does not reply."""
        words = self.ask("ROLE").split("\r\n")
        return words[2] if len(words) > 2 else ""

    def holds_for_primary(self, node_id: str) -> bool:
        """Return whether this node counts the other node as a primary."""
        known = (line.split(" ") for line in self.ask("CLUSTER", "NODES").splitlines())
        return any(words[0] == node_id and "master" in words[2].split(",") for words in known)

    def has_met(self, node_ids: list[str]) -> bool:
        """Return whether this node knows all of these nodes."""
        known = self.ask("CLUSTER", "NODES")
        return all(each in known for each in node_ids) and "handshake" not in known

    def says(self, *words: str, of: tuple[str, ...]) -> bool:
        reply = self.ask(*of)
        return all(word in reply for word in words)

    def kill(self) -> None:
        self.server.kill()

    def restart(self) -> None:
        """Start the process again on its data; return when the node replies."""
        self.server.start()

    def pause(self) -> None:
        """Stop the process with SIGSTOP; its connections stay open."""
        self.server.pause()

    def resume(self) -> None:
        self.server.resume()


class Cluster:
    """A running cluster of three primaries, by default with a replica each."""

    def __init__(self, nodes: list[ClusterNode]) -> None:
        self.nodes = nodes

    @property
    def url(self) -> str:
        """The URL of the cluster, with the addresses of two nodes in case one is killed."""
        return ",".join(node.url for node in self.nodes[:2])

    # Roles

    def primaries(self) -> list[ClusterNode]:
        """Return the nodes that report the role of a primary."""
        return [node for node in self.nodes if node.is_alive and node.role() == "master"]

    def owner(self, key: str) -> ClusterNode:
        """Return the primary that owns the key."""
        for node in self.primaries():
            reply = node.ask("EXISTS", key)
            if reply.startswith(":"):
                return node
        raise AssertionError(f"no primary owns {key}")

    def replica_of(self, primary: ClusterNode) -> ClusterNode:
        """Return the running replica of a primary; the primary may be dead."""
        port = str(primary.port)
        for node in self.nodes:
            if node is not primary and node.is_alive:
                words = node.ask("ROLE").split("\r\n")
                if len(words) > 5 and words[2] == "slave" and words[5] == f":{port}":
                    return node
        raise AssertionError(f"{primary} has no replica")

    # Faults

    def kill(self, primary: ClusterNode) -> ClusterNode:
        """Kill a primary; return the replica that will be promoted."""
        successor = self.replica_of(primary)
        primary.kill()
        return successor

    def fail_over(self, primary: ClusterNode, *, force: bool = False) -> ClusterNode:
        """Promote a primary's replica, by agreement or by force; return the replica."""
        successor = self.replica_of(primary)
        asked = 0.0

        def is_promoted() -> bool:
            nonlocal asked
            if successor.role() == "master":
                return True
            if time.monotonic() > asked + HANDOVER_WITHIN:
                asked = time.monotonic()
                successor.ask("CLUSTER", "FAILOVER", *(["TAKEOVER"] if force else []))
            return False

        until(is_promoted, f"{successor} is promoted")
        self.wait_until_promoted(successor)
        return successor

    def flush_functions(self) -> None:
        for node in self.primaries():
            node.do("FUNCTION", "FLUSH", "SYNC")

    def empty(self) -> None:
        """Delete all data and all Functions on every primary."""
        for node in self.primaries():
            node.do("FLUSHALL", "SYNC")
        self.flush_functions()

    def move_slot(self, slot: int, source: ClusterNode, target: ClusterNode) -> None:
        """Move a slot to another primary key by key, as resharding does."""
        self.begin_move(slot, source, target)
        while keys := source.ask("CLUSTER", "GETKEYSINSLOT", str(slot), "10").split("\r\n")[2:-1:2]:
            self.carry(keys, source, target)
        self.end_move(slot, source, target)

    def move_whole(self, key: str, source: ClusterNode, target: ClusterNode) -> None:
        """Move the slot of a key to another primary in one step; this needs Valkey 9.0 or newer."""
        span = ("SLOTSRANGE", str(slot_of(key)), str(slot_of(key)))
        source.do("CLUSTER", "MIGRATESLOTS", *span, "NODE", target.id)
        until(lambda: target.ask("EXISTS", key).startswith(":"), f"the slot of {key} has moved")

    def begin_move(self, slot: int, source: ClusterNode, target: ClusterNode) -> None:
        """Start to move a slot, so that two primaries hold keys of it."""
        target.do("CLUSTER", "SETSLOT", str(slot), "IMPORTING", source.id)
        source.do("CLUSTER", "SETSLOT", str(slot), "MIGRATING", target.id)

    def carry(self, keys: list[str], source: ClusterNode, target: ClusterNode) -> None:
        """Move some of the slot's keys to the target."""
        where = ("127.0.0.1", str(target.port), "", "0", "5000")
        assert source.ask("MIGRATE", *where, "KEYS", *keys).startswith(("+OK", "+NOKEY"))

    def end_move(self, slot: int, source: ClusterNode, target: ClusterNode) -> None:
        """Finish the move of a slot: make the target its owner."""
        for node in (target, source, *self.primaries()):
            node.do("CLUSTER", "SETSLOT", str(slot), "NODE", target.id)

    # Waiting

    def wait_until_promoted(
        self, successor: ClusterNode, *, but: ClusterNode | None = None
    ) -> None:
        """Wait until every running node knows the replica as a primary, except the hanging node `but`."""
        until(lambda: successor.role() == "master", f"{successor} is promoted")
        name = successor.id
        until(
            lambda: all(
                node.holds_for_primary(name)
                for node in self.nodes
                if node.is_alive and node is not but
            ),
            f"all know {successor} as a primary",
        )

    def wait_until_served(self) -> None:
        """Wait until every running node serves all slots."""
        until(
            lambda: all(
                node.says("cluster_state:ok", "cluster_slots_ok:16384", of=("CLUSTER", "INFO"))
                for node in self.nodes
                if node.is_alive
            ),
            "every slot is served",
        )

    def wait_until_in_step(self) -> None:
        """Wait until all slots are served and every primary has a replica in sync."""
        self.wait_until_served()
        until(
            lambda: (
                len(self.primaries()) == PRIMARIES
                and all(
                    node.says("state=online", of=("INFO", "replication"))
                    for node in self.primaries()
                )
                and all(
                    node.says("master_link_status:up", of=("INFO", "replication"))
                    for node in self.nodes
                    if node.is_alive and node.role() == "slave"
                )
            ),
            "every replica is in step",
        )


def _assembled(nodes: list[ClusterNode]) -> Cluster:
    """Form a cluster of these nodes: first the primaries, then their replicas if there are any."""
    primaries, replicas = nodes[:PRIMARIES], nodes[PRIMARIES:]
    with ThreadPoolExecutor(len(nodes)) as threads:
        list(threads.map(ClusterNode.restart, nodes))
    for place, node in enumerate(nodes):
        node.do("CLUSTER", "SET-CONFIG-EPOCH", str(place + 1))
    for place, node in enumerate(primaries):
        first, last = place * SLOTS // PRIMARIES, (place + 1) * SLOTS // PRIMARIES - 1
        node.do("CLUSTER", "ADDSLOTSRANGE", str(first), str(last))
    for node in nodes:
        for other in nodes:
            if other is not node:
                node.do("CLUSTER", "MEET", "127.0.0.1", str(other.port), str(other.bus))
    node_ids = [node.id for node in nodes]
    until(lambda: all(node.has_met(node_ids) for node in nodes), "all have met")
    for primary, replica in zip(primaries, replicas, strict=False):
        replica.do("CLUSTER", "REPLICATE", primary.id)
    cluster = Cluster(nodes)
    cluster.wait_until_served()
    if replicas:
        cluster.wait_until_in_step()
    return cluster


@contextmanager
def running_cluster(
    binary: str | None = None, settings: dict[str, str] | None = None, *, replicas: bool = True
) -> Iterator[Cluster]:
    """Run a cluster of three primaries, by default of Valkey and with replicas in sync."""
    with TemporaryDirectory(prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True) as folder:
        nodes = []
        for place in range((1 + replicas) * PRIMARIES):
            home = Path(folder) / str(place)
            home.mkdir()
            nodes.append(ClusterNode(binary or str(find_binary()), home, settings or {}))
        try:
            yield _assembled(nodes)
        finally:
            for node in nodes:
                node.kill()
