"""Heartbeats of nodes: each node sets a key every few seconds, which expires."""

from collections.abc import Iterable
from typing import Final

from saratoga_server.store.client import StoreClient

ALIVE_FOR: Final = 6_000
"""Milliseconds until the key expires."""


def _node_key(node: str) -> str:
    return f"node:{node}"


class NodeStore:
    """The nodes that share this store."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    async def beat(self, node: str) -> None:
        """Report this node as alive."""
        await self._client.command("SET", _node_key(node), 1, "PX", ALIVE_FOR)

    async def gone(self, node: str) -> None:
        """Report that this node has stopped."""
        await self._client.command("DEL", _node_key(node))

    async def dead(self, nodes: Iterable[str]) -> frozenset[str]:
        """Return those of the nodes that are not alive."""
        asked = sorted(set(nodes))
        found = await self._client.commands([("EXISTS", _node_key(node)) for node in asked])
        return frozenset(node for node, alive in zip(asked, found, strict=True) if not alive)
