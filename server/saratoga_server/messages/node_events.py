"""Events that nodes publish to each other. They are hints: the data in the store is the truth.

The change that an event reports is already durable, so a lost event only costs time (`Announce` is
the exception). Each event is a MessagePack map with its `kind`.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from saratoga_server.ports import LiveStanding

Standings: TypeAlias = Mapping[str, LiveStanding]
"""The standings of racers of one race, by player."""


class Here(Struct, frozen=True, tag="here", tag_field="kind"):
    """A heartbeat of a node that listens. The node that sent it checks that it comes back."""

    node: str
    number: int
    """The number of the heartbeat; 1: the node has just begun to listen."""


class Touched(Struct, frozen=True, tag="touched", tag_field="kind"):
    """A change of a table. Published by the store itself, together with the change."""

    table: str
    version: int


class Stood(Struct, frozen=True, tag="stood", tag_field="kind"):
    """Changed standings, sent as a whole because reading them from the store costs too much."""

    node: str
    races: dict[str, dict[str, LiveStanding]]
    """The standings by race id and player."""


class Settled(Struct, frozen=True, tag="settled", tag_field="kind"):
    """Changed leaderboards of these games: send the pages to subscribers again."""

    games: list[str]


class Announce(Struct, frozen=True, tag="announce", tag_field="kind"):
    """An announcement for all connected players. It is not stored."""

    text: str


class TableClosedByAdmin(Struct, frozen=True, tag="close", tag_field="kind"):
    """A table's closing by an administrator: read the table again, notify players and watchers."""

    table: str
    reason: str


class Banned(Struct, frozen=True, tag="ban", tag_field="kind"):
    """The ban of a player: close the connections (`refusals.BANNED`) and free the seat."""

    player: str


class Renamed(Struct, frozen=True, tag="rename", tag_field="kind"):
    """A player's new name."""

    player: str
    name: str


class Forgotten(Struct, frozen=True, tag="forget", tag_field="kind"):
    """The deletion of a player on request: free the seat and close the connections."""

    player: str


class RaceVoided(Struct, frozen=True, tag="void", tag_field="kind"):
    """The removal of a race's results from the game's leaderboards: send the pages again."""

    race: str
    game: str


AdminEvent: TypeAlias = Announce | TableClosedByAdmin | Banned | Renamed | Forgotten | RaceVoided
"""An event of an administrative action; `Renamed` is also sent if players rename themselves."""

NodeEvent: TypeAlias = Here | Touched | Stood | Settled | AdminEvent


class BadNodeEvent(ValueError):
    """Bytes that are not an event known to this node; they are ignored."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(NodeEvent)


def encode_node_event(event: NodeEvent) -> bytes:
    return _ENCODER.encode(event)


def decode_node_event(payload: bytes) -> NodeEvent:
    """Return the event in these bytes. Raises `BadNodeEvent`."""
    try:
        event: NodeEvent = _DECODER.decode(payload)
    except (msgspec.DecodeError, RecursionError, ValueError) as fault:
        raise BadNodeEvent(str(fault)) from None
    return event
