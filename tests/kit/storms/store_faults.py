"""Faults of the store: killed, hung, Functions flushed, disk full, settings changed."""

import asyncio
import resource
import signal
import time
from collections.abc import Awaitable, Callable
from functools import partial
from random import Random
from typing import Final

from kit.stores import StoreServer
from kit.storms.fault import ActiveFault, Fault
from kit.storms.installation import Installation

FULL_WITHIN = 20.0
"""Longest time in seconds for a store to notice its full disk."""

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


async def kill(installation: Installation, random: Random) -> ActiveFault:
    store = installation.store
    await asyncio.to_thread(store.kill)
    return ActiveFault(installation.players, partial(asyncio.to_thread, store.start))


async def hang(installation: Installation, random: Random) -> ActiveFault:
    store = installation.store
    store.pause()
    return ActiveFault(installation.players, partial(asyncio.to_thread, store.resume))


async def flush_functions(installation: Installation, random: Random) -> ActiveFault:
    reply = await asyncio.to_thread(installation.store.ask, "FUNCTION", "FLUSH", "SYNC")
    assert reply == b"+OK"
    return ActiveFault(installation.players)


async def kill_clients(installation: Installation, random: Random) -> ActiveFault:
    """Let the store close all its client connections."""
    kind = random.choice(["normal", "pubsub"])
    await asyncio.to_thread(installation.store.ask, "CLIENT", "KILL", "TYPE", kind)
    return ActiveFault(installation.players)


async def fill_disk(installation: Installation, random: Random) -> ActiveFault:
    """Limit the store's log to its present size, so that the store exits; then remove the limit."""
    store = installation.store
    process = store.process
    assert process is not None
    logs = [path for path in (store.folder / "appendonlydir").iterdir() if path.suffix == ".aof"]
    size = max(path.stat().st_size for path in logs)
    # One byte more than the log has, so that the next write is cut short.
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size + 1, resource.RLIM_INFINITY))
    try:
        code = await asyncio.to_thread(process.wait, FULL_WITHIN)
    except BaseException:
        process.send_signal(signal.SIGKILL)
        raise
    assert code == 1, f"the store ended with exit code {code}"
    return ActiveFault(installation.players, partial(asyncio.to_thread, store.start))


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


STORE_FAULTS = (
    Fault(name="store killed", part="store", inject=kill, hold=(0.0, 0.5), from_heal=True),
    Fault(name="store hung", part="store", inject=hang, hold=(0.2, 1.5), from_heal=True),
    Fault(name="Functions flushed", part="store", inject=flush_functions),
    Fault(name="connections closed by the store", part="store", inject=kill_clients),
    Fault(
        name="store's disk full", part="store", inject=fill_disk, hold=(0.0, 0.5), from_heal=True
    ),
)

HUNG_LONG = Fault(
    name="store hung for long", part="store", inject=hang, hold=(2.5, 4.0), from_heal=True
)
"""A fault that lasts longer than a node waits for a reply."""

AWAY_LONG = Fault(
    name="store away for long", part="store", inject=kill, hold=(6.0, 10.0), from_heal=True
)
"""A fault that lasts longer than the time between two checks of the store."""

SETTINGS_CHANGED = Fault(
    name="store's settings changed",
    part="store",
    inject=change_settings,
    from_heal=True,
    is_alone=True,
)

GUARD_FAULTS = (SETTINGS_CHANGED,)
