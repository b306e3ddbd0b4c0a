"""Which primary of a cluster serves which hash slot, as a node of it tells."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct
from redis.crc import key_slot

SLOTS: Final = 16_384

Address = tuple[str, int]
"""Host and port."""


class SlotMap(Struct, frozen=True):
    """A cluster as one of its nodes knows it."""

    is_whole: bool
    """Whether that node says that all is well; one that is cut off from the others does not."""
    epoch: int
    """The newest of the cluster that it has heard of: each failover makes a newer one."""
    ranges: tuple[tuple[int, int, Address], ...]
    """First and last slot, and the primary that serves them."""
    replicas: frozenset[Address]

    @property
    def primaries(self) -> frozenset[Address]:
        return frozenset(address for _, _, address in self.ranges)

    @property
    def served(self) -> int:
        """Slots that somebody serves."""
        return sum(last - first + 1 for first, last, _ in self.ranges)


def slot_of(key: str | bytes) -> int:
    """What a key is placed by: the part between the braces, or all of it."""
    return key_slot(key.encode() if isinstance(key, str) else key)


def read_slots(info: bytes, slots: Sequence[Any], asked: Address) -> SlotMap:
    """From the answers to CLUSTER INFO and CLUSTER SLOTS of the node at `asked`."""
    said = dict(line.split(":", 1) for line in info.decode().splitlines() if ":" in line)
    ranges, replicas = [], set()
    for first, last, primary, *others in slots:
        ranges.append((int(first), int(last), _address(primary, asked)))
        replicas |= {_address(other, asked) for other in others}
    return SlotMap(
        is_whole=said.get("cluster_state") == "ok",
        epoch=int(said.get("cluster_current_epoch", 0)),
        ranges=tuple(sorted(ranges)),
        replicas=frozenset(replicas),
    )


def _address(node: Sequence[Any], asked: Address) -> Address:
    # a node that announces no endpoint is to be reached where it was asked
    host = (node[0] or b"").decode()
    return (asked[0] if host in ("", "?") else host, int(node[1]))


def url_at(url: str, address: Address) -> str:
    """The same user, password and settings, at another node."""
    parts = urlsplit(url)
    host, port = address
    shown = f"[{host}]" if ":" in host else host
    user, at, _ = parts.netloc.rpartition("@")
    scheme = "redis" if parts.scheme == "unix" else parts.scheme
    return parts._replace(scheme=scheme, netloc=f"{user}{at}{shown}:{port}", path="").geturl()


def address_of(url: str) -> Address:
    parts = urlsplit(url)
    return (parts.hostname or "localhost", parts.port or 6379)
