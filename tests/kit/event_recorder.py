"""A listener that keeps all events between nodes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

from saratoga_server.cancellation import cancel_all
from saratoga_server.live.listener import Listener
from saratoga_server.messages.node_events import NodeEvent
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.news import News

WITHIN = 20.0
"""Longest time in seconds that a test waits; a bound, not a measurement."""


class EventRecorder:
    """A listener that keeps every event it receives from other nodes."""

    def __init__(self, node: str) -> None:
        self.node = node
        self.events: list[NodeEvent] = []
        self.subscriptions = 0
        self.faults: list[Exception] = []
        """Errors that the next events raise, one each."""
        self.catch_up: asyncio.Event | None = None
        """If set, `subscribed` waits for this event and then fails."""
        self._stirred = asyncio.Event()

    def receive(self, event: NodeEvent) -> None:
        if self.faults:
            raise self.faults.pop()
        self.events.append(event)
        self._stirred.set()

    async def subscribed(self) -> None:
        self.subscriptions += 1
        self._stirred.set()
        if self.catch_up is not None:
            await self.catch_up.wait()
            raise StoreUnavailable("a primary is away")

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(WITHIN):
            while not holds():
                self._stirred.clear()
                await self._stirred.wait()

    async def receives(self, event: NodeEvent) -> None:
        await self.until(lambda: event in self.events)


@asynccontextmanager
async def recording(events: News, node: str) -> AsyncIterator[EventRecorder]:
    recorder = EventRecorder(node)
    task = asyncio.create_task(events.listen(cast(Listener, recorder)))
    try:
        await recorder.until(lambda: events.is_listening)
        yield recorder
    finally:
        await cancel_all([task])
        assert not events.is_listening
