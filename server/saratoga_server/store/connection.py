"""Opening the store: one object that fills every port."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.audit import Audit
from saratoga_server.store.boards import Boards
from saratoga_server.store.commits import Commits
from saratoga_server.store.durability import Durability
from saratoga_server.store.fitness import Fitness, check_fitness
from saratoga_server.store.leaderboards import Leaderboards
from saratoga_server.store.line import Line
from saratoga_server.store.link import PATIENCE, Link
from saratoga_server.store.nodes import Nodes
from saratoga_server.store.players import Players
from saratoga_server.store.primaries import Primaries, open_primaries
from saratoga_server.store.tables import Tables

_PAUSE: Final = 0.05
"""Seconds between looks for a store that is just starting."""


@dataclass(frozen=True, slots=True)
class Store:
    """A store that is fit for use."""

    boards: Boards
    tables: Tables
    players: Players
    leaderboards: Leaderboards
    audit: Audit
    nodes: Nodes
    link: Link
    primaries: Primaries
    fitness: Fitness


@asynccontextmanager
async def open_store(
    url: str,
    durability: Durability = Durability.SAFE,
    *,
    trust_store: bool = False,
    on_batch: Callable[[int], None] = lambda boards: None,
) -> AsyncIterator[Store]:
    """Connect to `redis://`, `rediss://` or `unix://`; close when left.

    Raises `StoreRefused` if the store is not fit for that level, `StoreUnavailable` if nobody
    answers. `trust_store` takes the host's word where the store does not show its settings.
    `on_batch` is told how many boards went in each commit.
    """
    fitness = await _checked(url, durability, trust=trust_store)
    primaries = await open_primaries(url)
    link = Link(primaries, durability)
    commits: Commits | None = None

    async def connect(line: Line) -> None:
        # a store that came back may have come back with other settings
        await check_fitness(url, durability, trust=trust_store)
        await line.open(primaries.all()[0].client)
        await link.load_library()

    try:
        await link.load_library()
        commits = Commits(connect, durability, on_batch)
        commits.start()
        yield Store(
            boards=Boards(link, commits),
            tables=Tables(link),
            players=Players(link),
            leaderboards=Leaderboards(link),
            audit=Audit(link),
            nodes=Nodes(link),
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


async def _checked(url: str, durability: Durability, *, trust: bool) -> Fitness:
    """Wait for a store that is just starting, for `PATIENCE` at most."""
    clock = asyncio.get_running_loop().time
    until = clock() + PATIENCE
    while True:
        try:
            return await check_fitness(url, durability, trust=trust)
        except StoreUnavailable:
            if clock() > until:
                raise
        await asyncio.sleep(_PAUSE)
