"""Faults after which the nodes refuse the store: its settings changed."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from random import Random
from typing import Final

from kit.stores import StoreServer
from kit.storms.fault import ActiveFault, Fault
from kit.storms.installation import Installation

NOTICED_WITHIN = 20.0
"""Longest time in seconds for all nodes to refuse a store, or to accept it again."""

OK, UNAVAILABLE = 200, 503

BELOW_THE_LEVEL: Final = (
    ("appendfsync", "no", "always"),
    ("appendfsync", "everysec", "always"),
    ("appendonly", "no", "yes"),
    ("maxmemory-policy", "allkeys-lru", "noeviction"),
)
"""Settings that a node must refuse: name, bad value, and the value to put back."""


async def until_ready(installation: Installation, *, is_ready: bool) -> None:
    """Wait until `/readyz` of every running node says that the node is ready, or that it is not."""
    expected = OK if is_ready else UNAVAILABLE
    until = time.monotonic() + NOTICED_WITHIN
    for node in installation.up():
        while True:
            status, page = await node.server.get("/readyz")
            if status == expected:
                break
            assert time.monotonic() < until, f"node {node.port}: /readyz says {status}, {page}"
            await asyncio.sleep(0.05)


async def _refused(
    installation: Installation, put_back: Callable[[], Awaitable[None]]
) -> ActiveFault:
    """Wait until every node refuses the store; the healing waits until every node accepts it."""

    async def heal() -> None:
        await put_back()
        await until_ready(installation, is_ready=True)

    try:
        await until_ready(installation, is_ready=False)
    except BaseException:
        await put_back()
        raise
    return ActiveFault(installation.players, heal)


async def change_settings(installation: Installation, random: Random) -> ActiveFault:
    """Set one setting of a store below the level of durability at run time."""
    name, bad, good = random.choice(BELOW_THE_LEVEL)
    store = installation.store
    await _set(store, name, bad)
    return await _refused(installation, partial(_set, store, name, good))


async def _set(store: StoreServer, name: str, value: str) -> None:
    reply = await asyncio.to_thread(store.ask, "CONFIG", "SET", name, value)
    assert "OK" in str(reply), reply


SETTINGS_CHANGED = Fault(
    name="store's settings changed",
    part="store",
    inject=change_settings,
    from_heal=True,
    is_alone=True,
)

GUARD_FAULTS = (SETTINGS_CHANGED,)
