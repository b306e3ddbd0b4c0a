"""The channel for events between nodes: one pub/sub channel of the store, on a probed connection.

The store publishes there too: a Function that changes a table announces the change in the same
write. Events are not stored; `node_events` explains why that is enough.

A connection may be dead or lead to a former primary without any sign. So the node publishes a probe
regularly, which must come back. If it does not, the connection is replaced, and the node reads all
that it holds again. redis-py's pub/sub would resubscribe silently, and has no timeout.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import hiredis

from saratoga_server.background_tasks import run_logged
from saratoga_server.cancellation import cancel_all, pause
from saratoga_server.logs import EventLog
from saratoga_server.messages.node_events import (
    BadNodeEvent,
    Here,
    NodeEvent,
    decode_node_event,
    encode_node_event,
)
from saratoga_server.store.dial import dial
from saratoga_server.store.keys import NEWS
from saratoga_server.store.resp_connection import Reply, RespConnection, encode_command
from saratoga_server.store.store_client import StoreClient

if TYPE_CHECKING:
    from saratoga_server.live.listener import Listener

OPEN_TIMEOUT: Final = 2.0
"""Seconds for one attempt to connect and subscribe."""

PROBE_EVERY: Final = 1.0
"""Seconds between two probes."""

PROBE_TIMEOUT: Final = 2.0
"""Seconds in which a probe must come back to the node."""

RETRY_PAUSE: Final = 0.25
"""Seconds before a lost connection is replaced."""

_log = EventLog("node_events")


class EventChannel:
    """The channel for events between nodes; one listener at a time."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client
        self.is_listening = False
        """True if, as far as is known, events published now are received."""
        self._has_warned = False
        self._is_confirmed = False
        """True if the store has confirmed the subscription."""
        self._probe_seen = 0
        """The number of the newest probe that came back."""
        self._fault = ""
        self._progress = asyncio.Event()

    async def publish(self, event: NodeEvent) -> int:
        """Publish to every node; return how many were listening."""
        return int(await self._client.command("PUBLISH", NEWS, encode_node_event(event)))

    async def listen(self, listener: "Listener") -> None:
        """Receive events until cancelled."""
        while True:
            try:
                await self._subscribe(listener)
            except Exception as error:  # after any error, subscribe again
                self._warn(str(error) or "timeout")
            await pause(RETRY_PAUSE)

    def _warn(self, reason: str) -> None:
        """Log a failure, unless the attempt before failed too."""
        if not self._has_warned:
            store = self._client.primary.name
            _log.warning("subscription_failed", store=store, reason=reason)
        self._has_warned = True

    async def _subscribe(self, listener: "Listener") -> None:
        """Subscribe, and probe until that fails."""
        self._is_confirmed, self._probe_seen, self._fault = False, 0, ""
        async with asyncio.timeout(OPEN_TIMEOUT):
            transport = await dial(await self._client.primary.locate())
        connection = RespConnection(
            transport, lambda reply: self._on_reply(reply, listener), self._on_lost
        )
        catching_up: list[asyncio.Task[bool]] = []
        try:
            async with asyncio.timeout(OPEN_TIMEOUT):
                connection.send(encode_command("SUBSCRIBE", NEWS))
                await self._until(lambda: self._is_confirmed)
            await self._probe(1, listener)
            # Subscribe first, then read, so that no event is missed in between. A failed read does
            # not end this subscription.
            self.is_listening = True
            self._has_warned = False
            catching_up.append(asyncio.create_task(run_logged(listener.subscribed())))
            number = 1
            while True:
                await self._rest()
                number += 1
                await self._probe(number, listener)
        finally:
            self.is_listening = False
            connection.abort()
            await cancel_all(catching_up)

    async def _probe(self, number: int, listener: "Listener") -> None:
        """Publish a probe, and wait until it comes back."""
        event = encode_node_event(Here(listener.node, number))
        async with asyncio.timeout(PROBE_TIMEOUT):
            await self._client.primary.client.execute_command("PUBLISH", NEWS, event)
            await self._until(lambda: self._probe_seen >= number)

    async def _until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition; raise `ConnectionError` if the connection fails before."""
        while not condition():
            if self._fault:
                raise ConnectionError(self._fault)
            self._progress.clear()
            await self._progress.wait()

    async def _rest(self) -> None:
        """Wait until the next probe, or until the connection fails."""
        await pause(0)
        try:
            async with asyncio.timeout(PROBE_EVERY):
                await self._until(lambda: False)
        except TimeoutError:
            return

    def _on_reply(self, reply: Reply, listener: "Listener") -> None:
        if isinstance(reply, hiredis.ReplyError):
            self._fail(str(reply))
        elif reply[0] == b"message":
            self._receive(reply[2], listener)
        elif reply[0] == b"subscribe":
            self._is_confirmed = True
            self._progress.set()
        else:
            self._fail("the store ended a subscription")

    def _on_lost(self) -> None:
        self._fail("the connection was lost")

    def _fail(self, reason: str) -> None:
        self._fault = self._fault or reason
        self._progress.set()

    def _receive(self, payload: bytes, listener: "Listener") -> None:
        try:
            event = decode_node_event(payload)
        except BadNodeEvent as error:
            _log.warning("node_event_unknown", reason=str(error))
            return
        if type(event) is Here and event.node == listener.node:
            self._probe_seen = event.number
            self._progress.set()
            return
        try:
            listener.receive(event)
        except Exception as error:  # an error in handling one event does not stop the next one
            _log.error("node_event_failed", event=type(event).__name__, fault=error)
