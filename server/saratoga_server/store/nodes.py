"""Which server processes live: each says so every few seconds, and is gone when it does not."""

from collections.abc import Iterable
from typing import Final

from saratoga_server.store.link import Link

ALIVE_FOR: Final = 6_000
"""Milliseconds that a sign of life holds."""


def _node_key(node: str) -> str:
    return f"node:{node}"


class Nodes:
    """The nodes that share this store."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def beat(self, node: str) -> None:
        """Say that this node lives."""
        await self._link.command("SET", _node_key(node), 1, "PX", ALIVE_FOR)

    async def gone(self, node: str) -> None:
        """Say that this node has stopped."""
        await self._link.command("DEL", _node_key(node))

    async def dead(self, nodes: Iterable[str]) -> frozenset[str]:
        """Those of the nodes that live no more."""
        asked = sorted(set(nodes))
        signs = await self._link.commands([("EXISTS", _node_key(node)) for node in asked])
        return frozenset(node for node, sign in zip(asked, signs, strict=True) if not sign)
