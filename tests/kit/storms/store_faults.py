"""Faults of the store: killed, hung, Functions flushed, disk full."""

import asyncio
import resource
import signal
from functools import partial
from random import Random

from kit.storms.fault import ActiveFault, Fault
from kit.storms.installation import Installation

NO_LIMIT = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)

FULL_WITHIN = 20.0
"""Longest time in seconds for a store to notice its full disk."""


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
