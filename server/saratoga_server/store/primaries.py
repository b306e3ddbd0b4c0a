"""The map of keys to primaries. A single store owns all keys; a cluster's primaries share them.

A cluster's slot map is read from every node that answers, and the answer with the newest epoch wins. It is
read again after every error, and every few seconds, so that subscriptions move too.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.addresses import addresses
from saratoga_server.store.clients import open_client
from saratoga_server.store.keys import DUE_KEYS, partition
from saratoga_server.store.slots import (
    SLOTS,
    Address,
    SlotMap,
    address_of,
    read_slots,
    slot_of,
    url_at,
)

REFRESH_EVERY: Final = 2.0
"""Seconds between two readings of the slot map without errors."""
ANSWER_WITHIN: Final = 1.0
"""Seconds for a node to answer."""
OTHERS_WITHIN: Final = 0.1
"""Seconds for the other nodes to answer after the first, so that a hung node delays nothing."""

_log = EventLog("store")


@dataclass(frozen=True, slots=True, eq=False)
class Primary:
    """A store process that takes writes."""

    name: str
    """The address for the log, without a password."""
    url: str = field(repr=False)
    client: "Redis" = field(repr=False)
    """The client for everything but commits and subscriptions. It does not retry."""


class Primaries:
    """The primaries of a store, and the keys that each of them owns."""

    def __init__(self, urls: tuple[str, ...], *, is_cluster: bool) -> None:
        """`urls`: the URL of the store, or URLs of some nodes of a cluster."""
        self.is_cluster = is_cluster
        self._urls = urls
        self.revision = 0
        """The number of changes of ownership so far."""
        self._change = asyncio.Event()
        self._nodes: dict[Address, Primary] = {}
        """Every known node of a cluster, replicas included."""
        self._map: SlotMap | None = None
        self._by_slot: list[Primary] = []
        self._all: tuple[Primary, ...] = ()
        self._reading: asyncio.Task[None] | None = None
        self._keeping: asyncio.Task[None] | None = None
        if is_cluster:
            self._nodes = {address_of(url): _primary(url) for url in urls}
        else:
            self._all = (_primary(urls[0]),)

    def of(self, key: str | bytes) -> Primary:
        """Return the key's owner; for a slot without owner any primary, which will refuse the command."""
        return self._by_slot[slot_of(key)] if self.is_cluster else self._all[0]

    def of_table(self, code: str) -> Primary:
        """Return the owner of a table's partition."""
        return self.of(DUE_KEYS[partition(code)])

    def all(self) -> tuple[Primary, ...]:
        """Return all primaries, at least one."""
        return self._all

    def replicas(self) -> tuple[Primary, ...]:
        """Return the replicas of a cluster, each of which may become a primary."""
        known = self._map.replicas if self._map else ()
        return tuple(self._nodes[address] for address in sorted(known))

    @property
    def is_whole(self) -> bool:
        """True if every key has an owner."""
        return not self.is_cluster or (self._map is not None and self._map.served == SLOTS)

    async def changed_since(self, revision: int) -> None:
        """Wait until ownership has changed since `revision`; a single store never changes."""
        while self.revision == revision:
            await self._change.wait()

    async def refresh(self) -> None:
        """Read the map again from the nodes that answer; concurrent calls share one reading."""
        if self.is_cluster:
            await asyncio.shield(self._current_reading())

    def refresh_soon(self) -> None:
        """Read the map again in the background."""
        if self.is_cluster:
            self._current_reading().add_done_callback(_log_fault)

    def _current_reading(self) -> "asyncio.Task[None]":
        """Return the reading in progress, or begin one."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        return self._reading

    async def open(self) -> None:
        """Read the map, and keep it up to date; raise `StoreUnavailable` if a key has no owner."""
        await self.refresh()
        if not self.is_whole:
            raise StoreUnavailable(
                "the cluster does not serve every slot: see `CLUSTER INFO`, and assign the missing slots "
                "with `CLUSTER ADDSLOTSRANGE`"
            )
        if self.is_cluster:
            self._keeping = asyncio.create_task(self._keep_current())

    async def close(self) -> None:
        for task in (self._keeping, self._reading):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        await _close({*self._nodes.values(), *self._all})

    async def _keep_current(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_EVERY)
            try:
                await self.refresh()
            except Exception as error:  # after any error, read again
                _log.error("slot_map_read_failed", fault=error)

    async def _read(self) -> None:
        try:
            asked = [
                asyncio.create_task(_ask(address, node)) for address, node in self._nodes.items()
            ]
            maps = await _answers(asked)
            if maps:
                self._adopt(max(maps, key=lambda each: (each.is_whole, each.epoch, each.served)))
        finally:
            self._reading = None

    def _adopt(self, found: SlotMap) -> None:
        if not found.ranges or found == self._map:
            return
        before, self._map = self._map, found
        for address in found.primaries | found.replicas:
            if address not in self._nodes:
                self._nodes[address] = _primary(url_at(self._urls[0], address))
        if before is not None and before.ranges == found.ranges:
            return
        owners = {address: self._nodes[address] for address in sorted(found.primaries)}
        self._all = tuple(owners.values())
        self._by_slot = [self._all[0]] * SLOTS
        for first, last, address in found.ranges:
            self._by_slot[first : last + 1] = [owners[address]] * (last + 1 - first)
        if before is not None:
            names = " ".join(primary.name for primary in self._all)
            _log.info("primaries_changed", primaries=names, epoch=found.epoch)
        self.revision += 1
        self._change.set()
        self._change = asyncio.Event()


async def _ask(address: Address, node: Primary) -> SlotMap | None:
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            pipeline = node.client.pipeline(transaction=False)
            # as one word, redis-py would know the command and parse its reply
            pipeline.execute_command("CLUSTER", "INFO")
            pipeline.execute_command("CLUSTER", "SLOTS")
            info, slots = await pipeline.execute()
    except (RedisError, OSError, TimeoutError):
        return None
    return read_slots(info, slots, address)


async def _answers(asked: list["asyncio.Task[SlotMap | None]"]) -> list[SlotMap]:
    """Return the slot maps that arrive in time; cancel the other requests."""
    maps: list[SlotMap] = []
    left = set(asked)
    within: float | None = None
    try:
        while left:
            done, left = await asyncio.wait(
                left, timeout=within, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                break
            maps += [answer for task in done if (answer := task.result()) is not None]
            within = OTHERS_WITHIN if maps else None
    finally:
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
    return maps


def _log_fault(reading: "asyncio.Task[None]") -> None:
    if not reading.cancelled() and (fault := reading.exception()) is not None:
        _log.error("slot_map_read_failed", fault=fault)


async def _close(nodes: Iterable[Primary]) -> None:
    for node in nodes:
        await node.client.aclose(close_connection_pool=True)


def _primary(url: str) -> Primary:
    name = url.partition("://")[2].partition("?")[0].rpartition("@")[2]
    return Primary(name, url, open_client(url))


async def open_primaries(url: str, *, is_cluster: bool = False) -> Primaries:
    """Return the primaries at an address, or at several of a cluster, separated by commas."""
    primaries = Primaries(tuple(addresses(url)), is_cluster=is_cluster)
    try:
        await primaries.open()
    except BaseException:
        await primaries.close()
        raise
    return primaries
