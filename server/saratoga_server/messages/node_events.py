"""Events that nodes publish to each other. The data carries the truth: an event says where to look.

What an event reports is durable already, so a lost event costs time and nothing else; the one
exception says so. Each event is one MessagePack map with its `kind`. A node ignores kinds that it
does not know: a newer node's.
"""

from collections.abc import Mapping
from typing import Final, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from saratoga_server.ports import LiveStanding

Standings: TypeAlias = Mapping[str, LiveStanding]
"""Where racers of one race stand, by player."""


class Here(Struct, frozen=True, tag="here", tag_field="kind"):
    """A node listens here. Repeated; the node that sent it must receive it."""

    node: str
    number: int
    """1: it has just begun to listen and knows nothing of before."""


class Touched(Struct, frozen=True, tag="touched", tag_field="kind"):
    """A table has changed. The store publishes this itself, together with the change."""

    table: str
    version: int


class Stood(Struct, frozen=True, tag="stood", tag_field="kind"):
    """Racers have moved up. Carries the standings themselves: they would be read too often."""

    node: str
    races: dict[str, dict[str, LiveStanding]]
    """By race id and player."""


class Settled(Struct, frozen=True, tag="settled", tag_field="kind"):
    """Results have reached the leaderboards of these games: send them to subscribers again."""

    games: list[str]


class Announce(Struct, frozen=True, tag="announce", tag_field="kind"):
    """Send the text to everybody who is connected. It is stored nowhere."""

    text: str


class TableClosedByAdmin(Struct, frozen=True, tag="close", tag_field="kind"):
    """The table was closed: read it again and tell its seats and watchers."""

    table: str
    reason: str


class Banned(Struct, frozen=True, tag="ban", tag_field="kind"):
    """Close the player's connections (`refusals.BANNED`) and free the seat."""

    player: str


class Renamed(Struct, frozen=True, tag="rename", tag_field="kind"):
    """The player has a new name."""

    player: str
    name: str


class Forgotten(Struct, frozen=True, tag="forget", tag_field="kind"):
    """The player was deleted on request: free the seat and close the connections."""

    player: str


class RaceVoided(Struct, frozen=True, tag="void", tag_field="kind"):
    """The race's results are off the leaderboards of the game: send these again."""

    race: str
    game: str


AdminEvent: TypeAlias = Announce | TableClosedByAdmin | Banned | Renamed | Forgotten | RaceVoided
"""What an administrator did. A player's own rename is one too."""

NodeEvent: TypeAlias = Here | Touched | Stood | Settled | AdminEvent


class NodeEventListener(Protocol):
    """Receives the events on one node."""

    @property
    def node(self) -> str: ...

    def receive(self, event: NodeEvent) -> None:
        """Take in one event. Never waits."""
        ...

    async def subscribed(self) -> None:
        """Catch up: from now on every event is received, and some of before were not."""
        ...

    def counted(self, nodes: int) -> None:
        """Note how many nodes listen at present, this one among them."""
        ...


class NodeEvents(Protocol):
    """The channel between nodes. Nothing on it is kept."""

    @property
    def is_listening(self) -> bool:
        """Whether what is published now will be received here, as far as can be known."""
        ...

    async def publish(self, event: NodeEvent) -> int:
        """Publish to every node; returns how many were listening."""
        ...

    async def publish_standings(self, node: str, races: Mapping[str, Standings]) -> frozenset[str]:
        """Publish where racers stand; returns the races that could not be published."""
        ...

    async def listen(self, listener: NodeEventListener) -> None:
        """Receive events until cancelled."""
        ...


class BadNodeEvent(ValueError):
    """Bytes that are no event this node knows: to be ignored."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(NodeEvent)


def encode_node_event(event: NodeEvent) -> bytes:
    return _ENCODER.encode(event)


def decode_node_event(payload: bytes) -> NodeEvent:
    """Decode an event. Raises `BadNodeEvent`, also for a newer node's kinds."""
    try:
        event: NodeEvent = _DECODER.decode(payload)
    except (msgspec.DecodeError, RecursionError, ValueError) as fault:
        raise BadNodeEvent(str(fault)) from None
    return event
