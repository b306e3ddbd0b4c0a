"""A second implementation of the leaderboards, to compare the store's with."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from saratoga_protocol.leaderboard_rows import MOST_RIVALS
from saratoga_server.domain.periods import periods
from saratoga_server.leaderboard_port import BoardKey, RankedRow, Settlement

SLOWEST: Final = 2**21 - 1
"""Milliseconds from which leaderboards count times as equal: 35 minutes, more than any time limit."""


def fold_rankings(
    key: BoardKey,
    settled: Sequence[tuple[int, Settlement]],
    forgotten: Mapping[str, int],
) -> list[RankedRow]:
    """Compute a leaderboard from pairs: a settlement, and the number of results before it."""
    found: dict[str, list[tuple[int, int, int, int, str]]] = {}
    met: dict[str, set[str]] = {}
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
                others = {person for person in settlement.people if person != result.player}
                met.setdefault(result.player, set()).update(others)
    ranked = [
        _best(player, results) if key.ranking == "best" else _bankroll(player, results)
        for player, results in found.items()
    ]
    return [
        replace(row, rank=place, rivals=min(len(met[row.player]), MOST_RIVALS))
        for place, (_, row) in enumerate(sorted(ranked, key=_order), 1)
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
        rank=0,
        player=player,
        value=banked,
        net=net,
        elapsed=elapsed,
        race=race,
        races=len(results),
        rivals=0,
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
        rivals=0,
    )
