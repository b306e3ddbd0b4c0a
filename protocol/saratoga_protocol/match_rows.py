"""The table of a match on the wire: several races at one table, and who leads over all of them."""

from msgspec import Struct


class MatchResult(Struct, frozen=True, kw_only=True):
    """A player's result of one race of the match."""

    race: str
    """The id of the race."""
    place: int
    net: int


class MatchRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player's row in the table of a match."""

    player: str
    name: str
    """The name in the player's last race of the match."""
    place: int
    """The place in the match from 1; equal players share a place."""
    net: int
    """Casino dollars won or lost in all races of the match."""
    wins: int
    """The number of races of the match in which the player finished first, alone or tied."""
    results: list[MatchResult]
    """The player's results in the order of the races; a race that the player missed has none."""
    bot: bool = False


class Match(Struct, frozen=True, kw_only=True):
    """A match: several races at one table. It is over when `finished` has `races` races."""

    races: int
    """The number of races: 3 or 5."""
    finished: list[str]
    """The ids of its finished races, in their order; voided races do not count."""
    rows: list[MatchRow]
    """Everyone who raced in the match, in order of place."""
