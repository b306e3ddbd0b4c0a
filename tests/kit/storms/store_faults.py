"""A store that stands alone: killed, hung, robbed of its Functions, its clock stepped, its disk full."""

import asyncio
import resource
import signal
from functools import partial
from random import Random

from kit.stepping_clocks import SEEN_WITHIN, find_library
from kit.stores import StoreServer
from kit.storms.fault import Blow, Fault
from kit.storms.town import Town

MOST_STEPPED = 240
"""Seconds that the store's clock is ever away from the true time."""

NO_LIMIT = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)

FULL_WITHIN = 20.0
"""Seconds for a store to come upon its full disk."""


def _store(town: Town) -> StoreServer:
    assert town.standalone is not None
    return town.standalone


async def kill(town: Town, chance: Random) -> Blow:
    store = _store(town)
    await asyncio.to_thread(store.kill)
    return Blow(town.guests, partial(asyncio.to_thread, store.start))


async def hang(town: Town, chance: Random) -> Blow:
    store = _store(town)
    store.pause()
    return Blow(town.guests, partial(asyncio.to_thread, store.resume))


async def flush_functions(town: Town, chance: Random) -> Blow:
    reply = await asyncio.to_thread(_store(town).ask, "FUNCTION", "FLUSH", "SYNC")
    assert reply == b"+OK"
    return Blow(town.guests)


async def kill_clients(town: Town, chance: Random) -> Blow:
    """The store hangs up on everybody."""
    kind = chance.choice(["normal", "pubsub"])
    await asyncio.to_thread(_store(town).ask, "CLIENT", "KILL", "TYPE", kind)
    return Blow(town.guests)


async def step_clock(town: Town, chance: Random) -> Blow:
    """Minutes forth or back; it stays so until the next step."""
    assert town.store_clock is not None
    town.store_clock.set(chance.randint(-MOST_STEPPED, MOST_STEPPED))
    return Blow(town.guests)


async def fill_disk(town: Town, chance: Random) -> Blow:
    """The log can grow no more: with every write synced, the store gives up; then there is room."""
    store = _store(town)
    process = store.process
    assert process is not None
    logs = [path for path in (store.folder / "appendonlydir").iterdir() if path.suffix == ".aof"]
    size = max(path.stat().st_size for path in logs)
    # a byte more than there is, so that the next write is cut short
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size + 1, resource.RLIM_INFINITY))
    try:
        code = await asyncio.to_thread(process.wait, FULL_WITHIN)
    except BaseException:
        process.send_signal(signal.SIGKILL)
        raise
    assert code == 1, f"the store ended with {code}"
    return Blow(town.guests, partial(asyncio.to_thread, store.start))


CLOCK_STEPPED = Fault(
    name="store's clock stepped",
    part="clock",
    strike=step_clock,
    hold=(SEEN_WITHIN, SEEN_WITHIN),
    from_heal=True,
)

STORE_FAULTS = (
    *([CLOCK_STEPPED] if find_library() else []),
    Fault(name="store killed", part="store", strike=kill, hold=(0.0, 0.5), from_heal=True),
    Fault(name="store hung", part="store", strike=hang, hold=(0.2, 1.5), from_heal=True),
    Fault(name="Functions flushed", part="store", strike=flush_functions),
    Fault(name="clients killed by the store", part="store", strike=kill_clients),
    Fault(
        name="store's disk full", part="store", strike=fill_disk, hold=(0.0, 0.5), from_heal=True
    ),
)

HUNG_LONG = Fault(
    name="store hung until given up", part="store", strike=hang, hold=(2.5, 4.0), from_heal=True
)
"""Longer than a node waits for a reply."""
