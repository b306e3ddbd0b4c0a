"""Leaderboards in a store are a fold over the settled races."""

from dataclasses import dataclass, field
from itertools import count, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kit.auditor import fold_rankings
from kit.stores import calm
from kit.tables import finish_race, result_of
from saratoga_protocol.events import LeaderboardRow, Result
from saratoga_server.ports import Millis, Settlement
from saratoga_server.store import leaderboards
from saratoga_server.store.leaderboards import BoardKey, periods
from saratoga_server.store.opening import Store

TUESDAY = Millis(2_261_779_200_000)
"""2041-09-03, a Tuesday of ISO week 36, at midnight UTC: none of its periods has expired."""
DAY = 86_400_000
GAME = "canfield"

PEOPLE = ("anna", "bert", "cora")
BOTS = ("robo", "bolt")

numbers = count()


def result(player: str, banked: int, elapsed: int = 1000) -> Result:
    return result_of(
        player,
        banked=banked,
        net=5 * banked - 50,
        reached=elapsed if banked else None,
    )


def settlement(
    *results: Result, race: str = "", game: str = GAME, ended: int = TUESDAY
) -> Settlement:
    race = race or f"mint-otter-{next(numbers)}/1"
    people = tuple(each.player for each in results if each.player not in BOTS)
    return Settlement(race=race, game=game, ended=Millis(ended), results=results, people=people)


def ranking(ranking: str, period: str = "all", *, game: str = GAME, bots: bool = False) -> BoardKey:
    return BoardKey(game=game, ranking=ranking, period=period, bots=bots)


async def settle(store: Store, *settlements: Settlement) -> None:
    """Finish a race of a new table with each of these results."""
    for each in settlements:
        await finish_race(store, each)


# Leaderboards on every kind of store


async def players(store: Store, key: BoardKey) -> list[str]:
    _, rows = await store.leaderboards.page(key, 0, 100)
    return [row.player for row in rows]


async def test_rivals_are_the_different_people_raced_against(store: Store) -> None:
    others = [f"other{number:03}" for number in range(45)]
    for first in range(0, 45, 15):
        met = [result(other, 5) for other in others[first : first + 15]]
        await settle(
            store, settlement(result("anna", 9), *met), settlement(result("anna", 1), *met)
        )
    row = await store.leaderboards.row(ranking("bankroll"), "anna")
    assert row is not None
    assert row.races == 6
    assert abs(row.rivals - 45) <= 1


# Leaderboards equal a second implementation over the settled races, for any order of events


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

    def rows(self, key: BoardKey) -> list[LeaderboardRow]:
        left = [each for race, each in self.settled.items() if race not in self.voided]
        return fold_rankings(key, left, self.forgotten)


RACES = 4
DAYS = (-1, 0, 6, 40)
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
    st.tuples(results_lists, st.sampled_from(DAYS).map(DAY.__mul__)),
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
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    races: list[tuple[list[tuple[str, int, int]], int]],
    acts: list[Settle | Void | Forget],
) -> None:
    game = f"game-{next(numbers)}"
    monkeypatch.setattr(leaderboards, "GAMES", [game])
    known = [
        settlement(*(result(*each) for each in results), game=game, ended=TUESDAY + later)
        for results, later in races
    ]
    fold = Fold()
    for act in acts:
        match act:
            case Settle(place):
                race = known[place]
                if race.race not in fold.settled:
                    await settle(store, race)
                    fold.settle(race)
            case Void(place):
                race = known[place]
                counts = race.race in fold.settled and race.race not in fold.voided
                assert await voided(store, race) is counts
                if counts:
                    fold.voided.add(race.race)
            case Forget(player):
                for later in DAYS:
                    await store.leaderboards.forget_results(player, Millis(TUESDAY + later * DAY))
                fold.forgotten[player] = fold.results
    names = {period.name for race in known for period in periods(race.ended)}
    for kind, period, bots in product(("best", "bankroll"), names, (False, True)):
        key = ranking(kind, period, game=game, bots=bots)
        expected = fold.rows(key)
        total, rows = await store.leaderboards.page(key, 0, 100)
        assert (total, [_told(row) for row in rows]) == (len(expected), expected), key
        for row in expected:
            found = await store.leaderboards.row(key, row.player)
            assert found is not None
            assert _told(found) == row


def _told(row: LeaderboardRow) -> LeaderboardRow:
    """Return a row without what the second implementation does not count."""
    return replace(row, name="", rivals=0, race=row.race if row.elapsed is not None else "")


async def voided(store: Store, race: Settlement) -> bool:
    code, _, number = race.race.partition("/")
    players = [each.player for each in race.results]
    return await store.leaderboards.void_race(race.game, code, int(number), players)
