"""The health of the store, from its INFO, for metrics and alerts."""

import asyncio
from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from redis.exceptions import RedisError

from saratoga_server.store.clients import Primary

ANSWER_WITHIN: Final = 1.0
"""Seconds in which the store must answer."""
IN_STEP: Final = 2
"""The most seconds since the last confirmation of a replica in sync; it confirms once a second."""

_SECTIONS: Final = ("memory", "persistence", "replication")


class StoreHealth(Struct, frozen=True, kw_only=True):
    """The health of the store; only the name is set if it does not answer."""

    primary: str
    is_up: bool
    memory: int = 0
    """The memory in use, in bytes."""
    memory_limit: int = 0
    """The store's maxmemory in bytes; 0 = unlimited."""
    replicas: int = 0
    """The number of replicas in sync."""
    is_appending: bool = False
    """True if its last write to its append-only file succeeded; false if the disk is full."""
    file_size: int = 0
    """The size of the append-only files in bytes."""


async def read_health(primary: Primary) -> StoreHealth:
    """Return the health of the store; one that does not answer is down."""
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            info: Mapping[str, object] = await primary.client.info(*_SECTIONS)
    except (RedisError, OSError, TimeoutError):
        return StoreHealth(primary=primary.name, is_up=False)
    return health_of(primary.name, info)


def health_of(primary: str, info: Mapping[str, object]) -> StoreHealth:
    """Return the health that the store's INFO shows, as redis-py parses it."""
    return StoreHealth(
        primary=primary,
        is_up=True,
        memory=_number(info, "used_memory"),
        memory_limit=_number(info, "maxmemory"),
        replicas=sum(_is_in_step(value) for name, value in info.items() if _is_replica(name)),
        is_appending=str(info.get("aof_last_write_status")) == "ok",
        file_size=_number(info, "aof_current_size"),
    )


def _is_replica(name: str) -> bool:
    return name.startswith("slave") and name.removeprefix("slave").isdigit()


def _is_in_step(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    return value.get("state") == "online" and _number(value, "lag") <= IN_STEP


def _number(info: Mapping[str, object], name: str) -> int:
    value = info.get(name)
    return value if isinstance(value, int) else 0
