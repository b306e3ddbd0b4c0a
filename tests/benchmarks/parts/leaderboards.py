"""Leaderboards with a thousand rows and with a million: what a page, a row and a race cost."""

import random
import secrets
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import count as count_from

from benchmarks.contestants import lone_store
from benchmarks.measuring import processor_seconds
from benchmarks.reports import Bar, Cell, Report
from kit.stores import StoreServer
from saratoga_server.parcels.settlements import pack_settlement
from saratoga_server.ports import BoardKey, Millis, SettledResult, Settlement
from saratoga_server.store.connection import Store, open_store
from saratoga_server.store.keys import OUTBOX_KEYS, leaderboard_tag

FEW, MANY = 1_000, 1_000_000
GAME = "canfield"
KEY = BoardKey(game=GAME, ranking="best", period="all", bots=False)

PAGE = 20
MOST_TIMES = 2.0
BATCH = 2_000
"""Rows that are written in one go."""

_FILL = """
local tag, first, rows = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local best, bankroll = tag .. ':best:all:people', tag .. ':bankroll:all:people'
for number = first, first + rows - 1 do
  local player = string.format('player%010d', number)
  local banked, left = number * 7919 % 52 + 1, number * 104729 % 2097152
  local net, low = banked * 5 - 52, 33554431 - number % 33554432
  local score = (banked * 2097152 + left) * 33554432 + low
  local row = {'mint-otter-42/1', banked, net, 2097151 - left}
  redis.call('ZADD', best, string.format('%.0f', score), player)
  redis.call('HSET', best .. ':rows', player, cmsgpack.pack(row))
  redis.call('ZADD', bankroll, string.format('%.0f', (134217728 + net) * 33554432 + low), player)
  redis.call('HSET', bankroll .. ':rows', player, cmsgpack.pack({row[1], net, 1, number}))
end
redis.call('SET', tag .. ':sequence', first + rows)
return redis.call('ZCARD', best)
"""
"""Rows of all time, as `functions/leaderboards.lua` lays them out."""


async def leaderboards(report: Report, *, quick: bool) -> None:
    """Part 8."""
    calls = 300 if quick else 1_000
    rows: list[list[Cell]] = []
    took: dict[tuple[str, int], float] = {}
    for entries in (FEW, MANY):
        with lone_store() as server:
            assert server.process is not None
            async with open_store(server.url) as store:
                await _fill(server, store, entries)
                for name, call in _acts(store, entries).items():
                    waits, micros = await _timed(call, calls, server.process.pid)
                    took[name, entries] = micros
                    rows.append(
                        [name, entries, micros, statistics.median(waits), _part(waits, 0.99)]
                    )
    rows.sort(key=lambda row: list(took).index((str(row[0]), int(row[1]))) % (len(took) // 2))
    report.table(("call", "entries", "store CPU us", "p50 ms", "p99 ms"), rows)
    report.say(
        f"A page has {PAGE} rows: the first, or one from anywhere. Called one after the other through the "
        "house's own store code, Python's time included in the wait. Settling: a race of four, from the "
        "outbox, which writes eight rankings of four players; the rankings of all time have as many "
        "entries as said, the others as many as were settled here."
    )
    for name in ("page, the first", "page, anywhere"):
        ratio = took[name, MANY] / took[name, FEW]
        report.bar(
            Bar(f"a leaderboard's {name}, 1 M to 1 k entries, store CPU", ratio, MOST_TIMES, " x")
        )


async def _fill(server: StoreServer, store: Store, entries: int) -> None:
    """So many rows, written in steps without syncing each."""
    await store.link.command("CONFIG", "SET", "appendfsync", "no")
    try:
        for first in range(0, entries, BATCH):
            rows = min(BATCH, entries - first)
            there = await store.link.command("EVAL", _FILL, 0, leaderboard_tag(GAME), first, rows)
            assert there == first + rows, there
    finally:
        await store.link.command("CONFIG", "SET", "appendfsync", "always")
    total, page = await store.leaderboards.page(KEY, entries // 2, PAGE)
    assert (total, len(page)) == (entries, PAGE), (total, page)


def _acts(store: Store, entries: int) -> dict[str, Callable[[], Awaitable[object]]]:
    chance, races = random.Random(1), count_from(1)
    board = store.leaderboards

    async def settle() -> None:
        race = f"bench-{secrets.token_hex(4)}/{next(races)}"
        players = [f"player{chance.randrange(entries):010}" for _ in range(4)]
        results = tuple(
            SettledResult(player=player, bot=False, banked=place * 9, net=place, elapsed=90_000)
            for place, player in enumerate(dict.fromkeys(players), start=1)
        )
        now = Millis(int(time.time() * 1000))
        packed = pack_settlement(Settlement(race=race, game=GAME, start_at=now, results=results))
        await store.link.command("RPUSH", OUTBOX_KEYS[7], packed)
        assert len(await board.settle_outbox(10)) == 1

    return {
        "page, the first": lambda: board.page(KEY, 0, PAGE),
        "page, anywhere": lambda: board.page(KEY, chance.randrange(entries - PAGE), PAGE),
        "own row": lambda: board.row(KEY, f"player{chance.randrange(entries):010}"),
        "settling a race": settle,
    }


async def _timed(
    call: Callable[[], Awaitable[object]], times: int, store: int
) -> tuple[list[float], float]:
    """Milliseconds of each call, and the store's microseconds for one in the mean."""
    for _ in range(times // 10):
        await call()
    waits, used = [], processor_seconds([store])
    for _ in range(times):
        began = time.perf_counter()
        await call()
        waits.append((time.perf_counter() - began) * 1000)
    return waits, (processor_seconds([store]) - used) / times * 1e6


def _part(waits: Sequence[float], part: float) -> float:
    return sorted(waits)[int(len(waits) * part)]
