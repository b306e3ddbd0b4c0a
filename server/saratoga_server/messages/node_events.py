"""What nodes tell each other. The data carries the truth: a nudge only says where to look.

Whatever is told here is durable already, so a nudge that gets lost costs time and nothing else; the
one exception says so. Each is one MessagePack map with its `kind`. A node passes over kinds that it
does not know: a newer one's.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, TypeAlias

import msgspec
from msgspec import Struct


class Here(Struct, frozen=True, tag="here", tag_field="kind"):
    """A node listens here; said again and again, and whoever said it must hear it."""

    node: str
    number: int
    """1: it has just begun to listen, and knows nothing of before."""


class Touched(Struct, frozen=True, tag="touched", tag_field="kind"):
    """A table has changed. The store says this by itself, together with the change."""

    table: str
    version: int


class StoodAt(Struct, frozen=True, array_like=True):
    """Where a racer stands, as others may know it."""

    player: str
    length: int
    """Of the board's log: what has more entries is newer."""
    banked: int
    state: str
    at: int
    """Milliseconds from the start until `banked` was reached; -1: never bettered."""
    number: int
    """The commit number of that."""


class Stood(Struct, frozen=True, tag="stood", tag_field="kind"):
    """Racers stand elsewhere than before. Carries the latest itself: it would be read too often."""

    node: str
    races: dict[str, list[StoodAt]]
    """By the race's id."""


class Settled(Struct, frozen=True, tag="settled", tag_field="kind"):
    """Results have come to the leaderboards of these games: show them again."""

    games: list[str]


class Announce(Struct, frozen=True, tag="announce", tag_field="kind"):
    """Tell everybody who is connected. This one is nowhere in the data."""

    text: str


class TableClosedByAdmin(Struct, frozen=True, tag="close", tag_field="kind"):
    """The table was closed: read it again, and tell its seats and watchers."""

    table: str
    reason: str


class Banned(Struct, frozen=True, tag="ban", tag_field="kind"):
    """Close the player's connections (`refusals.BANNED`), and let the seat go."""

    player: str


class Renamed(Struct, frozen=True, tag="rename", tag_field="kind"):
    """The player is called otherwise from now on."""

    player: str
    name: str


class Forgotten(Struct, frozen=True, tag="forget", tag_field="kind"):
    """The player was deleted on request: let the seat go, and close the connections."""

    player: str


class RaceVoided(Struct, frozen=True, tag="void", tag_field="kind"):
    """The race's results are off the leaderboards of the game: show these again."""

    race: str
    game: str


AdminEvent: TypeAlias = Announce | TableClosedByAdmin | Banned | Renamed | Forgotten | RaceVoided
"""What an administrator did (a player may rename oneself, too)."""

NodeEvent: TypeAlias = Here | Touched | Stood | Settled | AdminEvent


class NodeEventListener(Protocol):
    """Who hears the news, on one node."""

    @property
    def node(self) -> str: ...

    def hear(self, event: NodeEvent) -> None:
        """Something was said. Never waits."""
        ...

    async def opened(self) -> None:
        """From now on everything is heard, and some of what was said before was not."""
        ...

    def counted(self, nodes: int) -> None:
        """So many nodes listen at present, this one among them."""
        ...


class NodeEvents(Protocol):
    """What nodes tell each other; nothing of it is kept."""

    @property
    def is_listening(self) -> bool:
        """Whether whatever is said now will be heard here, as far as anybody can know."""
        ...

    async def tell(self, event: NodeEvent) -> int:
        """Tell every node; returns how many were listening."""
        ...

    async def tell_standings(
        self, node: str, races: Mapping[str, Sequence[StoodAt]]
    ) -> frozenset[str]:
        """Tell every node where racers stand; returns the races that could not be told of."""
        ...

    async def listen(self, ear: NodeEventListener) -> None:
        """Hear what is said; for ever."""
        ...


class BadNodeEvent(ValueError):
    """Something on the channel that is no nudge this node knows; to be passed over."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(NodeEvent)


def encode_node_event(event: NodeEvent) -> bytes:
    return _ENCODER.encode(event)


def decode_node_event(payload: bytes) -> NodeEvent:
    """Raises `BadNodeEvent`, on a nudge of a newer node's too."""
    try:
        event: NodeEvent = _DECODER.decode(payload)
    except (msgspec.DecodeError, RecursionError, ValueError) as fault:
        raise BadNodeEvent(str(fault)) from None
    return event
