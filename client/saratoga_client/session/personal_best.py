"""A player's best result in a game, with its course over time."""

from dataclasses import dataclass

from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import ReplayError, steps


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalBest:
    """A player's best race of one game."""

    game: str
    race: str
    start_at: int
    """Milliseconds since 1970 UTC."""
    banked: int
    net: int
    reached: int | None
    """Milliseconds from the start to the last banked card; `None` if all cards were dealt there."""
    counts: tuple[tuple[int, int], ...] = ()
    """Pairs: milliseconds from the start, and the number of banked cards from then on."""


def best_in(record: RaceRecord, player: str) -> PersonalBest | None:
    """Return a player's result in a race.

    `None` if the player was not in it, or the record follows other rules.
    """
    row = next((row for row in record.results if row.player == player), None)
    if row is None:
        return None
    try:
        made = steps(record, player)
    except ReplayError:
        return None
    counts: list[tuple[int, int]] = [(0, record.deal.banked)]
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
    """Test for more banked cards, or as many earlier; cards banked by the deal do not count."""
    if new.reached is None:
        return False
    if old is None or new.banked != old.banked:
        return old is None or new.banked > old.banked
    return old.reached is None or new.reached < old.reached


def banked_by(best: PersonalBest, at: int) -> int:
    """Return the number of cards banked in the best result `at` milliseconds after its start."""
    return next((banked for since, banked in reversed(best.counts) if since <= at), 0)
