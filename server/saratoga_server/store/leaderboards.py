"""Rankings kept across races: `best` single results and the `bankroll`, the sum of nets.

A race's results are written with its record, in the one write that finishes the race. Equal rows
share a rank. The period, by the time at which a race ended in UTC, is part of a leaderboard's key.
So no leaderboard is ever reset: a new day has a new key, and the old key is kept for one more day.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from saratoga_protocol.events import LeaderboardRow
from saratoga_rules.games import GAMES
from saratoga_server.ports import Millis, Settlement
from saratoga_server.store.client import Answer, StoreClient
from saratoga_server.store.keys import (
    RESULTS_KEPT,
    leaderboard_key,
    player_key,
    ranking_key,
    rated_key,
    table_key,
)
from saratoga_server.store.save import Save, pack, unpack

SLOWEST: Final = (1 << 21) - 1
"""Milliseconds, 35 minutes: slower results of one count are equal."""

MOST_TRIES: Final = 100
"""Tries of a void, each of which fails if a race of the game ends meanwhile."""

_VOIDED = "voided"
_CHANGED = "changed"


class BoardKey(Struct, frozen=True, kw_only=True):
    """The key of a leaderboard: game, ranking, period, and people or bots."""

    game: str
    ranking: str
    """The kind of ranking: `best` or `bankroll`."""
    period: str
    """The period's name: `2026-09-01`, `2026-W36`, `2026-09` or `all`."""
    bots: bool

    def of(self, ranking: str) -> str:
        """Return the key in the store of a ranking of this period."""
        return ranking_key(self.game, ranking, self.period, bots=self.bots)


FORGOTTEN: Final = "(forgotten)"
"""The name of a player who has none any more."""


class RatedKind(IntEnum):
    """What an entry of the list of rated races says."""

    RACE = 0
    VOID = 1
    FORGET = 2


class Rated(Struct, frozen=True, array_like=True):
    """An entry of the list of rated races."""

    kind: RatedKind
    name: str
    """The race, or the player who is forgotten."""
    players: list[str] = []
    places: list[int] = []


class _Result(NamedTuple):
    """A player's result of one race, as kept in the player's list."""

    race: str
    bot: bool
    banked: int
    net: int
    elapsed: int
    """Milliseconds from the start until `banked` was reached; 0 = the deal's count."""
    ended: Millis
    """The time at which the race ended, which decides the periods (UTC)."""

    @property
    def score(self) -> int:
        """The number by which best results are ordered: first more banked, then less time."""
        return self.banked * (SLOWEST + 1) + SLOWEST - min(self.elapsed, SLOWEST)

    @property
    def row(self) -> bytes:
        return pack((self.race, self.banked, self.net, self.elapsed))


def add_results(save: Save, settlement: Settlement) -> None:
    """Add the writes of a finished race's results."""
    game, ended = settlement.game, settlement.ended
    save.do("HINCRBY", leaderboard_key(game), "results", 1)
    people = [each for each in settlement.results if each.player in settlement.people]
    if len(people) > 1:
        players, places = [each.player for each in people], [each.place for each in people]
        _rate(save, game, Rated(RatedKind.RACE, settlement.race, players, places))
    for each in settlement.results:
        is_bot = each.player not in settlement.people
        result = _Result(settlement.race, is_bot, each.banked, each.net, each.reached or 0, ended)
        history = _results_key(game, each.player)
        save.do("RPUSH", history, pack(result))
        save.do("LTRIM", history, -RESULTS_KEPT, -1)
        rivals = [other for other in settlement.people if other != each.player]
        for period in periods(ended):
            key = BoardKey(game=game, ranking="", period=period.name, bots=is_bot)
            best, bankroll = key.of("best"), key.of("bankroll")
            save.do("BEST", best, each.player, result.score, result.row)
            save.do("ZINCRBY", bankroll, each.net, each.player)
            save.do("HINCRBY", f"{bankroll}:rows", f"{each.player}:races", 1)
            save.do("HSET", f"{bankroll}:rows", f"{each.player}:race", settlement.race)
            kept = [best, f"{best}:rows", bankroll, f"{bankroll}:rows"]
            if rivals:
                met = f"{bankroll}:rivals:{each.player}"
                save.do("PFADD", met, *rivals)
                kept.append(met)
            for name in kept if period.gone else ():
                save.do("PEXPIRE", name, period.gone - ended)


