"""The slot map of a cluster: which primary serves which hash slot, as reported by a node."""

from binascii import crc_hqx
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

SLOTS: Final = 16_384

Address = tuple[str, int]
"""The host and port of a node."""


class SlotMap(Struct, frozen=True):
    """The slot map of a cluster, as one of its nodes reports it."""

    is_whole: bool
    """True if the node reports the cluster as working; a node cut off from the others does not."""
    epoch: int
    """The newest configuration epoch that the node knows; each failover raises it."""
    ranges: tuple[tuple[int, int, Address], ...]
    """The slot ranges: first slot, last slot, and their primary."""
    replicas: frozenset[Address]

    @property
    def primaries(self) -> frozenset[Address]:
        return frozenset(address for _, _, address in self.ranges)

    @property
    def served(self) -> int:
        """The number of slots that have a primary."""
        return sum(last - first + 1 for first, last, _ in self.ranges)


def slot_of(key: str | bytes) -> int:
    """Return the hash slot of a key, from the part in braces or from the whole key."""
    whole = key.encode() if isinstance(key, str) else key
    tag, brace, _ = whole.partition(b"{")[2].partition(b"}")
    return crc_hqx(tag if tag and brace else whole, 0) % SLOTS


def read_slots(info: bytes, slots: Sequence[Any], asked: Address) -> SlotMap:
    """Return the slot map in the replies of the node at `asked` to CLUSTER INFO and CLUSTER SLOTS."""
    state = dict(line.split(":", 1) for line in info.decode().splitlines() if ":" in line)
    ranges, replicas = [], set()
    for first, last, primary, *others in slots:
        ranges.append((int(first), int(last), _address(primary, asked)))
        replicas |= {_address(other, asked) for other in others}
    return SlotMap(
        is_whole=state.get("cluster_state") == "ok",
        epoch=int(state.get("cluster_current_epoch", 0)),
        ranges=tuple(sorted(ranges)),
        replicas=frozenset(replicas),
    )


def _address(node: Sequence[Any], asked: Address) -> Address:
    # a node without an announced endpoint is reached at the address that was asked
    host = (node[0] or b"").decode()
    return (asked[0] if host in ("", "?") else host, int(node[1]))


def url_at(url: str, address: Address) -> str:
    """Return the URL of another node, with the same user, password and settings."""
    parts = urlsplit(url)
    host, port = address
    shown = f"[{host}]" if ":" in host else host
    user, at, _ = parts.netloc.rpartition("@")
    scheme = "redis" if parts.scheme == "unix" else parts.scheme
    return parts._replace(scheme=scheme, netloc=f"{user}{at}{shown}:{port}", path="").geturl()


def address_of(url: str) -> Address:
    parts = urlsplit(url)
    return (parts.hostname or "localhost", parts.port or 6379)
