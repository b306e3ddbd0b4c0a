"""A ghost: how many cards somebody had banked at every moment of an earlier try at this deal.

It plays no cards and shows none. Ghosts are one's own kept runs, and boards of finished races, whose
records everybody may read.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from saratoga_client.practice.game import PracticeGame, counts
from saratoga_client.review.climb import Climb
from saratoga_client.wording import counted, shown_name
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import steps


@dataclass(frozen=True, slots=True)
class Ghost:
    """An earlier try, by its counts alone."""

    words: str
    """What it is, such as `your run of 3 May` or `you in mint-otter-42/3`."""
    climb: Climb


def ghost_of_run(practice: PracticeGame, end: int, words: str) -> Ghost:
    """The ghost of a practice game, undone moves and all."""
    return Ghost(
        words=words,
        climb=Climb(
            practice.deal.position.banked, tuple(counts(practice)), max(end, practice.last_at)
        ),
    )


def ghost_of_board(record: RaceRecord, player: str) -> Ghost:
    """The ghost of a board in a finished race; raises `ReplayError`, or `KeyError`: no such racer."""
    made = steps(record, player)
    racer = record.racer(player)
    return Ghost(
        words=f"{shown_name(racer.name, racer.bot)} in {record.race_id}",
        climb=Climb(
            record.deal.banked,
            tuple((step.line.at, step.position.banked) for step in made),
            made[-1].line.at if made else 0,
        ),
    )


def best_ghost(ghosts: Iterable[Ghost]) -> Ghost | None:
    """The one that banked most, the soonest; `None` of none."""
    return min(ghosts, key=_merit, default=None)


def _merit(ghost: Ghost) -> tuple[int, int]:
    """Smaller is better."""
    return -ghost.climb.final, ghost.climb.reached(ghost.climb.final) or 0


def gap_text(ghost: Ghost, banked: int, at: int) -> str:
    """How the player stands against the ghost now, such as `3 cards ahead of the ghost`."""
    lead = banked - ghost.climb.banked_at(at)
    if lead == 0:
        return "level with the ghost"
    cards = counted(abs(lead))
    return f"{cards} {'ahead of' if lead > 0 else 'behind'} the ghost"
