"""Ratings: how strong a player is in a game, by ranked races of two or more people, with how much is in doubt.

The store has a list of what happened, and nothing else: races, voids and forgotten players. Every node computes the
same numbers from it (Plackett-Luce, by `openskill`), and reads on from where it was. After a void it begins anew.
"""

import asyncio
from typing import TYPE_CHECKING, Any, Final

from saratoga_server.store.leaderboards import RankedRow, Rated, RatedKind

if TYPE_CHECKING:
    from saratoga_server.node import Node

LEAST_RACES: Final = 5
"""The fewest races after which a player is listed."""

MIDDLE: Final = 1500
SCALE: Final = 40
"""A new player's rating, and the points of one unit of openskill, whose mean is 25 and whose first sigma 25 / 3."""


class GameRatings:
    """The ratings of one game, computed from the first `read` entries of its list."""

    def __init__(self) -> None:
        from openskill.models import (
            PlackettLuce,  # a tenth of a second, which the start need not wait for
        )

        self._model: Any = PlackettLuce()
        self.read = 0
        self._ratings: dict[str, Any] = {}
        self._races: dict[str, int] = {}
        self._last: dict[str, str] = {}
        self._forgotten: set[str] = set()

    def add(self, entries: list[Rated]) -> None:
        """Add the next entries; a race that they void must be among them."""
        self.read += len(entries)
        voided = {each.name for each in entries if each.kind == RatedKind.VOID}
        for each in entries:
            if each.kind == RatedKind.FORGET:
                self._forgotten.add(each.name)
            elif each.kind == RatedKind.RACE and each.name not in voided:
                self._race(each)

    def _race(self, race: Rated) -> None:
        teams = [[self._ratings.get(player) or self._model.rating()] for player in race.players]
        rated = self._model.rate(teams, ranks=[float(place) for place in race.places])
        for player, (rating,) in zip(race.players, rated, strict=True):
            self._ratings[player] = rating
            self._races[player] = self._races.get(player, 0) + 1
            self._last[player] = race.name

    def rows(self) -> list[RankedRow]:
        """Return the players with enough races, the strongest first."""
        listed = [
            (round(MIDDLE + SCALE * (rating.mu - self._model.mu)), player)
            for player, rating in self._ratings.items()
            if self._races[player] >= LEAST_RACES and player not in self._forgotten
        ]
        listed.sort(key=lambda each: (-each[0], each[1]))
        values = [value for value, _ in listed]
        return [
            RankedRow(
                rank=1 + values.index(value),
                player=player,
                value=value,
                net=0,
                elapsed=None,
                race=self._last[player],
                races=self._races[player],
                rivals=0,
                doubt=round(2 * SCALE * self._ratings[player].sigma),
            )
            for value, player in listed
        ]


class Ratings:
    """The ratings of all games, as this node has computed them."""

    def __init__(self, node: "Node") -> None:
        self._store = node.store.leaderboards
        self._games: dict[str, GameRatings] = {}
        self._lock = asyncio.Lock()

    async def rows(self, game: str) -> list[RankedRow]:
        """Return all rows of a game's ratings."""
        async with self._lock:
            known = self._games.get(game)
            if known is None:
                known = await asyncio.to_thread(GameRatings)
            entries = await self._store.rated(game, known.read)
            if any(each.kind == RatedKind.VOID for each in entries):
                known = GameRatings()
                entries = await self._store.rated(game, 0)
            if entries:
                await asyncio.to_thread(known.add, entries)
            self._games[game] = known
            return await asyncio.to_thread(known.rows)
