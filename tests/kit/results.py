"""Results, settlements and leaderboard pages, with defaults for all fields that a test does not set.

`fold_rankings` is a second implementation of the leaderboards.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Final

from msgspec.structs import replace

from kit.running_race import AnyStore
from kit.tables import table_settings
from saratoga_protocol import events
from saratoga_protocol.events import MOST_RIVALS, LeaderboardRow, Result
from saratoga_server.domain.tables import TablePhase, TableState
from saratoga_server.ports import Millis, RaceFinish, Settlement
from saratoga_server.store.leaderboards import BoardKey, periods
from saratoga_server.store.opening import Store
from saratoga_server.store.tables import TableWrite


def result_of(
    player: str,
    *,
    banked: int = 9,
    net: int = -5,
    reached: int | None = 1000,
) -> Result:
    """Return a racer's result in the form that leaderboards count."""
    return Result(
        player=player,
        place=1,
        banked=banked,
        net=net,
        state="cash-out",
        moves=3,
        reached=reached,
        head="0" * 16,
    )


async def add_results(store: Store, count: int) -> None:
    """Put the results of a race of `count` players on the leaderboards; the first banked most."""
    settlement = Settlement(
        race="odd-emu-11/1",
        game="canfield",
        ended=await store.tables.now(),
        results=tuple(
            result_of(f"{number:016}", banked=52 - number, net=0, reached=5)
            for number in range(count)
        ),
        people=tuple(f"{number:016}" for number in range(count)),
    )
    await finish_race(store, settlement)


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


async def settle(store: AnyStore, *settlements: Settlement) -> None:
    """Finish a race of a new table with each of these results."""
    for each in settlements:
        await finish_race(store, each)


async def finish_race(store: AnyStore, results: Settlement) -> None:
    code, _, number = results.race.partition("/")
    over = TableState(
        code=code,
        settings=table_settings(game=results.game),
        created=results.ended,
        touched=results.ended,
        phase=TablePhase.OVER,
    )
    finish = RaceFinish(race=int(number), record="record", settlement=results)
    write = TableWrite(version=0, before=None, after=over, finish=finish)
    assert await store.tables.save_table(write) is None


SLOWEST: Final = 2**21 - 1
"""Milliseconds from which leaderboards count times as equal: 35 minutes, more than any time limit."""


def fold_rankings(
    key: BoardKey,
    settled: Sequence[tuple[int, Settlement]],
    forgotten: Mapping[str, int],
) -> list[LeaderboardRow]:
    """Compute a leaderboard from pairs: a settlement, and the number of results before it."""
    found: dict[str, list[tuple[int, int, int, int, str]]] = {}
    for begun, race in settled:
        if race.game != key.game:
            continue
        if key.period not in {period.name for period in periods(race.ended)}:
            continue
        for place, row in enumerate(race.results):
            if (row.player not in race.people) == key.bots and begun >= forgotten.get(
                row.player, 0
            ):
                found.setdefault(row.player, []).append(
                    (begun + place, row.banked, row.net, row.reached or 0, race.race)
                )
    ranked = [
        _best(player, results) if key.ranking == "best" else _bankroll(player, results)
        for player, results in found.items()
    ]
    ordered = sorted(ranked, key=lambda each: (each[0], each[1].player), reverse=True)
    scores = [score for score, _ in ordered]
    return [replace(row, rank=scores.index(score) + 1) for score, row in ordered]


def _best(
    player: str, results: Sequence[tuple[int, int, int, int, str]]
) -> tuple[tuple[int, int], LeaderboardRow]:
    """Return the score and the row of the best result, the earliest of equal ones."""
    _, banked, net, elapsed, race = min(
        results, key=lambda result: (-result[1], min(result[3], SLOWEST), result[0])
    )
    return (banked, -min(elapsed, SLOWEST)), LeaderboardRow(
        rank=0,
        player=player,
        name="",
        value=banked,
        net=net,
        elapsed=elapsed,
        race=race,
        races=len(results),
        rivals=0,
    )


def _bankroll(
    player: str, results: Sequence[tuple[int, int, int, int, str]]
) -> tuple[tuple[int, int], LeaderboardRow]:
    total = sum(net for _, _, net, _, _ in results)
    return (total, 0), LeaderboardRow(
        rank=0,
        player=player,
        name="",
        value=total,
        net=total,
        elapsed=None,
        race="",
        races=len(results),
        rivals=0,
    )


ANNA = LeaderboardRow(
    rank=1,
    player="a" * 16,
    name="Anna",
    value=31,
    net=105,
    elapsed=90_500,
    race="mint-otter-42/3",
    rivals=4,
)
BERT = LeaderboardRow(
    rank=2,
    player="b" * 16,
    name="Bert",
    value=12,
    net=10,
    elapsed=61_000,
    race="mint-otter-42/2",
    rivals=1,
)
BEST = events.Leaderboard(
    game="canfield",
    ranking="best",
    period="day",
    key="2026-09-01",
    bots=False,
    total=2,
    offset=0,
    rows=[ANNA, BERT],
    me=BERT,
)
BANKROLL = events.Leaderboard(
    game="lafayette",
    ranking="bankroll",
    period="all",
    key="all",
    bots=True,
    total=40,
    offset=0,
    rows=[
        LeaderboardRow(rank=1, player="o" * 16, name="Otto", value=-45, races=1, rivals=MOST_RIVALS)
    ],
)
