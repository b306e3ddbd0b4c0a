"""A balancer in front of several nodes, as simple as one can be: round robin, the dead passed over."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from kit.relays import End, Exchange, open_exchange

CONNECT_WITHIN = 1.0
"""Seconds; on one machine whoever does not accept by then is as good as dead."""


class Balancer:
    """Passes connections on to the nodes' ports on this machine, in turn."""

    def __init__(self, ports: Sequence[int]) -> None:
        self.ports = list(ports)
        """Of the nodes; change it when they change."""
        self.port = 0
        """Where it listens itself, once it does."""
        self._turn = 0
        self.exchange = Exchange(self.dial)

    @property
    def url(self) -> str:
        """Where players connect."""
        return f"ws://127.0.0.1:{self.port}"

    async def dial(self, end: Callable[[], End]) -> asyncio.Transport:
        """A connection to the next node that takes one; `ConnectionRefusedError` if none does."""
        transport, _ = await self.dial_any(end)
        return transport

    async def dial_any(self, end: Callable[[], End]) -> tuple[asyncio.Transport, int]:
        """As `dial`, with the port that took it."""
        loop = asyncio.get_running_loop()
        for _ in range(len(self.ports)):
            self._turn += 1
            port = self.ports[self._turn % len(self.ports)]
            try:
                async with asyncio.timeout(CONNECT_WITHIN):
                    transport, _ = await loop.create_connection(end, "127.0.0.1", port)
            except OSError:
                # a timeout is one too
                continue
            return transport, port
        raise ConnectionRefusedError("no node takes connections")


@asynccontextmanager
async def balancer(ports: Sequence[int]) -> AsyncIterator[Balancer]:
    """A balancer that listens while entered."""
    opened = Balancer(ports)
    async with open_exchange(opened.exchange) as opened.port:
        yield opened
