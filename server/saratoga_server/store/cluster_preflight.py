"""The preflight of a whole store: every node of a cluster, and the replicas."""

import asyncio

from redis.exceptions import RedisError

from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.confirmations import confirmation_commands, is_confirmed
from saratoga_server.store.durability import Durability
from saratoga_server.store.keys import DUE_KEYS, mark_key
from saratoga_server.store.preflight import Preflight, check_store
from saratoga_server.store.primaries import Primaries, Primary

_log = EventLog("store")


async def check_rest(
    primaries: Primaries, first: Preflight, durability: Durability, *, trust: bool = False
) -> bool:
    """Check the rest of the store; `first` is the check of the node that answered first.

    Replicas are checked too, because each may become primary. Raises `StoreRefused`, naming the node.
    Returns whether the replicas sync writes to disk, so that WAITAOF can be used.
    """
    found = [first]
    if primaries.is_cluster:
        nodes = (*primaries.all(), *primaries.replicas())
        checks = [asyncio.create_task(_check(node, durability, trust=trust)) for node in nodes]
        await asyncio.wait(checks)
        found = [preflight for check in checks if (preflight := check.result()) is not None]
    if durability is not Durability.REPLICATED:
        return False
    replicated = [each for each in found if each.is_primary and each.replicas]
    if not replicated:
        raise StoreRefused(
            "The store has no replica in sync, so with --durability replicated no move could be "
            "acknowledged. Add a replica (`REPLICAOF host port` there, or CLUSTER REPLICATE in a "
            "cluster), or start with --durability safe."
        )
    if len(replicated) < len(primaries.all()):
        _log.warning("primary_without_replica", of=len(primaries.all()), replicated=len(replicated))
    if not all(each.refuses_alone for each in replicated):
        _log.info(
            "store_setting_advised", set="min-replicas-to-write 1", on="every node of the store"
        )
    if not all(each.knows_waitaof for each in found):
        return False
    return all(await asyncio.gather(*(_syncs(primaries, each) for each in primaries.all())))


async def _check(node: Primary, durability: Durability, *, trust: bool) -> Preflight | None:
    """Check a node; return `None` if it is unavailable (it is checked before its first commit)."""
    try:
        return await check_store(node.url, durability, trust=trust)
    except StoreUnavailable:
        return None
    except StoreRefused as refused:
        raise StoreRefused(f"{node.name}: {refused}") from None


async def _syncs(primaries: Primaries, primary: Primary) -> bool:
    """Return whether a replica confirms in time that a write is on its disk; true without replicas."""
    key = next((key for key in DUE_KEYS if primaries.of(key) is primary), None)
    if key is None:
        return True
    pipeline = primary.client.pipeline(transaction=False)
    for command in confirmation_commands(mark_key(key), on_disk=True):
        pipeline.execute_command(*command)
    try:
        replies = await pipeline.execute(raise_on_error=False)
    except (RedisError, OSError):
        return True
    if is_confirmed(replies) or not is_confirmed(replies[:2]):
        return True
    _log.warning(
        "replica_not_on_disk",
        primary=primary.name,
        mend="set appendonly yes and appendfsync always on its replicas, and restart the server",
    )
    return False
