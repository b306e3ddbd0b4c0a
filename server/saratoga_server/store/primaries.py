"""Which primary owns which key: one owns all of them, or many of a cluster share them.

In a cluster the map is read from every node that answers, and whoever knows of the newest epoch is
believed: whenever something went wrong, and every few seconds, so that subscriptions move too.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.addresses import addresses
from saratoga_server.store.clients import open_client
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
"""Seconds between two readings of the map while nothing goes wrong."""
ANSWER_WITHIN: Final = 1.0
"""Seconds for a node to tell what it knows."""
OTHERS_WITHIN: Final = 0.1
"""Seconds that the others have once one has answered: a node that hangs holds nobody up."""

_log = EventLog("store")


@dataclass(frozen=True, slots=True, eq=False)
class Primary:
    """A store process that takes writes."""

    name: str
    """Its address, for the log; no password in it."""
    url: str = field(repr=False)
    client: "Redis" = field(repr=False)
    """Shared by everybody but the commits of moves. Repeats nothing by itself."""

    def open_client(self, tries: int = 0) -> "Redis":
        """A client of one's own for the same process, to be closed by whom it was made for."""
        return open_client(self.url, tries)


class Primaries:
    """The map of keys to primaries, as far as it is known."""

    def __init__(self, urls: tuple[str, ...], *, is_cluster: bool) -> None:
        """`urls`: of the store, or of some of a cluster's nodes, which tell of the others."""
        self.is_cluster = is_cluster
        self._urls = urls
        self._heard: list[Callable[[], None]] = []
        self._nodes: dict[Address, Primary] = {}
        """Of a cluster: every node known, replicas too."""
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
        """Who owns the key; whoever is asked for one that nobody owns says so."""
        return self._by_slot[slot_of(key)] if self.is_cluster else self._all[0]

    def all(self) -> tuple[Primary, ...]:
        """Every primary, each once; at least one."""
        return self._all

    def replicas(self) -> tuple[Primary, ...]:
        """Of a cluster, those who may be primaries tomorrow."""
        known = self._map.replicas if self._map else ()
        return tuple(self._nodes[address] for address in sorted(known))

    @property
    def is_whole(self) -> bool:
        """Whether every key has an owner, as far as is known."""
        return not self.is_cluster or (self._map is not None and self._map.served == SLOTS)

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have it called whenever another primary owns a key; returns what ends that."""
        self._heard.append(callback)
        return lambda: self._heard.remove(callback)

    async def refresh(self) -> None:
        """Read the map again, as far as anybody answers; those who ask at once share a reading."""
        if self.is_cluster:
            await asyncio.shield(self._under_way())

    def refresh_soon(self) -> None:
        """Read the map again; nobody waits for it."""
        if self.is_cluster:
            self._under_way().add_done_callback(_tell_fault)

    def _under_way(self) -> "asyncio.Task[None]":
        """The reading that goes on, or a new one."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        return self._reading

    async def open(self) -> None:
        """Read the map, and keep it; raise `StoreUnavailable` if a key has no owner."""
        await self.refresh()
        if not self.is_whole:
            raise StoreUnavailable(
                "the cluster does not serve every slot: look at `CLUSTER INFO`, and give out what "
                "nobody has with `CLUSTER ADDSLOTSRANGE`"
            )
        if self.is_cluster:
            self._keeping = asyncio.create_task(self._keep())

    async def close(self) -> None:
        for task in (self._keeping, self._reading):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        await _close({*self._nodes.values(), *self._all})

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_EVERY)
            try:
                await self.refresh()
            except (
                Exception
            ) as fault:  # the edge: whatever one reading comes to, the next one is made
                _log.error("map_not_read", fault=fault)

    async def _read(self) -> None:
        try:
            asked = [
                asyncio.create_task(_ask(address, node)) for address, node in self._nodes.items()
            ]
            told = await _answers(asked)
            if told:
                self._adopt(max(told, key=lambda each: (each.is_whole, each.epoch, each.served)))
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
        for callback in tuple(self._heard):
            callback()


async def _ask(address: Address, node: Primary) -> SlotMap | None:
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            pipeline = node.client.pipeline(transaction=False)
            # redis-py would make something of its own of the second
            pipeline.execute_command("CLUSTER", "INFO")
            pipeline.execute_command("CLUSTER", "SLOTS")
            info, slots = await pipeline.execute()
    except (RedisError, OSError, TimeoutError):
        return None
    return read_slots(info, slots, address)


async def _answers(asked: list["asyncio.Task[SlotMap | None]"]) -> list[SlotMap]:
    """What is told in time; the rest need not tell any more."""
    told: list[SlotMap] = []
    left = set(asked)
    within: float | None = None
    try:
        while left:
            done, left = await asyncio.wait(
                left, timeout=within, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                break
            told += [answer for task in done if (answer := task.result()) is not None]
            within = OTHERS_WITHIN if told else None
    finally:
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
    return told


def _tell_fault(reading: "asyncio.Task[None]") -> None:
    if not reading.cancelled() and (fault := reading.exception()) is not None:
        _log.error("map_not_read", fault=fault)


async def _close(nodes: Iterable[Primary]) -> None:
    for node in nodes:
        await node.client.aclose(close_connection_pool=True)


def _primary(url: str) -> Primary:
    name = url.partition("://")[2].partition("?")[0].rpartition("@")[2]
    return Primary(name, url, open_client(url, tries=0))


async def open_primaries(url: str, *, is_cluster: bool = False) -> Primaries:
    """The primaries behind an address, or behind several of a cluster, separated by commas."""
    primaries = Primaries(tuple(addresses(url)), is_cluster=is_cluster)
    try:
        await primaries.open()
    except BaseException:
        await primaries.close()
        raise
    return primaries
