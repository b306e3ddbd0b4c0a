"""The player's finished races and best results."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from msgspec import Struct

from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import steps


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalBest:
    """A player's best race of one game, with the number of banked cards over time."""

    game: str
    race: str
    banked: int
    net: int
    reached: int | None
    """Milliseconds from the start until the count last rose to `banked`; `None` if it never rose."""
    counts: tuple[tuple[int, int], ...] = ()
    """Pairs: milliseconds from the start, and the number of banked cards from then on."""

    def banked_by(self, at: int) -> int:
        """Return the number of cards banked `at` milliseconds after the start."""
        return next((banked for since, banked in reversed(self.counts) if since <= at), 0)


def best_in(record: RaceRecord, player: str) -> PersonalBest | None:
    """Return a player's result in a race; `None` without one. Raises `ReplayError`."""
    row = next((row for row in record.results if row.player == player), None)
    if row is None:
        return None
    counts = [(0, record.opening.banked)]
    for step in steps(record, player):
        if step.position.banked != counts[-1][1]:
            counts.append((step.line.at, step.position.banked))
    return PersonalBest(
        game=record.game,
        race=record.race_id,
        banked=row.banked,
        net=row.net,
        reached=row.reached,
        counts=tuple(counts),
    )


def is_better(new: PersonalBest, old: PersonalBest | None) -> bool:
    """Test whether `new` has more banked cards than `old`, or as many cards earlier.

    A race in which the player banked nothing beyond the deal's cards is never better.
    """

    def rank(best: PersonalBest) -> tuple[int, float]:
        return best.banked, -inf if best.reached is None else -best.reached

    return new.reached is not None and (old is None or rank(new) > rank(old))
