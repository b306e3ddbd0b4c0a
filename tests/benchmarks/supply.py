"""The number of waiting tables that keeps the number of racing tables constant in a measurement.

It is as small as possible, because waiting tables cost the server something too.
"""

from typing import Final

MOVES_OF_A_TABLE: Final = 170
"""Mean number of moves at a table before its first board ends, in the game where that is soonest."""

FIRST_GUESS: Final = 10_000.0
"""Expected moves a second."""

MORE: Final = 1.3
"""The rate to prepare for, as a multiple of the highest measured rate."""

LEAST_SPARE: Final = 6


def needed(rate: float, tables: int, seconds: float) -> int:
    """Return how many tables end in that time, at that rate and that number of racing tables."""
    # racing tables still have at least half of their moves to make
    return round(rate * seconds / MOVES_OF_A_TABLE - tables / 2)


class Supply:
    """An estimate, from measured rates, of how fast tables end on this machine."""

    def __init__(self) -> None:
        self._rates: dict[int, float] = {}

    def rate(self, tables: int) -> float:
        """Return the rate to prepare for with that many racing tables, in moves a second."""
        return self._rates.get(tables, FIRST_GUESS)

    def saw(self, tables: int, rate: float) -> None:
        """Record a measured rate in moves a second."""
        self._rates[tables] = max(self._rates.get(tables, 0.0), MORE * rate)

    def was_short(self, tables: int) -> None:
        self._rates[tables] = 2 * self.rate(tables)

    def waiting(self, tables: int, seconds: float) -> int:
        """Return how many tables must wait besides the racing ones."""
        return max(LEAST_SPARE, needed(self.rate(tables), tables, seconds))


SUPPLY: Final = Supply()
"""The rates that this run of the benchmarks has measured."""
