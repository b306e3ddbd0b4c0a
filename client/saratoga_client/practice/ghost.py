"""A ghost: the number of banked cards over time in an earlier run of the same deal.

A ghost shows no cards. Its source is a saved run of the player or a board of a finished race.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec import MsgspecError, json

from saratoga_client.local.paths import data_folder, replace_file
from saratoga_client.practice.deals import PracticeDeal, file_name
from saratoga_client.practice.game import PracticeGame, counts
from saratoga_client.review.chart import Climb
from saratoga_client.wording import counted, minutes_and_seconds, shown_name
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import steps


@dataclass(frozen=True, slots=True)
class Ghost:
    """The counts of an earlier run, to race against."""

    words: str
    """The description: `your run, 12 banked in 3:00` or `ana in mint-otter-42/3`."""
    climb: Climb


def ghost_of_run(practice: PracticeGame, end: int) -> Ghost:
    """Return the ghost of a practice game, undone moves included; `end` is its time in milliseconds."""
    result = "won" if practice.is_won else f"{practice.banked} banked"
    return Ghost(
        words=f"your run, {result} in {minutes_and_seconds(end)}",
        climb=Climb(
            practice.deal.position.banked, tuple(counts(practice)), max(end, practice.last_at)
        ),
    )


def ghost_of_board(record: RaceRecord, player: str) -> Ghost:
    """Return the ghost of a racer's board; raises `ReplayError`, or `KeyError` without the racer."""
    made = steps(record, player)
    racer = record.racer(player)
    return Ghost(
        words=f"{shown_name(racer.name, racer.bot)} in {record.race_id}",
        climb=Climb(
            record.opening.banked,
            tuple((step.line.at, step.position.banked) for step in made),
            made[-1].line.at if made else 0,
        ),
    )


def best_ghost(ghosts: Iterable[Ghost]) -> Ghost | None:
    """Return the ghost with the most cards, reached earliest; `None` without ghosts."""
    return min(ghosts, key=_merit, default=None)


def _merit(ghost: Ghost) -> tuple[int, int]:
    """Return a sort key; a smaller one is better."""
    return -ghost.climb.final, ghost.climb.reached(ghost.climb.final) or 0


def gap_text(ghost: Ghost, banked: int, at: int) -> str:
    """Return the lead over the ghost now: `3 cards ahead of the ghost`."""
    lead = banked - ghost.climb.banked_at(at)
    if lead == 0:
        return "level with the ghost"
    cards = counted(abs(lead))
    return f"{cards} {'ahead of' if lead > 0 else 'behind'} the ghost"


FOLDER: Final = "practice"

MOST_KEPT: Final = 20
"""Maximum number of saved runs per deal; a new run replaces the oldest."""


class RunStore:
    """The practice runs on this machine."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = data_folder() / FOLDER if root is None else root

    def keep(self, deal: PracticeDeal, run: Ghost) -> None:
        """Save a run beside the earlier ones of its deal; raises `OSError`."""
        runs = [*self.runs(deal), run][-MOST_KEPT:]
        replace_file(self._path(deal), json.encode(runs))

    def runs(self, deal: PracticeDeal) -> list[Ghost]:
        """Return the runs of a deal, the oldest first; none if the file cannot be read."""
        try:
            return json.decode(self._path(deal).read_bytes(), type=list[Ghost])
        except (OSError, MsgspecError):
            return []

    def _path(self, deal: PracticeDeal) -> Path:
        return self._root / deal.game.name / f"{file_name(deal)}.json"
