"""Sweeps over all partitions while one partition is being moved or has a key of a wrong type."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.exceptions import ResponseError

from kit.cluster import Cluster
from kit.results import result_of
from kit.running_race import running_race
from kit.stores import StoreServer
from saratoga_server.leaderboard_port import Settlement
from saratoga_server.messages.settlements import pack_settlement
from saratoga_server.ports import Millis, RaceFinish, TableWrite
from saratoga_server.store.keys import (
    DUE_KEYS,
    EXPIRING_KEYS,
    LEDGER_KEYS,
    OUTBOX_KEYS,
    due_key,
    expiring_key,
    outbox_key,
    partition,
    race_key,
    table_key,
)
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.slots import slot_of

CODE = "mint-otter-42"


@pytest.fixture
async def real(store_server: StoreServer) -> AsyncIterator[Store]:
    async with open_store(store_server.url) as opened:
        yield opened


def over(code: str) -> TableWrite:
    """Return a write of a table whose race is over, with a timer that has run out."""
    result = result_of("anna", bot=False, banked=20, net=50, reached=1000)
    settlement = Settlement(
        race=f"{code}/1", game="canfield", start_at=Millis(1_760_000_000_000), results=(result,)
    )
    finish = RaceFinish(race=1, record="record", settlement=pack_settlement(settlement))
    return TableWrite(code=code, expected=0, body=b"over", due=Millis(5), finish=finish)


async def test_a_partition_being_moved_delays_no_other_of_its_primary(trio: Cluster) -> None:
    source = trio.owner(outbox_key(partition(CODE)))
    others = [n for n, key in enumerate(OUTBOX_KEYS) if trio.owner(key) is source]
    moving = next(number for number in others if number != partition(CODE))
    target = next(node for node in trio.primaries() if node is not source)
    slot = slot_of(outbox_key(moving))
    async with open_store(trio.url) as store:
        assert await store.tables.save_table(over(CODE))
        trio.begin_move(slot, source, target)
        try:
            assert [each.race for each in await store.leaderboards.settle_outbox(10)] == [
                f"{CODE}/1"
            ]
            assert list(await store.tables.due(Millis(10), 10)) == [CODE]
            voiding = asyncio.ensure_future(store.leaderboards.void_race("canfield", f"{CODE}/1"))
            await asyncio.wait([voiding], timeout=0.3)
            assert not voiding.done(), "a race may wait at a primary that was unavailable"
        finally:
            trio.move_slot(slot, source, target)
        assert await voiding


@pytest.mark.parametrize("is_moving", [False, True], ids=["at rest", "moving"])
async def test_a_table_is_deleted_whole_even_if_its_partition_is_being_moved(
    trio: Cluster, is_moving: bool
) -> None:
    key = table_key(CODE)
    tag = key.partition(":")[0]
    source = trio.owner(key)
    target = next(node for node in trio.primaries() if node is not source)
    async with open_store(trio.url) as store:
        await running_race(store, code=CODE)
        now = await store.tables.now()
        assert (await store.retention.sweep(now, 10)).done == 0
        await store.client.command("ZADD", expiring_key(tag), 1, CODE)
        if is_moving:
            trio.begin_move(slot_of(key), source, target)
            trio.carry([race_key(CODE, 1)], source, target)
            assert (await store.retention.sweep(now, 10)).done == 0
            trio.move_slot(slot_of(key), source, target)
            await store.client.command("EXISTS", key)
        assert (await store.retention.sweep(now, 10)).done == 1
        left = [found for kind in ("hash", "list") async for found in store.client.scan("*", kind)]
        assert set(left) - set(LEDGER_KEYS) == {f"{tag}:swept"}


@pytest.mark.parametrize(
    ("function", "keys", "arguments"),
    [
        ("peek_outbox", OUTBOX_KEYS, ("many", 0)),
        ("peek_outbox", OUTBOX_KEYS, (10, 0)),
        ("peek_outbox", OUTBOX_KEYS, (10, 1)),
        ("due_tables", DUE_KEYS, ("soon", 10, 10)),
        ("due_tables", DUE_KEYS, (0, 10, 10)),
        ("sweep", EXPIRING_KEYS, ("soon", 10, 1, 1, 1)),
        ("sweep", EXPIRING_KEYS, (0, 10, 10**14, 1, 1)),
    ],
)
async def test_any_other_error_of_a_sweep_is_raised(
    real: Store, function: str, keys: tuple[str, ...], arguments: tuple[str | int, ...]
) -> None:
    if all(isinstance(each, int) for each in arguments):
        for key in (outbox_key(7), due_key(7), EXPIRING_KEYS[7]):
            await real.client.command("SET", key, "neither a list nor a sorted set")
    with pytest.raises(ResponseError):
        await real.client.read_everywhere(function, keys, *arguments)
