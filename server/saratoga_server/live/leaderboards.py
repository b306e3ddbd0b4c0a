"""Leaderboards: pages and subscriptions; and ratings, by ranked races of two or more people.

Of ratings the store has a list of what happened, and nothing else: races, voids and forgotten
players. Every node computes the same numbers from it (Plackett-Luce, by `openskill`), and reads on
from where it was. After a void it begins anew.
"""

import asyncio
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from saratoga_protocol.commands import GetLeaderboard
from saratoga_protocol.events import Leaderboard, LeaderboardRow
from saratoga_rules.games import GAMES
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.live.session import Session
from saratoga_server.store.leaderboards import FORGOTTEN, BoardKey, Rated, RatedKind, periods

if TYPE_CHECKING:
    from saratoga_server.node import Node

PERIODS: Final = ("day", "week", "month", "all")
UNCHANGED_EVERY: Final = 5
"""The number of sends from one read of all followed pages to the next."""


Rows = tuple[int, list[LeaderboardRow]]
"""The total number of rows of a leaderboard, and some of them."""


class Leaderboards:
    """The leaderboards, for queries and subscriptions of this node's connections."""

    def __init__(self, node: "Node") -> None:
        self._store = node.store.leaderboards
        self._rated = Ratings(node)
        self._players = node.store.players
        self._clock = node.clock
        self._changed: set[str] = set()
        """The games whose leaderboards have changed."""
        self._sends = 0
        self._followers: dict[Session, tuple[GetLeaderboard, Leaderboard]] = {}
        """The subscribed connections, each with its query and the page last sent."""

    async def page(self, query: GetLeaderboard, player: str = "") -> Leaderboard:
        """Return the page of a query, with the row of `player`. Raises `CommandRejected`."""
        return await self._page(query, player, {})

    async def get(self, session: Session, query: GetLeaderboard) -> Leaderboard:
        """Return the page of a query, with the player's own row. Raises `CommandRejected`.

        A page that the connection follows is sent again whenever it changes.
        """
        page = await self.page(query, session.player)
        self.unfollow(session)
        if query.follow:
            self._followers[session] = query, replace(page, re=None)
        return page

    def unfollow(self, session: Session) -> None:
        self._followers.pop(session, None)

    def changed(self, game: str) -> None:
        """Mark the game's leaderboards as changed."""
        self._changed.add(game)

    async def send_changes(self) -> None:
        """Send the followed pages that have changed. Called once a second.

        Rows that several subscribers need are read once; each subscriber's own row separately.
        """
        self._sends += 1
        changed, self._changed = self._changed, set()
        is_every_game = self._sends % UNCHANGED_EVERY == 0
        reads: dict[tuple[BoardKey, int, int], Rows] = {}
        for session, (query, _) in list(self._followers.items()):
            if not (is_every_game or query.game in changed):
                continue
            page = await self._page(query, session.player, reads)
            page = replace(page, re=None)
            present = self._followers.get(session)
            if present is not None and present[0] is query and present[1] != page:
                self._followers[session] = query, page
                session.send(page)

    async def _page(
        self, query: GetLeaderboard, player: str, reads: dict[tuple[BoardKey, int, int], Rows]
    ) -> Leaderboard:
        """Return a page; `reads` are the rows read so far, by leaderboard, offset and limit."""
        if query.game not in GAMES:
            raise CommandRejected("no_such_leaderboard", f"There is no game {query.game!r}.")
        if query.ranking == "rating":
            return await self._ratings(query, player)
        name = periods(self._clock.now())[PERIODS.index(query.period)].name
        key = BoardKey(game=query.game, ranking=query.ranking, period=name, bots=query.bots)
        own = await self._store.row(key, player) if player else None
        offset = query.offset
        if query.around_me and own is not None:
            offset = max(0, own.rank - 1 - query.limit // 2)
        asked = (key, offset, query.limit)
        if asked not in reads:
            reads[asked] = await self._store.page(*asked)
        total, rows = reads[asked]
        return _made(query, name, offset, total, rows, own)

    async def _ratings(self, query: GetLeaderboard, player: str) -> Leaderboard:
        """Return a page of ratings, which are of people and of all time."""
        rated = [] if query.bots else await self._rated.rows(query.game)
        own = next((row for row in rated if row.player == player), None)
        offset = query.offset
        if query.around_me and own is not None:
            offset = max(0, rated.index(own) - query.limit // 2)
        rows = rated[offset : offset + query.limit]
        names = await self._players.load_names([row.player for row in (*rows, own) if row])
        rows = [replace(row, name=names.get(row.player, FORGOTTEN)) for row in rows]
        own = own and replace(own, name=names.get(own.player, FORGOTTEN))
        return _made(replace(query, period="all"), "all", offset, len(rated), rows, own)


def _made(
    query: GetLeaderboard,
    key: str,
    offset: int,
    total: int,
    rows: list[LeaderboardRow],
    own: LeaderboardRow | None,
) -> Leaderboard:
    return Leaderboard(
        re=query.id,
        game=query.game,
        ranking=query.ranking,
        period=query.period,
        key=key,
        bots=query.bots,
        total=total,
        offset=offset,
        rows=rows,
        me=own,
    )


# Ratings


LEAST_RACES: Final = 5
"""The fewest races after which a player is listed."""

MIDDLE: Final = 1500
SCALE: Final = 40
"""A new player's rating, and the points of one unit of openskill: mean 25, first sigma 25 / 3."""


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

    def rows(self) -> list[LeaderboardRow]:
        """Return the players with enough races, the strongest first."""
        listed = [
            (round(MIDDLE + SCALE * (rating.mu - self._model.mu)), player)
            for player, rating in self._ratings.items()
            if self._races[player] >= LEAST_RACES and player not in self._forgotten
        ]
        listed.sort(key=lambda each: (-each[0], each[1]))
        values = [value for value, _ in listed]
        return [
            LeaderboardRow(
                rank=1 + values.index(value),
                player=player,
                name=FORGOTTEN,
                value=value,
                race=self._last[player],
                races=self._races[player],
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

    async def rows(self, game: str) -> list[LeaderboardRow]:
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
