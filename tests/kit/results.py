"""Racers' results, with defaults for all fields that a test does not set."""

from saratoga_protocol.events import Result
from saratoga_server.ports import RaceFinish, Settlement, TableWrite, pack_settlement
from saratoga_server.store.opening import Store


def result_of(
    player: str,
    *,
    bot: bool = False,
    banked: int = 9,
    net: int = -5,
    reached: int | None = 1000,
) -> Result:
    """Return a racer's result in the form that leaderboards count."""
    return Result(
        player=player,
        name=player,
        place=1,
        bot=bot,
        banked=banked,
        net=net,
        state="cashed out",
        moves=3,
        reached=reached,
    )


async def add_results(store: Store, count: int) -> None:
    """Put the results of a race of `count` players into the outbox; the first banked most."""
    settlement = Settlement(
        race="odd-emu-11/1",
        game="canfield",
        start_at=await store.tables.now(),
        results=tuple(
            result_of(f"{number:016}", banked=52 - number, net=0, reached=5)
            for number in range(count)
        ),
    )
    finish = RaceFinish(race=1, record="record", settlement=pack_settlement(settlement))
    write = TableWrite(code="odd-emu-11", expected=0, body=b"over", due=None, finish=finish)
    assert await store.tables.save_table(write)
