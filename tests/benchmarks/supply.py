"""How many tables must wait so that as many as should race at once, all the time that is measured.

Few, because waiting tables cost the server something too; more on a fast machine than on a slow one.
"""

from typing import Final

MOVES_OF_A_TABLE: Final = 170
"""How many the four make in the mean before the first of their boards has ended, where it ends soonest."""

FIRST_GUESS: Final = {1: 2_500.0, 4: 6_000.0}
"""Moves a second, at so many tables. At more of them the server is busy."""
FIRST_GUESS_OF_ALL: Final = 10_000.0

MORE: Final = 1.3
"""Times the highest rate that was seen."""

LEAST_SPARE: Final = 6


def needed(rate: float, tables: int, seconds: float) -> int:
    """How many take the places of those that end, at so many moves a second and so many tables at once."""
    # those that race bring half of their own moves, at least
    return round(rate * seconds / MOVES_OF_A_TABLE - tables / 2)


class Supply:
    """Learns how fast moves come on this machine, and with that how soon tables are raced out."""

    def __init__(self) -> None:
        self._rates: dict[int, float] = {}

    def rate(self, tables: int) -> float:
        """Moves a second to be ready for, at so many tables at once."""
        return self._rates.get(tables) or FIRST_GUESS.get(tables, FIRST_GUESS_OF_ALL)

    def saw(self, tables: int, rate: float) -> None:
        """So many moves a second were made."""
        self._rates[tables] = max(self._rates.get(tables, 0.0), MORE * rate)

    def was_short(self, tables: int) -> None:
        """They were raced out before it was over."""
        self._rates[tables] = 2 * self.rate(tables)

    def waiting(self, tables: int, seconds: float) -> int:
        """How many tables must wait, beside those that race."""
        return max(LEAST_SPARE, needed(self.rate(tables), tables, seconds))


SUPPLY: Final = Supply()
"""What this run of the benchmarks has learnt."""
