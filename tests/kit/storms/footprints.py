"""What a process and a store hold at a moment: files, sockets, tasks, clients, subscriptions, keys."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from redis import Redis

from saratoga_server.store.nodes import ALIVE_FOR

ESTABLISHED = "01"

KEPT_FOR_GOOD = re.compile(
    r"^(\{players\}:.*|player:.*|name:.*|audit|replicated|\{p\d+\}:due|\{p\d+\}:outbox"
    r"|(\{p\d+\}:)?replicated|\{public\}:.*|leaderboard:games|\{leaderboard:.*)$"
)
"""Keys that may stay without an end (`saratoga_server/store/keys.py`)."""

RACE_OR_RECORDS = re.compile(r"^(\{p\d+\}:table:[a-z0-9-]+):(race|records)")


@dataclass(frozen=True, slots=True)
class Footprint:
    """Of one server process."""

    files: int
    """Open, sockets not counted."""
    sockets: int
    players: int
    """Connections on its port."""
    tasks: int
    """Of its loop, as it last saw them."""


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
    """How many TCP connections of this machine end at that port."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(
        words[3] == ESTABLISHED and int(words[1].rpartition(":")[2], 16) == port for words in lines
    )


def _tasks(metrics_port: int) -> int:
    with urlopen(f"http://127.0.0.1:{metrics_port}/metrics", timeout=10) as page:
        text = page.read().decode()
    found = re.search(r"^saratoga_tasks ([0-9.]+)$", text, re.MULTILINE)
    assert found, "no metric of tasks"
    return int(float(found[1]))


def clients_of(store: Redis) -> int:
    """Connections to one store process, this one and its replicas' not counted."""
    listed = store.execute_command("CLIENT", "LIST", "TYPE", "normal")
    subscribed = store.execute_command("CLIENT", "LIST", "TYPE", "pubsub")
    return (
        sum(len([line for line in text.splitlines() if line]) for text in (listed, subscribed)) - 1
    )


def listeners_of(store: Redis) -> int:
    """Connections that listen to any channel of one store process."""
    return len(store.execute_command("CLIENT", "LIST", "TYPE", "pubsub").splitlines())


def subscribers_of(store: Redis) -> Counter[int]:
    """How many channels have so many subscribers."""
    found: Counter[int] = Counter()
    for names, numbers in (("CHANNELS", "NUMSUB"), ("SHARDCHANNELS", "SHARDNUMSUB")):
        channels = store.execute_command("PUBSUB", names)
        if channels:
            told = store.execute_command("PUBSUB", numbers, *channels)
            found.update(int(number) for number in told[1::2])
    return found


def as_text(name: object) -> str:
    """A key or member; replies are bytes."""
    assert isinstance(name, bytes)
    return name.decode()


def keys_left_over(store: Redis) -> Iterator[str]:
    """Keys that stay for good and should not, or belong to nothing that is there."""
    keys = {as_text(key) for key in store.scan_iter(count=1000)}
    for key in sorted(keys):
        if store.pttl(key) == -1 and not KEPT_FOR_GOOD.match(key):
            yield f"{key} has no end"
        owner = RACE_OR_RECORDS.match(key)
        if owner and owner[1] not in keys:
            yield f"{key} has no table"
        if key.endswith(":outbox") and store.llen(key):
            yield f"{key} has settlements that nobody settled"
        if key.endswith(":due"):
            tag = key.removesuffix(":due")
            for code in map(as_text, store.zrange(key, 0, -1)):
                if f"{tag}:table:{code}" not in keys:
                    yield f"{key} waits for {code}, which is not there"


def nodes_known(store: Redis) -> int:
    """How many nodes count as living.

    One that died before the store's clock was stepped back does so until that time comes again: its
    sign of life has longer to go than any living node's.
    """
    signs = store.scan_iter(match="node:*", count=1000)
    return sum(store.pttl(sign) <= ALIVE_FOR for sign in signs)
