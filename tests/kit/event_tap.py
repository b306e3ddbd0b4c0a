"""The events that a node in the test's own process receives, under the test's control."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from kit.players import RECEIVED_WITHIN
from saratoga_server.live.peer_events import PeerEvents
from saratoga_server.messages.node_events import Here, decode_node_event
from saratoga_server.store.dial import dial
from saratoga_server.store.event_channel import EventChannel
from saratoga_server.store.keys import NEWS
from saratoga_server.store.resp_connection import RespConnection, encode_command


class EventTap:
    """A subscriber that passes the store's events on to a node, except while `is_deaf` is true."""

    def __init__(self, node: str, peer_events: PeerEvents) -> None:
        self.peer_events = peer_events
        self.is_deaf = False
        """While true, the node receives no events."""
        self.marker = Here(node, 0)
        """A heartbeat of the node, which other nodes receive too."""
        self._is_confirmed = False
        self._progress = asyncio.Event()
        self._markers = 0

    def on_reply(self, reply: Any) -> None:
        """Handle a reply of the store: a published event or the confirmation of the subscription."""
        if reply[0] == b"subscribe":
            self._is_confirmed = True
            self._progress.set()
            return
        event = decode_node_event(reply[2])
        if event == self.marker:
            self._markers += 1
            self._progress.set()
        elif not self.is_deaf:
            self.peer_events.receive(event)

    async def subscribed(self) -> None:
        while not self._is_confirmed:
            await self._next()

    async def pass_marker(self, events: EventChannel) -> None:
        """Publish a marker and wait for it; all earlier events have then been received."""
        wanted = self._markers + 1
        await events.publish(self.marker)
        while self._markers < wanted:
            await self._next()

    async def _next(self) -> None:
        self._progress.clear()
        async with asyncio.timeout(RECEIVED_WITHIN):
            await self._progress.wait()


@asynccontextmanager
async def tapped(url: str, node: str, peer_events: PeerEvents) -> AsyncIterator[EventTap]:
    """Subscribe a node to the events of the store at that address."""
    tap = EventTap(node, peer_events)
    connection = RespConnection(await dial(url), tap.on_reply, lambda: None)
    try:
        connection.send(encode_command("SUBSCRIBE", NEWS))
        await tap.subscribed()
        yield tap
    finally:
        connection.abort()
        await asyncio.sleep(0)
