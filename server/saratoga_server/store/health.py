"""The health of each primary, from its INFO, for metrics and alerts."""

import asyncio
from collections.abc import Mapping
from typing import Final

from redis.exceptions import RedisError

from saratoga_server.health_port import StoreHealth
from saratoga_server.store.primaries import Primaries, Primary

ANSWER_WITHIN: Final = 1.0
"""Seconds in which a primary must answer."""
IN_STEP: Final = 2
"""The most seconds since the last confirmation of a replica in sync; it confirms once a second."""

_SECTIONS: Final = ("memory", "persistence", "replication")


class Health:
    """A reader of the health of every primary."""

    def __init__(self, primaries: Primaries) -> None:
        self._primaries = primaries

    async def look(self) -> list[StoreHealth]:
        """Return the health of every primary; one that does not answer is down."""
        return list(await asyncio.gather(*map(_ask, self._primaries.all())))


async def _ask(primary: Primary) -> StoreHealth:
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            info: Mapping[str, object] = await primary.client.info(*_SECTIONS)
    except (RedisError, OSError, TimeoutError):
        return StoreHealth(primary=primary.name, is_up=False)
    return health_of(primary.name, info)


def health_of(primary: str, info: Mapping[str, object]) -> StoreHealth:
    """Return the health that a primary's INFO shows, as redis-py parses it."""
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
