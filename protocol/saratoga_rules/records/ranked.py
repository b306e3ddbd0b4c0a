"""Which races may count for the leaderboards. Everything that decides it is fixed when the race starts.

So no racer can choose later, by a move or by none, whether a result counts.
"""

from typing import Final

LEAST_RANKED: Final = 2
"""The fewest racers of a race that counts: people for the people's leaderboards, any racers for the bots'."""


def may_be_ranked(*, chosen_seed: bool, cap: int, racers: int) -> bool:
    """Return whether a race may count: a random seed, a time limit, and enough racers of those that count.

    A server may demand that the table is public and not locked, too.
    """
    return not chosen_seed and cap > 0 and racers >= LEAST_RANKED
