"""Count what a process and a store hold: files, sockets, tasks, clients, subscriptions, keys."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from redis import Redis

from saratoga_server.store.nodes import ALIVE_FOR

ESTABLISHED = "01"

WITH_TTL = re.compile(
    r"^(node|player):|^table:[a-z0-9-]+(:race:.*|:records)?$|^leaderboard:[^:]+:(best|bankroll):[0-9]"
)
"""Keys that may have a TTL (`saratoga_server/store/keys.py`)."""

TABLE = re.compile(r"^table:[a-z0-9-]+$")

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
    return Footprint(files, sockets, connections_on(port), _tasks(metrics_port))


def connections_on(port: int) -> int:
    """Count this machine's TCP connections to a port."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(
        words[3] == ESTABLISHED and int(words[1].rpartition(":")[2], 16) == port for words in lines
    )


def _tasks(metrics_port: int) -> int:
    with urlopen(f"http://127.0.0.1:{metrics_port}/metrics", timeout=10) as page:
        text = page.read().decode()
    found = re.search(r"^saratoga_tasks ([0-9.]+)$", text, re.MULTILINE)
    assert found, "no metric saratoga_tasks"
    return int(float(found[1]))


def clients_of(store: Redis) -> int:
    """Count clients of one store process, except this connection and replicas."""
    listed = store.execute_command("CLIENT", "LIST", "TYPE", "normal")
    subscribed = store.execute_command("CLIENT", "LIST", "TYPE", "pubsub")
    return (
        sum(len([line for line in text.splitlines() if line]) for text in (listed, subscribed)) - 1
    )


def subscribed_connections_of(store: Redis) -> int:
    """Count the subscribed connections of one store process."""
    return len(store.execute_command("CLIENT", "LIST", "TYPE", "pubsub").splitlines())


def subscribers_of(store: Redis) -> Counter[int]:
    """Count channels by their number of subscribers."""
    found: Counter[int] = Counter()
    if channels := store.execute_command("PUBSUB", "CHANNELS"):
        counts = store.execute_command("PUBSUB", "NUMSUB", *channels)
        found.update(int(number) for number in counts[1::2])
    return found


def as_text(name: object) -> str:
    """Decode a key or a set member as text."""
    assert isinstance(name, bytes)
    return name.decode()


def keys_left_over(store: Redis) -> Iterator[str]:
    """Describe wrong TTLs, and keys and names without a table."""
    keys = {as_text(key) for key in store.scan_iter(count=1000)}
    for key in sorted(keys):
        ttl = store.pttl(key)
        if ttl >= 0 and not WITH_TTL.match(key):
            yield f"{key} has a TTL, so a wrong clock of the store deletes it"
        if ttl == -1 and key.startswith("node:"):
            yield f"{key} has no TTL"
        owner = RACE_OR_RECORDS.match(key)
        if owner and owner[1] not in keys:
            yield f"{key} has no table"
    for code in map(as_text, store.zrange("due", 0, -1)):
        if f"table:{code}" not in keys:
            yield f"a timer names {code}, which does not exist"


def nodes_known(store: Redis) -> int:
    """Count the nodes that the store lists.

    A node that died before the store's clock was stepped back stays listed, with a longer TTL than a
    living node has; it is not counted.
    """
    marks = store.scan_iter(match="node:*", count=1000)
    return sum(store.pttl(mark) <= ALIVE_FOR for mark in marks)
