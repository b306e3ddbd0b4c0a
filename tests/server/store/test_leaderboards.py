"""Leaderboards in a store are a fold over the settled races."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kit.results import (
    BOTS,
    DAY,
    GAME,
    PEOPLE,
    TUESDAY,
    numbers,
    put_out,
    put_out_packed,
    ranking,
    result,
    settle,
    settlement,
)
from kit.running_race import AnyStore
from kit.stores import calm
from saratoga_protocol.events import MOST_RIVALS
from saratoga_server.domain.periods import periods
from saratoga_server.ports import Settlement
from saratoga_server.store import leaderboards
from saratoga_server.store.leaderboards import BoardKey, RankedRow
from saratoga_server.store.opening import Store

# Leaderboards on every kind of store


async def players(store: AnyStore, key: BoardKey) -> list[str]:
    _, rows = await store.leaderboards.page(key, 0, 100)
    return [row.player for row in rows]


async def test_more_rivals_than_are_counted_take_no_more_room(valkey: Store) -> None:
    others = [f"other{number:03}" for number in range(MOST_RIVALS + 5)]
    races = [
        settlement(result("anna", 9), *(result(other, 5) for other in others[first : first + 15]))
        for first in range(0, len(others), 15)
    ]
    await settle(valkey, *races[:3])
    row = await valkey.leaderboards.row(ranking("best"), "anna")
    assert row is not None
    assert row.rivals == 45
    met = "leaderboard:canfield:bankroll:all:people:rivals"
    assert await valkey.client.command("HEXISTS", met, "anna")
    await settle(valkey, *races[3:])
    row = await valkey.leaderboards.row(ranking("bankroll"), "anna")
    assert row is not None
    assert (row.races, row.rivals) == (len(races), MOST_RIVALS)
    assert not await valkey.client.command("HEXISTS", met, "anna")
    # counted again from the results
    assert await valkey.leaderboards.void_race(GAME, races[0].race)
    row = await valkey.leaderboards.row(ranking("bankroll"), "anna")
    assert row is not None
    assert (row.races, row.rivals) == (len(races) - 1, len(others) - 15)


async def test_the_outbox_is_settled_in_portions(store: AnyStore) -> None:
    races = [settlement(result("anna", banked)) for banked in range(1, 6)]
    await put_out(store, *races)
    portions = [await store.leaderboards.settle_outbox(2) for _ in range(4)]
    assert [len(portion) for portion in portions] == [2, 2, 1, 0]
    assert sorted(each.race for portion in portions for each in portion) == sorted(
        race.race for race in races
    )


RUINED = b"\xc1ruined"


async def test_a_result_that_cannot_be_read_is_dropped_and_holds_up_nothing(
    store: AnyStore,
) -> None:
    race = settlement(result("anna", 20))
    for _ in range(3):
        await put_out_packed(store, RUINED)
    await put_out(store, race)
    settled = [each for _ in range(4) for each in await store.leaderboards.settle_outbox(1)]
    assert settled == [race]
    assert await store.leaderboards.settle_outbox(10) == []


async def test_a_race_that_cannot_be_read_keeps_no_other_from_being_voided(store: AnyStore) -> None:
    await put_out_packed(store, RUINED)
    await put_out(store, settlement(result("anna", 20), race="void-otter-1/1"))
    assert await store.leaderboards.void_race(GAME, "void-otter-1/1")
    assert await players(store, ranking("best")) == []


# Leaderboards equal a second implementation over the settled races, for any order of events


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
    for begun, race in settled:
        if race.game != key.game:
            continue
        if key.period not in {period.name for period in periods(race.start_at)}:
            continue
        for place, row in enumerate(race.results):
            if (row.player not in race.people) == key.bots and begun >= forgotten.get(
                row.player, 0
            ):
                found.setdefault(row.player, []).append(
                    (begun + place, row.banked, row.net, row.reached or 0, race.race)
                )
                others = {person for person in race.people if person != row.player}
                met.setdefault(row.player, set()).update(others)
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


@dataclass(frozen=True)
class Settle:
    race: int


@dataclass(frozen=True)
class Void:
    race: int


@dataclass(frozen=True)
class Forget:
    player: str


@dataclass
class Fold:
    """The history of one game's leaderboards, in a simple second implementation."""

    settled: dict[str, tuple[int, Settlement]] = field(default_factory=dict)
    voided: set[str] = field(default_factory=set)
    forgotten: dict[str, int] = field(default_factory=dict)
    results: int = 0

    def settle(self, settlement: Settlement) -> None:
        self.settled[settlement.race] = (self.results, settlement)
        self.results += len(settlement.results)

    def rows(self, key: BoardKey) -> list[RankedRow]:
        left = [each for race, each in self.settled.items() if race not in self.voided]
        return fold_rankings(key, left, self.forgotten)


RACES = 5
results_lists = st.lists(
    st.tuples(
        st.sampled_from(PEOPLE + BOTS),
        st.sampled_from([0, 9, 10, 11, 52]),
        st.sampled_from([1, 500, 501, 2**21 - 1, 2**21, 10**8]),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda each: each[0],
)
races_lists = st.lists(
    st.tuples(results_lists, st.sampled_from([-DAY, 0, DAY, 6 * DAY, 40 * DAY])),
    min_size=RACES,
    max_size=RACES,
)
places = st.integers(0, RACES - 1)
acts_lists = st.lists(
    st.one_of(
        places.map(Settle),
        places.map(Settle),
        places.map(Void),
        st.sampled_from(PEOPLE + BOTS).map(Forget),
    ),
    max_size=12,
)


@calm
@given(races=races_lists, acts=acts_lists)
@settings(
    max_examples=settings().max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_every_page_is_a_fold_over_the_settled_races(
    store: AnyStore,
    monkeypatch: pytest.MonkeyPatch,
    races: list[tuple[list[tuple[str, int, int]], int]],
    acts: list[Settle | Void | Forget],
) -> None:
    game = f"game-{next(numbers)}"
    monkeypatch.setattr(leaderboards, "GAMES", [game])
    known = [
        settlement(*(result(*each) for each in results), game=game, start_at=TUESDAY + later)
        for results, later in races
    ]
    fold = Fold()
    for act in acts:
        match act:
            case Settle(place):
                race = known[place]
                await put_out(store, race)
                fresh = race.race not in fold.settled
                assert await store.leaderboards.settle_outbox(10) == [race] * fresh
                if fresh:
                    fold.settle(race)
            case Void(place):
                race = known[place]
                assert await store.leaderboards.void_race(game, race.race) is (
                    race.race in fold.settled
                )
                if race.race in fold.settled:
                    fold.voided.add(race.race)
            case Forget(player):
                await store.leaderboards.forget_results(player)
                fold.forgotten[player] = fold.results
    names = {period.name for race in known for period in periods(race.start_at)}
    for kind, period, bots in product(("best", "bankroll"), names, (False, True)):
        key = ranking(kind, period, game=game, bots=bots)
        expected = fold.rows(key)
        assert await store.leaderboards.page(key, 0, 100) == (len(expected), expected), key
        for row in expected:
            assert await store.leaderboards.row(key, row.player) == row
