"""Settlements of invented races, and functions that put them into a store's leaderboards."""

from itertools import count

from kit.results import result_of
from kit.running_race import AnyStore
from saratoga_protocol.events import Result
from saratoga_server.ports import Millis, RaceFinish, Settlement, TableWrite, pack_settlement
from saratoga_server.store.leaderboards import BoardKey

TUESDAY = Millis(2_261_779_200_000)
"""2041-09-03, a Tuesday of ISO week 36, at midnight UTC: none of its periods has expired."""
DAY = 86_400_000
GAME = "canfield"

PEOPLE = ("anna", "bert", "cora")
BOTS = ("robo", "bolt")

numbers = count()


def result(player: str, banked: int, elapsed: int = 1000, *, packs: int = 1) -> Result:
    return result_of(
        player,
        bot=player in BOTS,
        banked=banked,
        net=5 * banked - 50 * packs,
        reached=elapsed if banked else None,
    )


def settlement(
    *results: Result, race: str = "", game: str = GAME, start_at: int = TUESDAY
) -> Settlement:
    race = race or f"mint-otter-{next(numbers)}/1"
    people = tuple(each.player for each in results if not each.bot)
    return Settlement(
        race=race, game=game, start_at=Millis(start_at), results=results, people=people
    )


def ranking(ranking: str, period: str = "all", *, game: str = GAME, bots: bool = False) -> BoardKey:
    return BoardKey(game=game, ranking=ranking, period=period, bots=bots)


async def put_out(store: AnyStore, *settlements: Settlement) -> None:
    """Put settlements into the store's outbox, each as the finished race of a new table."""
    for each in settlements:
        finish = RaceFinish(race=1, record="record", settlement=pack_settlement(each))
        code = f"lone-crane-{next(numbers)}"
        assert await store.tables.save_table(
            TableWrite(code=code, expected=0, body=b"over", due=None, finish=finish)
        )


async def settle(store: AnyStore, *settlements: Settlement) -> None:
    """Put out all settlements, and settle them in their order."""
    await put_out(store, *settlements)
    assert await store.leaderboards.settle_outbox(len(settlements)) == list(settlements)


async def put_out_packed(store: AnyStore, packed: bytes, code: str = "") -> None:
    """Put an encoded settlement into the outbox, such as one of another server version."""
    code = code or f"lone-crane-{next(numbers)}"
    finish = RaceFinish(race=1, record="record", settlement=packed)
    write = TableWrite(code=code, expected=0, body=b"over", due=None, finish=finish)
    assert await store.tables.save_table(write)