class LeaderboardStore:
    """The rankings in the store."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    async def page(
        self, key: BoardKey, offset: int, limit: int
    ) -> tuple[int, list[LeaderboardRow]]:
        """Return the total number of rows, and the requested rows."""
        ranking = key.of(key.ranking)
        total, flat = await self._client.commands(
            [
                ("ZCARD", ranking),
                ("ZREVRANGE", ranking, offset, offset + max(limit, 1) - 1, "WITHSCORES"),
            ]
        )
        found = [(player, float(score)) for player, score in zip(*[iter(flat)] * 2, strict=True)]
        if not found or limit <= 0:
            return total, []
        above = await self._client.command("ZCOUNT", ranking, f"({found[0][1]:.0f}", "+inf")
        ranks = [above + 1]
        for place, (_, score) in enumerate(found[1:], start=1):
            is_level = score == found[place - 1][1]
            ranks.append(ranks[-1] if is_level else offset + place + 1)
        return total, await self._rows(key, found, ranks)

    async def row(self, key: BoardKey, player: str) -> LeaderboardRow | None:
        ranking = key.of(key.ranking)
        score = await self._client.command("ZSCORE", ranking, player)
        if score is None:
            return None
        above = await self._client.command("ZCOUNT", ranking, f"({float(score):.0f}", "+inf")
        return (await self._rows(key, [(player.encode(), float(score))], [above + 1]))[0]

    async def _rows(
        self, key: BoardKey, found: Sequence[tuple[bytes, float]], ranks: Sequence[int]
    ) -> list[LeaderboardRow]:
        best, bankroll = key.of("best"), key.of("bankroll")
        players = [player.decode() for player, _ in found]
        counts = [(f"{player}:races", f"{player}:race") for player in players]
        rows, counted, *each = await self._client.commands(
            [
                ("HMGET", f"{best}:rows", *players),
                ("HMGET", f"{bankroll}:rows", *(name for pair in counts for name in pair)),
                *(("PFCOUNT", f"{bankroll}:rivals:{player}") for player in players),
                *(("HGET", player_key(player), "name") for player in players),
            ]
        )
        return [
            _ranked(key, rank, player, name, int(score), rows[place], counted[2 * place :], met)
            for place, (rank, player, name, (_, score), met) in enumerate(
                zip(ranks, players, each[len(players) :], found, each[: len(players)], strict=True)
            )
        ]

    async def rated(self, game: str, since: int) -> list[Rated]:
        """Return the entries of the game's list of rated races from an index on."""
        packed = await self._client.command("LRANGE", rated_key(game), since, -1)
        return [msgspec.msgpack.decode(each, type=Rated) for each in packed]

    async def void_race(self, game: str, code: str, number: int, players: Sequence[str]) -> bool:
        """Remove a race's results from every leaderboard; return False if none of them counts.

        A player's next best result is found among the newest `RESULTS_KEPT`. Rivals stay counted.
        """
        table, counts = table_key(code), f"counts:{number}"
        for _ in range(MOST_TRIES):
            count = await self._client.command("HGET", leaderboard_key(game), "results")
            if await self._client.command("HGET", table, counts) != b"1":
                return False
            save = Save()
            save.only_if(_VOIDED, table, counts, 1)
            save.only_if(_CHANGED, leaderboard_key(game), "results", count)
            save.do("HSET", table, counts, 0)
            _rate(save, game, Rated(RatedKind.VOID, f"{code}/{number}"))
            save.do("HINCRBY", leaderboard_key(game), "results", 1)
            for player in players:
                await self._remove(save, game, f"{code}/{number}", player)
            if await self._client.save(save) != _CHANGED:
                return True
        return False

    async def _remove(self, save: Save, game: str, race: str, player: str) -> None:
        """Add the writes that remove a player's result of a race."""
        history = _results_key(game, player)
        packed = await self._client.command("LRANGE", history, 0, -1)
        results = [(each, _Result(*unpack(each))) for each in packed]
        voided = next(((raw, each) for raw, each in results if each.race == race), None)
        if voided is None:
            return
        raw, result = voided
        save.do("LREM", history, 1, raw)
        for period in periods(result.ended):
            key = BoardKey(game=game, ranking="", period=period.name, bots=result.bot)
            best, bankroll = key.of("best"), key.of("bankroll")
            races, row = await self._client.commands(
                [
                    ("HGET", f"{bankroll}:rows", f"{player}:races"),
                    ("HGET", f"{best}:rows", player),
                ]
            )
            if races is None:  # the period's leaderboards have expired
                continue
            if int(races) <= 1:
                _drop(save, key, player)
                continue
            save.do("ZINCRBY", bankroll, -result.net, player)
            save.do("HINCRBY", f"{bankroll}:rows", f"{player}:races", -1)
            if row is not None and unpack(row)[0] == race:
                others = [
                    each
                    for _, each in results
                    if each.race != race
                    and each.bot == result.bot
                    and period in periods(each.ended)
                ]
                if others:
                    highest = max(others, key=lambda each: each.score)
                    save.do("ZADD", best, highest.score, player)
                    save.do("HSET", f"{best}:rows", player, highest.row)
                else:
                    save.do("ZREM", best, player)
                    save.do("HDEL", f"{best}:rows", player)

    async def forget_results(self, player: str, now: Millis) -> None:
        """Remove a player from every leaderboard."""
        save = Save()
        save.only_if(None, player_key(player), "token_hash", unless=True)
        for game in GAMES:
            if await self._client.command("LLEN", _results_key(game, player)):
                _rate(save, game, Rated(RatedKind.FORGET, player))
            save.do("UNLINK", _results_key(game, player))
            for period in kept_periods(now):
                for bots in (False, True):
                    _drop(save, BoardKey(game=game, ranking="", period=period, bots=bots), player)
        await self._client.save(save)


