"""Real stores for tests: started once a session, emptied between tests, killed and started again.

A test runs against the embedded Valkey. If Debian's redis-server is installed, `make long` runs all
of them against it too, and `make test` those that ask for `EVERY_STORE`. With `CI` or
`SARATOGA_NEED_REDIS=1` in the environment a missing redis-server is a failure.

A `SteppedStore` is an embedded Valkey, started once and emptied for every test, whose clock a test
sets and whose calls a test can make fail. Our Functions read the time from a key instead of the
machine's clock. They are loaded, and the Valkey's settings are checked, only once: no test changes
either.
"""

import asyncio
import atexit
import inspect
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast
from unittest.mock import patch

import msgspec
import pytest

from kit.faulty_link import lose_answers, open_link, to_socket
from kit.tables import NOON
from saratoga_server.background_tasks import cancel_all
from saratoga_server.embedded_store.process import find_binary
from saratoga_server.live.listener import Listener
from saratoga_server.ports import Durability, Millis, StoreUnavailable
from saratoga_server.store import client, opening
from saratoga_server.store.client import SOURCE, Primary
from saratoga_server.store.keys import table_key
from saratoga_server.store.news import News, NodeEvent
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.preflight import check_store

IN_MEMORY = Path("/dev/shm")
SCRATCH = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
"""The folder for the stores' files: in memory if possible, so that tests do not wait for disks."""

WITHIN = 20.0
"""Longest time in seconds that a test waits; a bound, not a measurement."""

Found = TypeVar("Found")


def wait_until(look: Callable[[], Found], otherwise: str, every: float = 0.005) -> Found:
    """Call a function until it returns something true, and return that; or fail with a sentence."""
    deadline = time.monotonic() + WITHIN
    while not (found := look()):
        assert time.monotonic() < deadline, otherwise
        time.sleep(every)
    return found


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a folder for the files of stores and servers, with a name short enough for sockets."""
    with tempfile.TemporaryDirectory(
        prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@dataclass
class StoreServer:
    """A store process with a folder of its own."""

    binary: str
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    """The command prefix under which the store's program runs, such as `env`; may be empty."""
    file: Path | None = None
    """A settings file, which the settings overrule."""
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def socket(self) -> Path:
        return self.folder / "s"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def start(self) -> None:
        """Start with the data in the folder; return when the store responds."""
        settings = {
            "port": "0",
            "unixsocket": str(self.socket),
            "dir": str(self.folder),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
            "maxmemory-policy": "noeviction",
            "repl-diskless-sync-delay": "0",
            "logfile": str(self.folder / "log"),
        } | self.settings
        flags = [part for name, value in settings.items() for part in (f"--{name}", value)]
        self._start([str(self.file), *flags] if self.file else flags)

    def start_on(self, file: Path, *flags: str) -> None:
        """Start with a settings file, which must name the socket of this object."""
        self._start([str(file), *flags])

    def _start(self, arguments: list[str]) -> None:
        self.socket.unlink(missing_ok=True)
        command = [*self.before, self.binary, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)

        def answers() -> bool:
            assert self.process is None or self.process.poll() is None, self.log()
            return self.ask("PING") == b"+PONG"

        wait_until(answers, "the store does not start", every=0.002)

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def ask(self, *words: str) -> bytes:
        """Return the first line of the reply to a command; empty if the store does not respond."""
        return self.ask_all(*words).partition(b"\r\n")[0]

    def ask_all(self, *words: str) -> bytes:
        """Return the first chunk of the reply to a command."""
        packed = b"".join(b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words)
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(5)
                connection.connect(str(self.socket))
                connection.sendall(b"*%d\r\n%s" % (len(words), packed))
                return connection.recv(1 << 16)
        except OSError:
            return b""

    def wait_for(self, *words: str, says: bytes) -> None:
        """Repeat a command until the store's reply contains `says`."""
        wait_until(
            lambda: says in self.ask_all(*words), f"the reply never contained {says!r}", 0.002
        )

    def kill(self) -> None:
        """Send SIGKILL and wait for the end of the process."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def shut_down(self) -> None:
        """Send SHUTDOWN, as an administrator does, and wait for the end of the process."""
        if self.process is not None:
            self.ask("SHUTDOWN")
            self.process.wait()
            self.process = None

    def pause(self) -> None:
        """Stop the process with SIGSTOP; its connections stay open."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def delete_data(self) -> None:
        """Delete all keys; Functions stay."""
        assert self.ask("FLUSHALL", "SYNC") == b"+OK"

    def empty(self) -> None:
        """Delete all keys and all Functions."""
        self.delete_data()
        assert self.ask("FUNCTION", "FLUSH", "SYNC") == b"+OK"


