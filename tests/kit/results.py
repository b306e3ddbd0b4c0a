"""Results, settlements and leaderboard pages, with defaults for all fields that a test does not set."""

from itertools import count

from kit.running_race import AnyStore
from kit.tables import table_settings
from saratoga_protocol import events
from saratoga_protocol.events import MOST_RIVALS, LeaderboardRow, Result
from saratoga_server.domain.tables import TablePhase, TableState
from saratoga_server.ports import Millis, RaceFinish, Settlement
from saratoga_server.store.leaderboards import BoardKey
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
