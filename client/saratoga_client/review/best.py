"""A personal best: how a result compares with what the same player did before in the same game."""

from collections.abc import Iterable
from dataclasses import dataclass

from saratoga_client.model import dollars
from saratoga_client.review.times import clock
from saratoga_rules.game import Game
from saratoga_rules.money import net
from saratoga_rules.record import RaceRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a player came to in a race."""

    race: str
    banked: int
    reached: int
    """Milliseconds from the start to when the count was last reached; 0: it never was bettered."""

    @property
    def merit(self) -> tuple[int, int]:
        """Greater is better: more cards, then sooner."""
        return self.banked, -self.reached


def results_before(
    records: Iterable[RaceRecord], game: str, player: str, before: str
) -> tuple[Result, ...]:
    """A player's results in a game, but for the race `before`."""
    return tuple(
        Result(race=record.race_id, banked=row.banked, reached=row.reached or 0)
        for record in records
        if record.game == game and record.race_id != before
        for row in record.results
        if row.player == player
    )


def best_line(game: Game, own: Result, earlier: Iterable[Result]) -> str:
    """How it compares, such as `Your best yet: 21 banked; before it was 15 in ..`."""
    best = max(earlier, key=lambda result: result.merit, default=None)
    if best is None:
        return f"Your first {game.title} kept here: {own.banked} banked is the best to beat."
    if own.merit > best.merit:
        than = f"{best.banked} in {best.race}"
        if own.banked == best.banked:
            than = f"as many, but at {clock(best.reached)}, in {best.race}"
        return f"Your best yet: {own.banked} banked; before it was {than}."
    return (
        f"Your best stands: {best.banked} banked, {dollars(net(game, best.banked))},"
        f" in {best.race}."
    )
