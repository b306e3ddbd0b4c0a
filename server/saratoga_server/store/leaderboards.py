"""Rankings kept across races: `best` single results and the `bankroll`, the sum of nets.

One number ranks a row (see the layout of its bits in `functions/leaderboards.lua`), so equal
results never depend on names: first more banked, then less time, then the earlier result.
"""

from secrets import token_hex
from typing import Final

from msgspec import Struct

from saratoga_rules.games import GAMES
from saratoga_server.domain.periods import periods
from saratoga_server.logs import EventLog
from saratoga_server.messages.packing import pack, unpack
from saratoga_server.ports import Settlement, unpack_settlement
from saratoga_server.store.keys import (
    OUTBOX,
    SETTLED_KEPT,
    leaderboard_key,
    ranking_key,
)
from saratoga_server.store.store_client import Answer, StoreClient

_log = EventLog("store")

_DRAIN: Final = 100
"""Settlements applied in one step when all of them must be applied."""


class BoardKey(Struct, frozen=True, kw_only=True):
    """The key of a leaderboard: game, ranking, period, and people or bots."""

    game: str
    ranking: str
    """The kind of ranking: `best` or `bankroll`."""
    period: str
    """The period's name: `2026-09-01`, `2026-W36`, `2026-09` or `all`."""
    bots: bool


class RankedRow(Struct, frozen=True, kw_only=True):
    """A row of a leaderboard, without the name."""

    rank: int
    player: str
    value: int
    net: int
    elapsed: int | None
    race: str
    races: int
    rivals: int


class LeaderboardStore:
    """The rankings in the store."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    async def settle_outbox(self, limit: int) -> list[Settlement]:
        """Apply waiting settlements, each exactly once; return those applied now."""
        return (await self._settle_some(limit))[1]

    async def page(self, key: BoardKey, offset: int, limit: int) -> tuple[int, list[RankedRow]]:
        """Return the total number of rows, and the requested rows."""
        if limit <= 0:
            offset, limit = 1, 0  # an empty range
        total, *rows = await self._client.read("load_page", _keys(key), offset, limit)
        return total, [
            _row(key, offset + place, player, row, bankroll)
            for place, (player, row, bankroll) in enumerate(zip(*[iter(rows)] * 3, strict=True))
        ]

    async def row(self, key: BoardKey, player: str) -> RankedRow | None:
        found = await self._client.read("load_row", _keys(key), player)
        return _row(key, *found) if found else None

    async def void_race(self, game: str, race: str) -> bool:
        """Remove a race's results from every leaderboard; return False if it was never settled."""
        await self._settle_all()
        board = leaderboard_key(game)
        return bool(await self._client.write("void_race", (_mark_key(game, race),), board) == 1)

    async def forget_results(self, player: str) -> None:
        await self._settle_all()
        for game in GAMES:
            board = leaderboard_key(game)
            await self._client.write(
                "forget_results", (f"{board}:results:{player}",), board, player
            )

    async def _settle_all(self) -> None:
        while (await self._settle_some(_DRAIN))[0]:
            pass

    async def _settle_some(self, limit: int) -> tuple[int, list[Settlement]]:
        """Move settlements out of the outbox; return their number, and those applied now."""
        waiting = await self._client.command("LRANGE", OUTBOX, 0, limit - 1)
        applied = []
        for packed in waiting:
            try:
                settlement = unpack_settlement(packed)
            except ValueError as error:
                # the data are damaged; the race's record shows who won
                _log.error("settlement_unreadable", fault=error)
                await self._client.durable("LREM", OUTBOX, 1, packed)
                continue
            if await self._settle(settlement):
                applied.append(settlement)
            # done last: if the node dies before, the settlement is applied again, without effect
            await self._client.durable("LREM", OUTBOX, 1, packed)
        return len(waiting), applied

    async def _settle(self, settlement: Settlement) -> bool:
        belongs = periods(settlement.start_at)
        results = [
            (
                each.player,
                each.player not in settlement.people,
                each.banked,
                each.net,
                each.reached or 0,
            )
            for each in settlement.results
        ]
        packed = pack(
            (
                leaderboard_key(settlement.game),
                settlement.race,
                results,
                [period.name for period in belongs],
                [period.gone for period in belongs],
                SETTLED_KEPT,
                token_hex(8),
                settlement.start_at,
                settlement.people,
            )
        )
        mark = _mark_key(settlement.game, settlement.race)
        return bool(await self._client.write("settle", (mark,), packed) == 1)


def _mark_key(game: str, race: str) -> str:
    return f"{leaderboard_key(game)}:race:{race}"


def _keys(key: BoardKey) -> tuple[str, str]:
    return (
        ranking_key(key.game, key.ranking, key.period, bots=key.bots),
        ranking_key(key.game, "bankroll", key.period, bots=key.bots),
    )


def _row(key: BoardKey, place: int, player: Answer, row: Answer, bankroll: Answer) -> RankedRow:
    race, net, races, _, rivals = unpack(bankroll)
    value, elapsed = net, None
    if key.ranking == "best":
        race, value, net, elapsed = unpack(row)
    return RankedRow(
        rank=place + 1,
        player=player.decode(),
        value=value,
        net=net,
        elapsed=elapsed,
        race=race,
        races=races,
        rivals=rivals,
    )