def free_port() -> int:
    """Return a TCP port that no other process is given as long as this process runs.

    It lies below those that systems give to connections. On Linux it stays reserved: a bound socket
    that does not listen keeps it from all programs, except those that ask for this port with
    SO_REUSEADDR, as servers do.
    """
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            # after the bind, which must fail at a port that another test has reserved
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if sys.platform == "linux":
                probe.detach()
            return port


def binaries() -> dict[str, str | None]:
    """Return the store programs to test against; `None` marks a required one that is missing."""
    found: dict[str, str | None] = {"valkey": str(find_binary())}
    redis = shutil.which("redis-server")
    if redis or os.environ.get("CI") or os.environ.get("SARATOGA_NEED_REDIS") == "1":
        found["redis"] = redis
    return found


def binary_of(kind: str) -> str:
    """Return a store program to test against; fail if it is missing."""
    found = binaries()[kind]
    assert found is not None, "redis-server is not installed, and this run must test against it"
    return found


EVERY_STORE = list(binaries())
"""The kinds of store, for tests of what a store does rather than of what our code makes of it."""

KINDS = [
    kind if kind == "valkey" else pytest.param(kind, marks=pytest.mark.long) for kind in EVERY_STORE
]
"""The same for all other tests, for which one kind is enough in a short run."""

_ran: set[str] = set()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _ran:
        terminalreporter.write_line(f"stores tested: {', '.join(sorted(_ran))}")


@pytest.fixture(scope="session")
def store_servers() -> Iterator[dict[str, StoreServer]]:
    """Running stores by kind."""
    with scratch_folder() as folder:
        running = {}
        try:
            for kind in binaries():
                (folder / kind).mkdir()
                running[kind] = StoreServer(binary_of(kind), folder / kind)
                running[kind].start()
            yield running
        finally:
            for server in running.values():
                server.kill()


@pytest.fixture(params=KINDS)
def store_server(
    request: pytest.FixtureRequest, store_servers: dict[str, StoreServer]
) -> StoreServer:
    """An empty real store, shared by the tests of the session one after another."""
    _ran.add(request.param)
    server = store_servers[request.param]
    server.empty()
    return server


LOSSY = "valkey, first answers lost"


@pytest.fixture(params=[*EVERY_STORE, LOSSY])
async def store(
    request: pytest.FixtureRequest, store_servers: dict[str, StoreServer]
) -> AsyncIterator[Store]:
    """An empty, opened store of every kind; with one kind the first reply to each call is lost."""
    _ran.add(request.param)
    server = store_servers[request.param.partition(",")[0]]
    server.empty()
    if request.param == LOSSY:
        socket = server.folder / "lossy"
        async with (
            open_link(to_socket(server.socket), lose_answers(), socket=socket) as link,
            open_store(link.url, Durability.SAFE) as opened,
        ):
            yield opened
        return
    async with open_store(server.url, Durability.SAFE) as opened:
        yield opened


calm = pytest.mark.parametrize("store", KINDS, indirect=True)
"""Stores without lost replies, for tests with so many calls that losses would take minutes."""


@pytest.fixture(params=KINDS)
def mortal_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StoreServer]:
    """A real store for this test alone, which the test may kill and start again."""
    _ran.add(request.param)
    binary = binary_of(request.param)
    with scratch_folder() as folder:
        server = StoreServer(binary, folder)
        server.start()
        try:
            yield server
        finally:
            server.kill()


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

PORTS = ("commits", "events", "boards", "players", "leaderboards", "audit", "nodes")
"""The parts of a store that do what tests let fail, but for the tables."""

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

    is_listening = True
    """True, because an `EventTap` listens for the node."""

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

        if inspect.iscoroutinefunction(method):
            return called
        return lambda *args, **named: asyncio.ensure_future(called(*args, **named))


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

    async def rewrite(self, code: str, body: bytes) -> None:
        """Replace a stored table without publishing an event, as if the event had been lost."""
        command, key = self.real.client.command, table_key(code)
        await command("HINCRBY", key, "version", 1)
        await command("HSET", key, "body", body)


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
            faulty: dict[str, Any] = msgspec.structs.asdict(real)
            for name in PORTS:
                faulty[name] = FaultyPort(faulty[name], faults)
            faulty["tables"] = SteppedTables(real.tables, faults, time)
            yield SteppedStore(**faulty, real=real, server=server, time=time, faults=faults)


@asynccontextmanager
async def stepped_store() -> AsyncIterator[SteppedStore]:
    """Open an empty store with a clock that the test sets."""
    time = InventedTime()
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
    stack = ExitStack()
    atexit.register(stack.close)
    server = StoreServer(binary_of("valkey"), stack.enter_context(scratch_folder()))
    stack.callback(server.kill)
    server.start()
    return server


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
