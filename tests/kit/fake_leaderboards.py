"""`LeaderboardStore` in memory."""

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from saratoga_server.domain.periods import periods
from saratoga_server.messages.settlements import unpack_settlement
from saratoga_server.ports import (
    BoardKey,
    RankedRow,
    Settlement,
)

if TYPE_CHECKING:
    from kit.fake_store import FakeHouse

SLOWEST: Final = 2**21 - 1
"""Milliseconds from which on leaderboards tell no times apart: 35 minutes, beyond every cap."""


class FakeLeaderboards:
    """`LeaderboardStore` in memory: every page is folded anew from the settled races."""

    def __init__(self, house: "FakeHouse") -> None:
        self.house = house

    async def settle_outbox(self, limit: int) -> list[Settlement]:
        await self.house.reading()
        waiting = self.house.outbox[:limit]
        del self.house.outbox[:limit]
        applied, unread = self._apply(waiting)
        self.house.unread += unread
        await self.house.written()
        return applied

    async def settle_unread(self) -> tuple[list[Settlement], int]:
        await self.house.reading()
        applied, self.house.unread = self._apply(self.house.unread, self.house.players)
        await self.house.written()
        return applied, len(self.house.unread)

    def _apply(
        self, waiting: Sequence[bytes], players: Container[str] | None = None
    ) -> tuple[list[Settlement], list[bytes]]:
        """What was applied now, for these players where they are given, and what could not be read."""
        applied, unread = [], []
        for packed in waiting:
            try:
                settlement = unpack_settlement(packed)
            except ValueError:
                unread.append(packed)
                continue
            if players is not None:
                kept = tuple(each for each in settlement.results if each.player in players)
                settlement = replace(settlement, results=kept)
            at = (settlement.game, settlement.race)
            if at not in self.house.settled:
                begun = sum(map(len, self.house.settled.values()))
                self.house.settled[at] = [(begun, settlement)] * max(1, len(settlement.results))
                applied.append(settlement)
        return applied, unread

    async def page(self, key: BoardKey, offset: int, limit: int) -> tuple[int, list[RankedRow]]:
        await self.house.reading()
        rows = self._rows(key)
        return len(rows), rows[offset : offset + limit] if limit > 0 else []

    async def row(self, key: BoardKey, player: str) -> RankedRow | None:
        await self.house.reading()
        return next((row for row in self._rows(key) if row.player == player), None)

    async def void_race(self, game: str, race: str) -> bool:
        while await self.settle_outbox(100):
            pass
        found = (game, race) in self.house.settled
        if found:
            self.house.voided.add((game, race))
        return found

    async def forget_results(self, player: str) -> None:
        while await self.settle_outbox(100):
            pass
        self.house.forgotten[player] = sum(map(len, self.house.settled.values()))

    def _rows(self, key: BoardKey) -> list[RankedRow]:
        return fold_rankings(
            key,
            [slots[0] for at, slots in self.house.settled.items() if at not in self.house.voided],
            self.house.forgotten,
        )


def fold_rankings(
    key: BoardKey,
    settled: Sequence[tuple[int, Settlement]],
    forgotten: Mapping[str, int],
) -> list[RankedRow]:
    """The leaderboard worked out from scratch: settlements with the number of results before them."""
    found: dict[str, list[tuple[int, int, int, int, str]]] = {}
    for begun, settlement in settled:
        if settlement.game != key.game:
            continue
        if key.period not in {period.name for period in periods(settlement.start_at)}:
            continue
        for place, result in enumerate(settlement.results):
            if result.bot == key.bots and begun >= forgotten.get(result.player, 0):
                found.setdefault(result.player, []).append(
                    (begun + place, result.banked, result.net, result.reached or 0, settlement.race)
                )
    ranked = [
        _best(player, results) if key.ranking == "best" else _bankroll(player, results)
        for player, results in found.items()
    ]
    return [
        replace(row, rank=place) for place, (_, row) in enumerate(sorted(ranked, key=_order), 1)
    ]


def _order(ranked: tuple[tuple[int, ...], RankedRow]) -> tuple[int, ...]:
    return ranked[0]


def _best(
    player: str, results: Sequence[tuple[int, int, int, int, str]]
) -> tuple[tuple[int, ...], RankedRow]:
    sequence, banked, net, elapsed, race = min(
        results, key=lambda result: (-result[1], min(result[3], SLOWEST), result[0])
    )
    return (-banked, min(elapsed, SLOWEST), sequence), RankedRow(
        rank=0, player=player, value=banked, net=net, elapsed=elapsed, race=race, races=len(results)
    )


def _bankroll(
    player: str, results: Sequence[tuple[int, int, int, int, str]]
) -> tuple[tuple[int, ...], RankedRow]:
    in_order = sorted(results)
    total = sum(net for _, _, net, _, _ in in_order)
    reached, race = in_order[0][0], in_order[0][4]
    for sequence, _, net, _, each in in_order:
        if net:
            reached, race = sequence, each
    return (-total, reached), RankedRow(
        rank=0,
        player=player,
        value=total,
        net=total,
        elapsed=None,
        race=race,
        races=len(results),
    )
