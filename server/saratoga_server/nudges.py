"""What an administrator's act tells every node, so that it is felt at once.

The act itself is in the data already: a nudge that gets lost costs only time. One channel of the
store's pub/sub carries all of them, each as one MessagePack map with its `kind`.
"""

from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

CHANNEL: Final = "house:nudges"


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


Nudge: TypeAlias = Announce | TableClosedByAdmin | Banned | Renamed | Forgotten | RaceVoided


class BadNudge(ValueError):
    """Something on the channel that is no nudge this node knows; to be passed over."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Nudge)


def encode_nudge(nudge: Nudge) -> bytes:
    return _ENCODER.encode(nudge)


def decode_nudge(payload: bytes) -> Nudge:
    """Raises `BadNudge`, on a nudge of a newer node's too."""
    try:
        nudge: Nudge = _DECODER.decode(payload)
    except (msgspec.DecodeError, RecursionError, ValueError) as fault:
        raise BadNudge(str(fault)) from None
    return nudge
