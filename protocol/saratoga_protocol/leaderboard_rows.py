"""The rows of the leaderboards, as the event `leaderboard` sends them."""

from typing import Final

from msgspec import Struct

MOST_RIVALS: Final = 100
"""The number up to which leaderboards count the people that a player raced against."""


class LeaderboardRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of a leaderboard: one player."""

    rank: int
    player: str
    name: str
    value: int
    """Banked cards (best) or dollars (bankroll)."""
    net: int = 0
    """Casino dollars: of the best result, or the bankroll itself."""
    elapsed: int | None = None
    """Milliseconds from the start of the race until `value` was reached (best).

    `None` if no move raised the count above the deal's, and for `bankroll`.
    """
    race: str = ""
    """The race of the result (best), or the last race counted (bankroll)."""
    races: int = 0
    """The number of races counted (bankroll)."""
    rivals: int = 0
    """The number of different people among the other racers of the player's races counted in this period.

    `MOST_RIVALS` stands for that many or more.
    """
