"""The news between nodes: one pub/sub channel of the store, on a probed connection.

The store publishes there too: a Function that changes a table announces the change in the same
write. Events are not stored. They are hints: the change that an event reports is already durable,
so a lost event only costs time (`Announce` is the exception).

A connection may be dead or lead to a former primary without any sign. So the node publishes a probe
regularly, which must come back. If it does not, the subscription begins anew, and the node reads
all that it holds again. Each node also sets a key every few seconds, which expires, as a sign that
it lives.
"""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from msgspec import Struct
from redis.asyncio.client import PubSub

from saratoga_rules.records.standing import Reached, State
from saratoga_server.background_tasks import cancel_all, pause, run_logged
from saratoga_server.logs import EventLog
from saratoga_server.ports import LiveStanding
from saratoga_server.store.client import StoreClient
from saratoga_server.store.keys import NEWS

if TYPE_CHECKING:
    from saratoga_server.live.listener import Listener


# Events, each a MessagePack map with its `kind`


class Here(Struct, frozen=True, tag="here", tag_field="kind"):
    """A heartbeat of a node that listens. The node that sent it checks that it comes back."""

    node: str
    number: int


class Touched(Struct, frozen=True, tag="touched", tag_field="kind"):
    """A change of a table. Published by the store itself, together with the change."""

    table: str
    version: int


class StoodRow(Struct, frozen=True):
    """A racer's standing, as the store keeps it."""

    race: str
    player: str
    length: int
    banked: int
    state: str
    head: str
    at: int
    """Milliseconds from the start to the last rise of the count; with `number` 0: it never did."""
    number: int


class Stood(Struct, frozen=True, tag="stood", tag_field="kind"):
    """Standings of which others see a change. Published by the store, together with the moves."""

    rows: list[StoodRow]


class Settled(Struct, frozen=True, tag="settled", tag_field="kind"):
    """Changed leaderboards of a game: send the pages to subscribers again."""

    game: str


class Announce(Struct, frozen=True, tag="announce", tag_field="kind"):
    """An announcement for all connected players. It is not stored."""

    text: str


class PlayerChanged(Struct, frozen=True, tag="player", tag_field="kind"):
    """A change of a player: renamed, banned, or deleted on request. Read the player's row again."""

    player: str
    is_deleted: bool = False


class BotsOffered(Struct, frozen=True, tag="bots", tag_field="kind"):
    """The offer of a bot host at the node that sends it, which repeats it."""

    host: str
    """The player id of the bot host."""
    levels: list[str]
    free: int


class BotAsked(Struct, frozen=True, tag="bot", tag_field="kind"):
    """A request for a bot, for the node with the connection of this bot host."""

    host: str
    table: str
    level: str
    key: str


class Reaction(Struct, frozen=True, tag="reaction", tag_field="kind"):
    """A player's reaction for everyone at a table. It is not stored."""

    table: str
    player: str
    reaction: str


NodeEvent: TypeAlias = (
    Here | Touched | Stood | Settled | Announce | PlayerChanged | BotsOffered | BotAsked | Reaction
)


def standing_of(row: StoodRow) -> LiveStanding:
    reached = Reached(row.at, row.number) if row.number else None
    return LiveStanding(row.length, row.banked, State(row.state), row.head, reached)


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(NodeEvent)


def encode_node_event(event: NodeEvent) -> bytes:
    return _ENCODER.encode(event)


def decode_node_event(payload: bytes) -> NodeEvent:
    """Return the event in these bytes. Raises `ValueError` or `RecursionError`."""
    event: NodeEvent = _DECODER.decode(payload)
    return event


# The channel

OPEN_TIMEOUT: Final = 2.0
"""Seconds for one attempt to connect and subscribe."""

PROBE_EVERY: Final = 1.0
"""Seconds between two probes."""

PROBE_TIMEOUT: Final = 2.0
"""Seconds in which a probe must come back to the node."""

RETRY_PAUSE: Final = 0.25
"""Seconds before a lost subscription is replaced."""

_log = EventLog("node_events")


class News:
    """The channel for events between nodes; one listener at a time."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client
        self.is_listening = False
        """True if, as far as is known, events published now are received."""
        self._has_warned = False
        self._probe_seen = asyncio.Event()
        self._number = 0
        """The number of the newest probe."""

    async def publish(self, event: NodeEvent) -> int:
        """Publish to every node; return how many were listening."""
        return int(await self._client.command("PUBLISH", NEWS, encode_node_event(event)))

    async def listen(self, listener: "Listener") -> None:
        """Receive events until cancelled."""
        while True:
            try:
                await self._subscribe(listener)
            except Exception as error:  # after any error, subscribe again
                if not self._has_warned:
                    store = self._client.primary.name
                    _log.warning("subscription_failed", store=store, reason=str(error) or "timeout")
                self._has_warned = True
            await pause(RETRY_PAUSE)

    async def _subscribe(self, listener: "Listener") -> None:
        """Subscribe, and receive and probe until either fails."""
        channel = self._client.primary.client.pubsub()
        tasks: list[asyncio.Task[None]] = []
        try:
            async with asyncio.timeout(OPEN_TIMEOUT):
                await channel.subscribe(NEWS)
                # until this has come, nothing that is published is certain to be received
                while (reply := await channel.get_message(timeout=None)) is None:
                    pass
            assert reply["type"] == "subscribe"
            tasks.append(asyncio.create_task(self._receive(channel, listener)))
            tasks.append(asyncio.create_task(self._probe(listener)))
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            self.is_listening = False
            await cancel_all(tasks)
            await channel.aclose()

    async def _receive(self, channel: PubSub, listener: "Listener") -> None:
        while True:
            message = await channel.get_message(timeout=None)
            if message is not None and message["type"] == "message":
                self._apply(message["data"], listener)

    async def _probe(self, listener: "Listener") -> None:
        """Publish a probe again and again, and wait until each comes back."""
        catching_up: list[asyncio.Task[bool]] = []
        try:
            while True:
                self._number += 1
                self._probe_seen.clear()
                event = encode_node_event(Here(listener.node, self._number))
                async with asyncio.timeout(PROBE_TIMEOUT):
                    await self._client.primary.client.execute_command("PUBLISH", NEWS, event)
                    await self._probe_seen.wait()
                if not catching_up:
                    # Subscribe first, then read, so that no event is missed in between. A failed
                    # read does not end this subscription.
                    self.is_listening = True
                    self._has_warned = False
                    catching_up.append(asyncio.create_task(run_logged(listener.subscribed())))
                await pause(PROBE_EVERY)
        finally:
            await cancel_all(catching_up)

    def _apply(self, payload: bytes, listener: "Listener") -> None:
        try:
            event = decode_node_event(payload)
        except (ValueError, RecursionError) as error:  # no event known to this node
            _log.warning("node_event_unknown", reason=str(error))
            return
        if type(event) is Here and event.node == listener.node:
            if event.number == self._number:
                self._probe_seen.set()
            return
        try:
            listener.receive(event)
        except Exception as error:  # an error in handling one event does not stop the next one
            _log.error("node_event_failed", event=type(event).__name__, fault=error)


# Nodes

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
