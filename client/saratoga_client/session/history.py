"""The player's finished races, as the home shows them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from msgspec import Struct

from saratoga_rules.records.record import RaceRecord


class Rival(NamedTuple):
    """Another racer in a finished race."""

    name: str
    bot: bool
    place: int
    banked: int


class Raced(Struct, frozen=True, kw_only=True):
    """A finished race of the player."""

    race: str
    game: str
    at: int
    """The start, in milliseconds since 1970."""
    player: str
    """The player's id at that server."""
    place: int
    banked: int
    net: int
    rivals: list[Rival]
    """The other racers, in order of place."""


def raced_in(record: RaceRecord, player: str) -> Raced | None:
    """Return a player's race from its record; `None` if the player has no result in it."""
    racers = {racer.player: racer for racer in record.racers}
    own = next((row for row in record.results if row.player == player), None)
    if own is None:
        return None
    return Raced(
        race=record.race_id,
        game=record.game,
        at=record.start_at,
        player=player,
        place=own.place,
        banked=own.banked,
        net=own.net,
        rivals=[
            Rival(racers[row.player].name, racers[row.player].bot, row.place, row.banked)
            for row in record.results
            if row is not own
        ],
    )


@dataclass(slots=True)
class Friend:
    """A person with whom the player has raced."""

    name: str
    last: int
    """The start of the last race together, in milliseconds since 1970."""
    theirs: int = 0
    """The number of races together in which the friend had the better place."""
    yours: int = 0
    """The number of races together in which the player had the better place."""


def friends_in(races: Iterable[Raced]) -> list[Friend]:
    """Return the people in races that are given newest first: those of the latest races first."""
    friends: dict[str, Friend] = {}
    for raced in races:
        for rival in raced.rivals:
            if not rival.bot:
                friend = friends.setdefault(rival.name, Friend(rival.name, raced.at))
                friend.theirs += rival.place < raced.place
                friend.yours += rival.place > raced.place
    return list(friends.values())
