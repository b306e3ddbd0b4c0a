"""The deals of practice, from a seed or from a finished race.

Seeds are plain text that players exchange. A seed never gives the deal of a race, because its deal
key has a prefix of its own (`practice_key`).
"""

import secrets
from dataclasses import dataclass
from typing import Final

from saratoga_protocol.visible_text import UNSEEN
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.position import Position

LONGEST_SEED: Final = 40
"""Maximum characters of a seed, which the title line shows."""

SEED_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
"""The characters of random seeds, without characters that look or sound alike."""

DRAWN_SEED: Final = 6
"""The length of a random seed: nearly 10^9 deals."""


class BadSeed(ValueError):
    """The error that a text is not a valid seed; its message is the reason."""


@dataclass(frozen=True, slots=True)
class PracticeDeal:
    """A deal, and the seed or the race that it comes from."""

    game: Game
    position: Position
    seed: str = ""
    """The seed; empty for the deal of a race."""
    race: str = ""
    """The race's id; empty for the deal of a seed."""

    @property
    def title(self) -> str:
        """The name of the deal: `seed k7m2pq` or `the deal of mint-otter-42/3`."""
        return f"the deal of {self.race}" if self.race else f"seed {self.seed}"


def from_seed(game: Game, seed: str) -> PracticeDeal:
    """Return the deal of a seed; equal texts give equal deals. Raises `BadSeed`."""
    seed = seed.strip()
    if not seed:
        raise BadSeed("A seed has at least one character.")
    if len(seed) > LONGEST_SEED:
        raise BadSeed(f"A seed has at most {LONGEST_SEED} characters, not {len(seed)}.")
    if UNSEEN.search(seed):
        raise BadSeed(
            "A seed is plain text, without control characters and characters that cannot be seen."
        )
    return PracticeDeal(game, deal_for_key(game, practice_key(seed)), seed=seed)


def drawn_seed() -> str:
    """Return a random seed."""
    return "".join(secrets.choice(SEED_LETTERS) for _ in range(DRAWN_SEED))
