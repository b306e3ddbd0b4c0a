"""A ghost: the number of banked cards over time in an earlier run of the same deal.

A ghost shows no cards. Its source is the player's best run of the deal, which is kept on this machine, or a
board of a finished race.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from msgspec import MsgspecError, json

from saratoga_client.local.paths import data_folder, replace_file
from saratoga_client.practice.deals import PracticeDeal
from saratoga_client.review.climb import Climb
from saratoga_client.wording import counted


@dataclass(frozen=True, slots=True)
class Ghost:
    """The counts of an earlier run, to race against."""

    words: str
    """The description: `your run, 12 banked in 3:00` or `ana in mint-otter-42/3`."""
    climb: Climb


def gap_text(ghost: Ghost, banked: int, at: int) -> str:
    """Return the lead over the ghost now: `3 cards ahead of the ghost`."""
    lead = banked - ghost.climb.banked_at(at)
    if lead == 0:
        return "level with the ghost"
    return f"{counted(abs(lead))} {'ahead of' if lead > 0 else 'behind'} the ghost"


def best_ghost(ghosts: Iterable[Ghost]) -> Ghost | None:
    """Return the ghost with the most cards, reached earliest; `None` without ghosts."""

    def merit(ghost: Ghost) -> tuple[int, int]:
        climb = ghost.climb
        counts = ((0, climb.start), *climb.counts)
        return climb.final, -next(at for at, count in counts if count >= climb.final)

    return max(ghosts, key=merit, default=None)


def kept_runs(deal: PracticeDeal) -> list[Ghost]:
    """Return the kept run of a deal; an empty list if there is none, or it cannot be read."""
    try:
        return json.decode(_path(deal).read_bytes(), type=list[Ghost])
    except (OSError, MsgspecError):
        return []


def keep_run(deal: PracticeDeal, run: Ghost) -> None:
    """Keep a run in place of the kept one, if it is better; raises `OSError`."""
    replace_file(_path(deal), json.encode([best_ghost([*kept_runs(deal), run])]))


def _path(deal: PracticeDeal) -> Path:
    """Return the path of the best run, whose name is valid on every file system."""
    source = f"race-{deal.race}" if deal.race else f"seed-{deal.seed}"
    # A special character becomes its code point, so that two seeds never share a file.
    name = re.sub("[^a-z0-9-]", lambda found: f"_{ord(found[0]):x}_", source)
    return data_folder() / "practice" / deal.game.name / f"{name}.json"
