"""A ghost: how many cards somebody had banked at every moment of an earlier try at this deal.

It plays no cards and shows none. Only one's own tries make ghosts: a saved practice run, or one's
own board in the record of a finished race.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from saratoga_client.practice.game import Practice, counts
from saratoga_rules.record import RaceRecord
from saratoga_rules.replay import steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Ghost:
    """An earlier try, by its counts alone."""

    words: str
    """What it is, such as `your run of 3 May` or `you in mint-otter-42/3`."""
    start: int
    """Cards banked by the deal."""
    counts: tuple[tuple[int, int], ...]
    """Milliseconds since the deal was shown, and cards banked from then on; in order of time."""
    end: int
    """When that try was over, in milliseconds."""

    @property
    def final(self) -> int:
        """Cards banked in the end."""
        return self.counts[-1][1] if self.counts else self.start

    def banked_at(self, at: int) -> int:
        """Cards banked at a moment; after the end of that try, what it came to."""
        past = bisect_right(self.counts, at, key=lambda count: count[0])
        return self.counts[past - 1][1] if past else self.start

    def reached(self, banked: int) -> int | None:
        """When so many cards were banked for the first time; `None`: never."""
        if banked <= self.start:
            return 0
        return next((at for at, count in self.counts if count >= banked), None)


def ghost_of_run(practice: Practice, end: int, words: str) -> Ghost:
    """The ghost of a practice game, undone moves and all."""
    return Ghost(
        words=words,
        start=practice.dealt.position.banked,
        counts=tuple(counts(practice)),
        end=max(end, practice.last_at),
    )


def ghost_of_board(record: RaceRecord, player: str) -> Ghost:
    """The ghost of a board in a finished race; raises `ReplayError`, or `KeyError`: no such racer."""
    made = steps(record, player)
    return Ghost(
        words=f"{record.racer(player).name} in {record.race_id}",
        start=record.deal.banked,
        counts=tuple((step.line.at, step.position.banked) for step in made),
        end=made[-1].line.at if made else 0,
    )


def best_ghost(ghosts: Iterable[Ghost]) -> Ghost | None:
    """The one that banked most, the soonest; `None` of none."""
    return min(ghosts, key=lambda ghost: (-ghost.final, ghost.reached(ghost.final)), default=None)


def gap_words(ghost: Ghost, banked: int, at: int) -> str:
    """How the player stands against the ghost now, such as `3 cards ahead of the ghost`."""
    lead = banked - ghost.banked_at(at)
    if lead == 0:
        return "level with the ghost"
    cards = "1 card" if abs(lead) == 1 else f"{abs(lead)} cards"
    return f"{cards} {'ahead of' if lead > 0 else 'behind'} the ghost"
