"""A real store whose clock a test sets and whose calls a test can make fail.

The store is an embedded Valkey, started once and emptied for every test. Our Functions read the
time from a key instead of the machine's clock. They are loaded, and the
Valkey's settings are checked, only once: no test changes either.
"""

import asyncio
import atexit
import inspect
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import msgspec

from kit.stores import SCRATCH, StoreServer, binaries
from kit.tables import NOON
from saratoga_server.background_tasks import cancel_all
from saratoga_server.live.listener import Listener
from saratoga_server.ports import BoardCommit, CommitOutcome, Durability, Millis, StoreUnavailable
from saratoga_server.store import client, opening
from saratoga_server.store.client import SOURCE, Primary
from saratoga_server.store.commits import Commits
from saratoga_server.store.keys import table_key
from saratoga_server.store.news import News, NodeEvent
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.preflight import check_store

CLOCK = "test:clock"
STEPPED_SOURCE = SOURCE.replace(
    "  local time = redis.call('TIME')\n  return time[1] * 1000 + math.floor(time[2] / 1000)\n",
    f"  return tonumber(redis.call('GET', '{CLOCK}'))\n",
)
assert CLOCK in STEPPED_SOURCE, "the Functions read the time in another way"
assert "EXPIREAT" not in STEPPED_SOURCE, "a key expires by the machine's clock"

WRITES = frozenset(
    {
        *("commit", "save_table", "create_player", "claim_name", "set_banned"),
        *("forget_player", "append"),
    }
)
"""Methods that write, whose replies `lost_replies` counts."""

_idle: list[StoreServer] = []
_checked: set[str] = set()
"""The results of the checks made so far, by the store's URL."""
_stepped: set[str] = set()
"""The URLs of the Valkeys that have our Functions with the test's clock."""


class InventedTime:
    """A clock for servers and their store that changes only when a test sets it."""

    def __init__(self, at: int = NOON) -> None:
        self.store: StoreServer | None = None
        self.behind = 0
        """Milliseconds by which the store's clock is behind the servers', from the next step on."""
        self.at = at

    @property
    def at(self) -> int:
        """The time in milliseconds since 1970."""
        return self._at

    @at.setter
    def at(self, at: int) -> None:
        self._at = at
        self.store_at = Millis(at - self.behind)
        if self.store is not None:
            assert self.store.ask("SET", CLOCK, str(self.store_at)) == b"+OK"

    def steady(self) -> float:
        """Return the seconds since noon, for the server's monotonic clock."""
        return (self.at - NOON) / 1000


@dataclass
class StoreFaults:
    """Faults of a store, switched on and off by a test."""

    unavailable: bool = False
    """While true, every call raises `StoreUnavailable` and does nothing."""
    lost_replies: int = 0
    """The number of writes still to come that succeed, yet raise `StoreUnavailable`."""

    async def before(self) -> None:
        """Raise the error of a fault that prevents a store call."""
        await asyncio.sleep(0)
        if self.unavailable:
            raise StoreUnavailable("the store does not answer")

    def after(self, method: str) -> None:
        if method in WRITES and self.lost_replies > 0:
            self.lost_replies -= 1
            raise StoreUnavailable("the store does not answer")


class FaultyPort:
    """A port of a store; every call to it meets the store's faults first."""

    def __init__(self, port: object, faults: StoreFaults) -> None:
        self._port = port
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)
        if inspect.isasyncgenfunction(method):

            async def each(*args: object, **named: object) -> AsyncIterator[object]:
                await self._faults.before()
                async for found in method(*args, **named):
                    yield found

            return each

        async def called(*args: object, **named: object) -> object:
            await self._faults.before()
            found = await method(*args, **named)
            self._faults.after(name)
            return found

        return called


class FaultyCommits:
    """A store's commit port with the store's faults."""

    def __init__(self, commits: Commits, faults: StoreFaults) -> None:
        self._commits = commits
        self._faults = faults

    def commit(self, board: BoardCommit) -> asyncio.Future[CommitOutcome]:
        return asyncio.ensure_future(self._commit(board))

    async def ask(self) -> None:
        await self._faults.before()

    async def _commit(self, board: BoardCommit) -> CommitOutcome:
        await self._faults.before()
        outcome = await self._commits.commit(board)
        self._faults.after("commit")
        return outcome


class FaultyEvents(FaultyPort):
    """A store's event port that publishes nothing while the store is unavailable."""

    is_listening = True
    """True, because an `EventTap` listens for the node."""


class SteppedTables(FaultyPort):
    """A store's table port that uses the test's clock."""

    def __init__(self, port: object, faults: StoreFaults, time: InventedTime) -> None:
        super().__init__(port, faults)
        self._time = time

    async def now(self) -> Millis:
        await self._faults.before()
        return self._time.store_at


