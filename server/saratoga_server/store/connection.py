"""Opening the store: one object that fills every port."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Final

from msgspec import Struct

from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.addresses import addresses
from saratoga_server.store.audit import Audit
from saratoga_server.store.batches import Batches
from saratoga_server.store.boards import Boards
from saratoga_server.store.channel import Channel
from saratoga_server.store.cluster_preflight import check_rest
from saratoga_server.store.commits import Commits
from saratoga_server.store.durability import Durability
from saratoga_server.store.leaderboards import Leaderboards
from saratoga_server.store.line import Line
from saratoga_server.store.link import Link, load_into
from saratoga_server.store.nodes import Nodes
from saratoga_server.store.players import Players
from saratoga_server.store.preflight import Preflight, check_store
from saratoga_server.store.primaries import Primaries, Primary, open_primaries
from saratoga_server.store.tables import Tables
from saratoga_server.store_timeout import STORE_TIMEOUT

_PAUSE: Final = 0.05
"""Seconds between looks for a store that is just starting."""


class Store(Struct, frozen=True):
    """A store that is fit for use."""

    boards: Boards
    tables: Tables
    players: Players
    leaderboards: Leaderboards
    audit: Audit
    nodes: Nodes
    events: Channel
    link: Link
    primaries: Primaries
    fitness: Preflight


@asynccontextmanager
async def open_store(
    url: str,
    durability: Durability = Durability.SAFE,
    *,
    trust_store: bool = False,
    on_batch: Callable[[int], None] = lambda boards: None,
) -> AsyncIterator[Store]:
    """Connect to `redis://`, `rediss://` or `unix://`, or to a cluster; close when left.

    Of a cluster any node's address will do, or several separated by commas.

    Raises `StoreRefused` if the store is not fit for that level, `StoreUnavailable` if nobody
    answers. `trust_store` takes the host's word where the store does not show its settings.
    `on_batch` is told how many boards went in each commit.
    """
    fitness, primaries = await _found(url, durability, trust=trust_store)
    replicated = durability is Durability.REPLICATED
    commits: Commits | None = None

    async def connect(primary: Primary, line: Line) -> None:
        # a store that came back may have come back with other settings, or as a replica
        found = await check_store(primary.url, durability, trust=trust_store)
        if not found.is_primary:
            raise StoreUnavailable(f"{primary.name} is a replica by now")
        await line.open(primary.client)
        await load_into(primary)

    try:
        on_disk = await check_rest(primaries, fitness, durability, trust=trust_store)
        link = Link(primaries, replicated=replicated, on_disk=on_disk)
        await link.load_library()
        batches = Batches(replicated=replicated, on_disk=on_disk)
        commits = Commits(primaries, connect, batches, on_batch)
        commits.start()
        yield Store(
            boards=Boards(link, commits),
            tables=Tables(link),
            players=Players(link),
            leaderboards=Leaderboards(link),
            audit=Audit(link),
            nodes=Nodes(link),
            events=Channel(link),
            link=link,
            primaries=primaries,
            fitness=fitness,
        )
    finally:
        if commits is not None:
            await commits.close()
        await primaries.close()
        # a socket is closed a turn of the loop after its transport
        await asyncio.sleep(0)


async def _found(url: str, durability: Durability, *, trust: bool) -> tuple[Preflight, Primaries]:
    """Wait for a store that is just starting, for `STORE_TIMEOUT` at most.

    Of several addresses the first that answers speaks for all: only a cluster has several.
    """
    clock = asyncio.get_running_loop().time
    until = clock() + STORE_TIMEOUT
    urls = addresses(url)
    for place in count():
        try:
            fitness = await check_store(urls[place % len(urls)], durability, trust=trust)
            if len(urls) > 1 and not fitness.is_cluster:
                raise StoreRefused(
                    "Several addresses were given, but this store is no cluster. Give --redis the "
                    "address of one store."
                )
            return fitness, await open_primaries(url, is_cluster=fitness.is_cluster)
        except StoreUnavailable:
            if clock() > until:
                raise
        await asyncio.sleep(_PAUSE)
    raise AssertionError
