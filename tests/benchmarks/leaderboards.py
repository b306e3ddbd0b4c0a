"""Measure the pages of leaderboards with a thousand and with a million rows."""

import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from redis.asyncio import Redis

from benchmarks.measuring import at_rest, millis, processor_seconds
from benchmarks.programs import lone_store
from benchmarks.reports import Cell, Report
from saratoga_server.store.keys import leaderboard_key
from saratoga_server.store.leaderboards import BoardKey
from saratoga_server.store.opening import Store, open_store

FEW, MANY = 1_000, 1_000_000
GAME = "canfield"
KEY = BoardKey(game=GAME, ranking="best", period="all", bots=False)

PAGE = 20
BATCH = 1_000
"""Number of rows that one script call writes."""

_FILL = """
local tag, first, rows = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local best, bankroll = tag .. ':best:all:people', tag .. ':bankroll:all:people'
local scores, best_rows, sums, sum_rows = {}, {}, {}, {}
for number = first, first + rows - 1 do
  local player = string.format('player%010d', number)
  local banked, left = number * 7919 % 52 + 1, number * 104729 % 2097152
  local net, n = banked * 5 - 52, #scores
  scores[n + 1] = string.format('%.0f', banked * 2097152 + left)
  best_rows[n + 2] = cmsgpack.pack({'mint-otter-42/1', banked, net, 2097151 - left})
  sums[n + 1] = net
  scores[n + 2], best_rows[n + 1], sums[n + 2] = player, player, player
  sum_rows[2 * n + 1], sum_rows[2 * n + 2] = player .. ':races', 1
  sum_rows[2 * n + 3], sum_rows[2 * n + 4] = player .. ':race', 'mint-otter-42/1'
end
redis.call('ZADD', best, unpack(scores))
redis.call('HSET', best .. ':rows', unpack(best_rows))
redis.call('ZADD', bankroll, unpack(sums))
redis.call('HSET', bankroll .. ':rows', unpack(sum_rows))
redis.call('HSET', tag, 'results', first + rows)
return redis.call('ZCARD', best)
"""
"""A script that writes rows of the all-time leaderboards, as `store/leaderboards.py` does."""

Act = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Kept:
    """A store with `entries` leaderboard entries, and the calls to measure on it."""

    entries: int
    process: int
    acts: dict[str, Act]


async def leaderboards(report: Report, *, quick: bool) -> None:
    """Write the part of the report about leaderboards."""
    times = 300 if quick else 600
    rows: list[list[Cell]] = []
    store_ratios: list[str] = []
    async with _kept(FEW) as few, _kept(MANY) as many:
        for name in few.acts:
            figures = await _in_turns(name, (few, many), times)
            for kept, (micros, waits) in zip((few, many), figures, strict=True):
                tails = (millis(waits, 0.5), millis(waits, 0.99))
                rows.append([name, kept.entries, micros, *tails])
            (few_micros, few_waits), (many_micros, many_waits) = figures
            ratio = millis(many_waits, 0.5) / millis(few_waits, 0.5)
            report.bar(f"a leaderboard's {name}: wait (p50) at 1 M to 1 k entries", ratio, 2.0)
            store_ratios.append(f"{name} {many_micros / few_micros:.2f} x")
    report.table(("call", "entries", "store CPU us", "p50 ms", "p99 ms"), rows)
    report.say(
        f"A page has {PAGE} rows: the first, or one from anywhere. Called one after the other, at both "
        "stores in turns, through the server's own store code, Python's time included in the wait. "
        f"The store's CPU alone, at 1 M to that at 1 k: {', '.join(store_ratios)}."
    )


@asynccontextmanager
async def _kept(entries: int) -> AsyncIterator[Kept]:
    # no rewrite of the store's file disturbs the measurement
    with lone_store(**{"auto-aof-rewrite-percentage": "0"}) as server:
        assert server.process is not None
        await _fill(server.url, entries)
        async with open_store(server.url) as store:
            total, page = await store.leaderboards.page(KEY, entries // 2, PAGE)
            assert (total, len(page)) == (entries, PAGE), (total, page)
            await at_rest(server.process.pid)
            yield Kept(entries, server.process.pid, _acts(store, entries))


async def _fill(url: str, entries: int) -> None:
    """Write that many leaderboard rows."""
    async with Redis.from_url(url) as client:
        # a store that a server has open may not be set like this
        await client.config_set("appendfsync", "no")
        for first in range(0, entries, BATCH):
            rows = min(BATCH, entries - first)
            there = await client.eval(_FILL, 0, leaderboard_key(GAME), first, rows)
            assert there == first + rows, there
        await client.config_set("appendfsync", "always")


def _acts(store: Store, entries: int) -> dict[str, Act]:
    chance, board = random.Random(1), store.leaderboards
    return {
        "page, the first": lambda: board.page(KEY, 0, PAGE),
        "page, anywhere": lambda: board.page(KEY, chance.randrange(entries - PAGE), PAGE),
    }


async def _in_turns(
    name: str, stores: Sequence[Kept], times: int
) -> list[tuple[float, list[float]]]:
    """Return for each store the mean CPU microseconds per call, and the seconds that each call took."""
    for _ in range(times // 10):
        for kept in stores:
            await kept.acts[name]()
    used = [processor_seconds([kept.process]) for kept in stores]
    waits: list[list[float]] = [[] for _ in stores]
    for _ in range(times):
        for kept, some in zip(stores, waits, strict=True):
            began = time.perf_counter()
            await kept.acts[name]()
            some.append(time.perf_counter() - began)
    return [
        ((processor_seconds([kept.process]) - before) / times * 1e6, some)
        for kept, before, some in zip(stores, used, waits, strict=True)
    ]
