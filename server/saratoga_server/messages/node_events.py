"""Events that nodes publish to each other. They are hints: the data in the store is the truth.

The change that an event reports is already durable, so a lost event only costs time (`Announce` is
the exception). Each event is a MessagePack map with its `kind`.
"""

from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from saratoga_rules.records.standing import Reached, State
from saratoga_server.ports import LiveStanding


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
    """The milliseconds since the start at which the count last rose; with `number` 0: it never did."""
    number: int


class Stood(Struct, frozen=True, tag="stood", tag_field="kind"):
    """Standings of which others see a change. Published by the store itself, together with the moves."""

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
