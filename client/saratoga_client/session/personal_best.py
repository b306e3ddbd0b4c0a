"""A player's best result in a game, with the number of banked cards over time."""

from dataclasses import dataclass

from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import ReplayError, steps


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalBest:
    """A player's best race of one game."""

    game: str
    race: str
    start_at: int
    """The race's start, in milliseconds since 1970 UTC."""
    banked: int
    net: int
    reached: int | None
    """Milliseconds from the start until the count last rose to `banked`; `None` if it never rose."""
    counts: tuple[tuple[int, int], ...] = ()
    """Pairs: milliseconds from the start, and the number of banked cards from then on."""


def best_in(record: RaceRecord, player: str) -> PersonalBest | None:
    """Return a player's result in a race.

    Return `None` if the player was not in the race, or if the record cannot be replayed.
    """
    row = next((row for row in record.results if row.player == player), None)
    if row is None:
        return None
    try:
        made = steps(record, player)
    except ReplayError:
        return None
    counts: list[tuple[int, int]] = [(0, record.opening.banked)]
    for step in made:
        if step.position.banked != counts[-1][1]:
            counts.append((step.line.at, step.position.banked))
    return PersonalBest(
        game=record.game,
        race=record.race_id,
        start_at=record.start_at,
        banked=row.banked,
        net=row.net,
        reached=row.reached,
        counts=tuple(counts),
    )


def is_better(new: PersonalBest, old: PersonalBest | None) -> bool:
    """Test whether `new` has more banked cards than `old`, or as many cards earlier.

    A race in which the player banked nothing beyond the deal's cards is never better.
    """
    if new.reached is None:
        return False
    if old is None or new.banked != old.banked:
        return old is None or new.banked > old.banked
    return old.reached is None or new.reached < old.reached


def banked_by(best: PersonalBest, at: int) -> int:
    """Return the number of cards banked in the best race `at` milliseconds after its start."""
    return next((banked for since, banked in reversed(best.counts) if since <= at), 0)