class SteppedStore(Store, frozen=True, kw_only=True):
    """An opened store with a clock that the test sets and with faults."""

    real: Store
    """The store without faults, to check what is stored."""
    server: StoreServer
    time: InventedTime
    faults: StoreFaults

    async def stored(self, code: str) -> tuple[int, bytes]:
        """Return the version and the encoded body of a stored table."""
        found = await self.real.tables.load_table(code)
        assert found is not None
        return found

    async def rewrite(self, code: str, body: bytes) -> None:
        """Replace a stored table without publishing an event, as if the event had been lost."""
        version, _ = await self.stored(code)
        await self.real.client.command(
            "HSET", table_key(code), "version", version + 1, "body", body
        )


@contextmanager
def empty_valkey() -> Iterator[StoreServer]:
    """Yield an empty Valkey server that no other test uses at the same time."""
    server = _idle.pop() if _idle else _started()
    server.delete_data()
    try:
        yield server
    finally:
        _idle.append(server)


@asynccontextmanager
async def empty_store() -> AsyncIterator[Store]:
    """Open an empty store that uses the machine's clock."""
    with empty_valkey() as server:
        _stepped.discard(server.url)
        async with open_store(server.url) as store:
            yield store


@asynccontextmanager
async def opened_on(
    server: StoreServer, time: InventedTime, faults: StoreFaults | None = None
) -> AsyncIterator[SteppedStore]:
    """Open the store on a running store process; several callers stand for several nodes."""
    faults = faults or StoreFaults()
    with (
        patch.object(opening, "check_store", _check_once),
        patch.object(opening, "load_into", _load_once),
        patch.object(client, "load_into", _load_once),
    ):
        async with open_store(server.url, Durability.SAFE) as real:
            faulty: dict[str, Any] = {
                **msgspec.structs.asdict(real),
                "commits": FaultyCommits(real.commits, faults),
                "tables": SteppedTables(real.tables, faults, time),
                "events": FaultyEvents(real.events, faults),
            }
            for name in ("boards", "players", "leaderboards", "audit", "nodes"):
                faulty[name] = FaultyPort(getattr(real, name), faults)
            yield SteppedStore(**faulty, real=real, server=server, time=time, faults=faults)


@asynccontextmanager
async def stepped_store(time: InventedTime | None = None) -> AsyncIterator[SteppedStore]:
    """Open an empty store with a clock that the test sets."""
    time = time or InventedTime()
    with empty_valkey() as server:
        time.store = server
        time.at = time.at
        try:
            async with opened_on(server, time) as store:
                yield store
        finally:
            time.store = None


async def _check_once(url: str, durability: Durability, **options: bool) -> None:
    """Check a Valkey as `check_store` does, unless an earlier test has."""
    if url not in _checked:
        await check_store(url, durability, **options)
        _checked.add(url)


async def _load_once(primary: Primary) -> None:
    """Load our Functions with the test's clock, unless an earlier test has."""
    [url] = primary.members
    if url not in _stepped:
        await primary.client.execute_command("FUNCTION", "LOAD", "REPLACE", STEPPED_SOURCE)
        _stepped.add(url)


def _started() -> StoreServer:
    """Start a Valkey that lives as long as this process."""
    binary = binaries()["valkey"]
    assert binary is not None
    folder = Path(tempfile.mkdtemp(prefix="saratoga-", dir=SCRATCH))
    server = StoreServer(binary, folder)
    server.start()

    def end() -> None:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return server


WITHIN = 20.0
"""Longest time in seconds that a test waits; a bound, not a measurement."""


class EventRecorder:
    """A listener that keeps every event it receives from other nodes."""

    def __init__(self, node: str) -> None:
        self.node = node
        self.events: list[NodeEvent] = []
        self.subscriptions = 0
        self.faults: list[Exception] = []
        """Errors that the next events raise, one each."""
        self.catch_up: asyncio.Event | None = None
        """If set, `subscribed` waits for this event and then fails."""
        self._stirred = asyncio.Event()

    def receive(self, event: NodeEvent) -> None:
        if self.faults:
            raise self.faults.pop()
        self.events.append(event)
        self._stirred.set()

    async def subscribed(self) -> None:
        self.subscriptions += 1
        self._stirred.set()
        if self.catch_up is not None:
            await self.catch_up.wait()
            raise StoreUnavailable("a primary is away")

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(WITHIN):
            while not holds():
                self._stirred.clear()
                await self._stirred.wait()

    async def receives(self, event: NodeEvent) -> None:
        await self.until(lambda: event in self.events)


@asynccontextmanager
async def recording(events: News, node: str) -> AsyncIterator[EventRecorder]:
    recorder = EventRecorder(node)
    task = asyncio.create_task(events.listen(cast(Listener, recorder)))
    try:
        await recorder.until(lambda: events.is_listening)
        yield recorder
    finally:
        await cancel_all([task])
        assert not events.is_listening
