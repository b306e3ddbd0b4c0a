"""A player's best result in a game. Pure."""

from dataclasses import dataclass
from math import inf

from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import steps


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
