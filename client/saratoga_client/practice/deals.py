"""Where a practice deal comes from: a seed that players tell one another, or a finished race.

Seeds are plain text. A practice deal is never a race's by chance (`deal.practice_key`); the deal of
a race is taken from its record, once everybody has stopped.
"""

import re
from dataclasses import dataclass
from typing import Final

from saratoga_client.sanitised import COMMANDS
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.position import Position
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import game_of

LONGEST_SEED: Final = 40
"""Characters: it has to stand in a title line."""

SEED_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
"""Of seeds drawn here: none that is taken for another when read aloud or copied by hand."""

DRAWN_SEED: Final = 6
"""Letters of a seed drawn here: nearly a thousand million deals."""


class BadSeed(ValueError):
    """A text that cannot be a seed; says why."""


@dataclass(frozen=True, slots=True)
class PracticeDeal:
    """A deal, and the name by which it can be had again."""

    game: Game
    position: Position
    seed: str = ""
    """What it was dealt from, if it is a practice deal."""
    race: str = ""
    """The race it was dealt in, if it is a race's."""

    @property
    def title(self) -> str:
        """What to call it: `seed k7m2pq`, or `the deal of mint-otter-42/3`."""
        return f"the deal of {self.race}" if self.race else f"seed {self.seed}"


def from_seed(game: Game, seed: str) -> PracticeDeal:
    """The deal of a seed; the same text gives everybody the same cards. Raises `BadSeed`."""
    seed = seed.strip()
    if not seed:
        raise BadSeed("A seed has at least one character.")
    if len(seed) > LONGEST_SEED:
        raise BadSeed(f"A seed has at most {LONGEST_SEED} characters, not {len(seed)}.")
    if COMMANDS.search(seed):
        raise BadSeed("A seed is plain text, without control characters.")
    return PracticeDeal(game, deal_for_key(game, practice_key(seed)), seed=seed)


def from_record(record: RaceRecord) -> PracticeDeal:
    """The deal of a finished race; raises `ReplayError` if its rules are not known here."""
    return PracticeDeal(game_of(record), record.deal, race=record.race_id)


def seed_of(chance: bytes) -> str:
    """A seed that is easily told, from bytes of chance: as many letters as there are bytes."""
    return "".join(SEED_LETTERS[byte % len(SEED_LETTERS)] for byte in chance)


def file_name(deal: PracticeDeal) -> str:
    """A name for a file or folder of this deal, fit for every file system, never empty."""
    source = f"race-{deal.race}" if deal.race else f"seed-{deal.seed}"
    # what had to be replaced still tells two seeds apart
    return re.sub("[^a-z0-9-]", lambda found: f"_{ord(found[0]):x}_", source)
