"""Whether all of a store may hold the house's state: every node of a cluster, and the replicas."""

import asyncio
from typing import Final

from redis.exceptions import RedisError

from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.confirmations import confirmed, questions
from saratoga_server.store.durability import Durability
from saratoga_server.store.keys import DUE_KEYS, mark_key
from saratoga_server.store.preflight import Preflight, check_store
from saratoga_server.store.primaries import Primaries, Primary

CLOCKS_WITHIN: Final = 0.5
"""Seconds that the primaries' clocks may differ, the time of asking included."""

_log = EventLog("store")


async def check_rest(
    primaries: Primaries, first: Preflight, durability: Durability, *, trust: bool = False
) -> bool:
    """Look at the rest of the store; `first` is what the node says that was asked first.

    A replica is looked at too: it may be the primary tomorrow. Raises `StoreRefused`, naming the
    node. Returns whether replicas sync what they get, so that their disks can be asked for.
    """
    found = [first]
    if primaries.is_cluster:
        nodes = (*primaries.all(), *primaries.replicas())
        looks = [asyncio.create_task(_look(node, durability, trust=trust)) for node in nodes]
        await asyncio.wait(looks)
        found = [fitness for look in looks if (fitness := look.result()) is not None]
        await _compare_clocks(primaries)
    if durability is not Durability.REPLICATED:
        return False
    replicated = [fitness for fitness in found if fitness.is_primary and fitness.replicas]
    if not replicated:
        raise StoreRefused(
            "No replica is in step with the store, so at the level replicated no move could be "
            "acknowledged. Give it one (`REPLICAOF host port` there, or CLUSTER REPLICATE in a "
            "cluster), or ask for less with --durability safe."
        )
    if len(replicated) < len(primaries.all()):
        _log.warning("primary_without_replica", of=len(primaries.all()), replicated=len(replicated))
    if not all(fitness.refuses_alone for fitness in replicated):
        _log.info("advice", set="min-replicas-to-write 1", on="every node of the store")
    if not all(fitness.knows_waitaof for fitness in found):
        return False
    return all(await asyncio.gather(*(_syncs(primaries, each) for each in primaries.all())))


async def _look(node: Primary, durability: Durability, *, trust: bool) -> Preflight | None:
    """A node that is away for the moment is looked at before it gets its first move."""
    try:
        return await check_store(node.url, durability, trust=trust)
    except StoreUnavailable:
        return None
    except StoreRefused as refused:
        raise StoreRefused(f"{node.name}: {refused}") from None


async def _compare_clocks(primaries: Primaries) -> None:
    """A race is timed by the primary that has it, and started by the time of another."""

    async def clock(primary: Primary) -> float | None:
        try:
            seconds, micros = await primary.client.time()
        except (RedisError, OSError):
            return None
        return float(seconds) + micros / 1e6

    told = await asyncio.gather(*map(clock, primaries.all()))
    times = [time for time in told if time is not None]
    if times and max(times) - min(times) > CLOCKS_WITHIN:
        _log.warning("clocks_differ", seconds=round(max(times) - min(times), 3))


async def _syncs(primaries: Primaries, primary: Primary) -> bool:
    """Whether a replica of this one says in time that a write is on its disk; alone, it need not."""
    key = next((key for key in DUE_KEYS if primaries.of(key) is primary), None)
    if key is None:
        return True
    pipeline = primary.client.pipeline(transaction=False)
    for question in questions(mark_key(key), on_disk=True):
        pipeline.execute_command(*question)
    try:
        replies = await pipeline.execute(raise_on_error=False)
    except (RedisError, OSError):
        return True
    if confirmed(replies) or not confirmed(replies[:2]):
        return True
    _log.warning(
        "replica_not_on_disk",
        primary=primary.name,
        mend="set appendonly yes and appendfsync always on its replicas, and restart the house",
    )
    return False
