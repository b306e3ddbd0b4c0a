"""Who listens to the news, as a node does, and keeps all of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from saratoga_server.cancellation import cancel_all
from saratoga_server.messages.node_events import NodeEvent, NodeEvents
from saratoga_server.ports import StoreUnavailable

WITHIN = 20.0
"""Seconds: a bound for what is awaited, never a measure."""


class Ear:
    """Collects what a node hears."""

    def __init__(self, node: str) -> None:
        self.node = node
        self.heard: list[NodeEvent] = []
        self.openings = 0
        self.nodes = 0
        self.probes = 0
        """Nudges of the listeners' own."""
        self.faults: list[Exception] = []
        """What goes wrong with the nudges to come."""
        self.looks: asyncio.Event | None = None
        """Set: a look at what was missed takes until then, and goes wrong."""
        self._stirred = asyncio.Event()

    def receive(self, nudge: NodeEvent) -> None:
        if self.faults:
            raise self.faults.pop()
        self.heard.append(nudge)
        self._stirred.set()

    async def subscribed(self) -> None:
        self.openings += 1
        self._stirred.set()
        if self.looks is not None:
            await self.looks.wait()
            raise StoreUnavailable("a primary is away")

    def counted(self, nodes: int) -> None:
        self.nodes = nodes
        self.probes += 1
        self._stirred.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(WITHIN):
            while not holds():
                self._stirred.clear()
                await self._stirred.wait()

    async def hears(self, nudge: NodeEvent) -> None:
        await self.until(lambda: nudge in self.heard)


@asynccontextmanager
async def listening(news: NodeEvents, node: str) -> AsyncIterator[Ear]:
    ear = Ear(node)
    task = asyncio.create_task(news.listen(ear))
    try:
        await ear.until(lambda: news.is_listening)
        yield ear
    finally:
        await cancel_all([task])
        assert not news.is_listening