def _rate(save: Save, game: str, entry: Rated) -> None:
    save.do("RPUSH", rated_key(game), msgspec.msgpack.encode(entry))


def _drop(save: Save, key: BoardKey, player: str) -> None:
    best, bankroll = key.of("best"), key.of("bankroll")
    for ranking in (best, bankroll):
        save.do("ZREM", ranking, player)
    save.do("HDEL", f"{best}:rows", player)
    save.do("HDEL", f"{bankroll}:rows", f"{player}:races", f"{player}:race")
    save.do("UNLINK", f"{bankroll}:rivals:{player}")


def _results_key(game: str, player: str) -> str:
    return f"{leaderboard_key(game)}:results:{player}"


def _ranked(
    key: BoardKey,
    rank: int,
    player: str,
    name: Answer,
    score: int,
    row: Answer,
    counted: Sequence[Answer],
    rivals: int,
) -> LeaderboardRow:
    races, race = int(counted[0] or 0), (counted[1] or b"").decode()
    value, net, elapsed = score, score, None
    if key.ranking == "best" and row is not None:
        race, value, net, elapsed = unpack(row)
    return LeaderboardRow(
        rank=rank,
        player=player,
        name=FORGOTTEN if name is None else name.decode(),
        value=value,
        net=net,
        elapsed=elapsed,
        race=race,
        races=races,
        rivals=rivals,
    )


class Period(NamedTuple):
    """A period of the leaderboards: a day, an ISO week, a month, or all time."""

    name: str
    """The period's name: `2026-09-01`, `2026-W36`, `2026-09` or `all`."""
    gone: Millis
    """The time at which its leaderboards are deleted, one period after its end; 0: never."""


def periods(at: Millis) -> tuple[Period, Period, Period, Period]:
    """Return the four periods of a time: its day, ISO week and month, and all time."""
    day = datetime.fromtimestamp(at / 1000, UTC).date()
    iso = day.isocalendar()
    monday = day - timedelta(days=day.weekday())
    next_month = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    return (
        Period(day.isoformat(), _millis(day + timedelta(days=2))),
        Period(f"{iso.year}-W{iso.week:02}", _millis(monday + timedelta(weeks=2))),
        Period(f"{day.year}-{day.month:02}", _millis(next_month + timedelta(days=31))),
        Period("all", Millis(0)),
    )


def kept_periods(now: Millis) -> set[str]:
    """Return the names of all periods whose leaderboards may be kept now."""
    days = (0, 1, 7, 31, 62)
    return {
        period.name for ago in days for period in periods(Millis(now - ago * 24 * 60 * 60 * 1000))
    }


def _millis(midnight: date) -> Millis:
    at = datetime(midnight.year, midnight.month, midnight.day, tzinfo=UTC)
    return Millis(int(at.timestamp()) * 1000)
