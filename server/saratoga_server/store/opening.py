"""Open a store: connect and check it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from msgspec import Struct

from saratoga_server.background_tasks import cancel_all
from saratoga_server.logs import EventLog
from saratoga_server.ports import Durability, LedgerMemory, StoreUnavailable
from saratoga_server.store.addresses import SENTINELS
from saratoga_server.store.audit import AuditLog
from saratoga_server.store.boards import BoardStore
from saratoga_server.store.client import (
    STORE_TIMEOUT,
    Primary,
    StoreClient,
    elected_primary,
    load_into,
    primary_at,
)
from saratoga_server.store.commits import Commits
from saratoga_server.store.guard import StoreGuard
from saratoga_server.store.leaderboards import LeaderboardStore
from saratoga_server.store.link import Link, dial
from saratoga_server.store.news import News, NodeStore
from saratoga_server.store.open_races import OpenRaceStore
from saratoga_server.store.players import PlayerStore
from saratoga_server.store.preflight import check_store
from saratoga_server.store.tables import TableStore

_PAUSE: Final = 0.05
"""Seconds between two attempts to reach a store that is just starting."""

_log = EventLog("store")


class Store(Struct, frozen=True):
    """An open store, as nodes and administrative commands use it."""

    durability: Durability
    commits: Commits
    boards: BoardStore
    tables: TableStore
    open_races: OpenRaceStore
    players: PlayerStore
    leaderboards: LeaderboardStore
    audit: AuditLog
    nodes: NodeStore
    events: News
    client: StoreClient
    primary: Primary
    guard: StoreGuard
    watching: Sequence[asyncio.Task[None]]
    """The tasks that check the store; they end only if they fail."""


@asynccontextmanager
async def open_store(
    url: str,
    durability: Durability = Durability.SAFE,
    *,
    trust_store: bool = False,
    on_batch: Callable[[int], None] = lambda boards: None,
    on_lost: Callable[[], None] = lambda: None,
    memory: LedgerMemory | None = None,
    is_guarded: bool = True,
) -> AsyncIterator[Store]:
    """Connect to a store of any of the four kinds of address; yield it, then close it.

    Raises `StoreRefused` if the store's settings do not provide the `durability` level,
    `StoreUnavailable` if no store answers. `trust_store`: accept a store that does not show its
    settings. `on_batch` is called with the number of boards in each commit request, `on_lost` when
    the store has lost writes that were acknowledged. `memory`: the ledger that an earlier process
    saved. `is_guarded=False` skips the checks of the store's data and clock, for administrative
    commands that run beside a server.
    """
    primary = await _checked(url, durability, trust=trust_store)
    commits: Commits | None = None
    watching: list[asyncio.Task[None]] = []

    def stop_commits(reason: str) -> None:
        if commits is not None:
            commits.drop_connection(reason)

    try:
        guard = StoreGuard(
            primary,
            memory or LedgerMemory(),
            durability,
            trust=trust_store,
            on_refused=stop_commits,
            on_lost=on_lost,
        )

        client = StoreClient(primary, guard if is_guarded else None)
        await client.load_library()
        if is_guarded:
            await guard.open()
            watching.append(asyncio.create_task(guard.keep()))

        connect = partial(_connect, primary, guard if is_guarded else None)
        commits = Commits(connect, primary.confirmations, on_batch)
        guard.commits = commits
        commits.start()
        yield Store(
            durability=durability,
            commits=commits,
            boards=BoardStore(client),
            tables=TableStore(client),
            open_races=OpenRaceStore(client),
            players=PlayerStore(client),
            leaderboards=LeaderboardStore(client),
            audit=AuditLog(client),
            nodes=NodeStore(client),
            events=News(client),
            client=client,
            primary=primary,
            guard=guard,
            watching=watching,
        )
    finally:
        if commits is not None:
            await commits.close(STORE_TIMEOUT)
        if watching:
            await cancel_all(watching)
        await primary.client.aclose(close_connection_pool=True)
        # asyncio closes a socket one turn of the loop after its transport
        await asyncio.sleep(0)


async def _connect(primary: Primary, guard: StoreGuard | None) -> Link:
    """Return a connection for commits to a store that may be used.

    After a restart the store may have other settings or other data. A restart between the checks
    and the connection would go unseen, so the connection comes first.
    """
    if guard is not None:
        guard.doubt()
    link = await dial(await primary.locate())
    try:
        await primary.forget_idle()
        if guard is not None:
            await guard.admit()
        await load_into(primary)
        if guard is not None and guard.why_refused is not None:  # refused meanwhile
            raise StoreUnavailable(guard.why_refused)
    except BaseException:
        link.abort()
        raise
    return link


async def _checked(url: str, durability: Durability, *, trust: bool) -> Primary:
    """Return a store that may be used, after up to `STORE_TIMEOUT` in which it starts."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + STORE_TIMEOUT
    while True:
        try:
            is_watched = url.startswith(SENTINELS)
            primary = await elected_primary(url) if is_watched else primary_at(url)
            await _check_members(primary, durability, trust=trust)
            return primary
        except StoreUnavailable as error:
            if clock() > deadline:
                reason = str(error).rstrip(".")
                raise StoreUnavailable(
                    f"The store cannot be used: {reason}. Start it, or correct its address (--redis)."
                ) from None
        await asyncio.sleep(_PAUSE)


async def _check_members(primary: Primary, durability: Durability, *, trust: bool) -> None:
    """Check each process of a store; of several, one may be down."""
    several = len(primary.members) > 1
    for member in primary.members:
        try:
            await check_store(member, durability, trust=trust, may_follow=several)
        except StoreUnavailable as error:
            if not several:
                raise
            _log.warning("replica_unchecked", reason=str(error))
