"""Real stores for tests: started once a session, emptied between tests, killed and started again.

`store` runs a test against the fake, the embedded Valkey, Debian's redis-server where it is
installed, and a cluster of three primaries. `CI` or `SARATOGA_NEED_REDIS=1` in the environment makes a missing redis-server a failure.
"""

import functools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kit.fake_store import FakeStore, open_fake_store
from kit.faulty_link import link_to_store
from kit.link_faults import lose_first_answers
from saratoga_server.embedded_store.process import find_binary
from saratoga_server.store.durability import Durability
from saratoga_server.store.opening import Store, open_store

if TYPE_CHECKING:
    from kit.cluster import Cluster

IN_MEMORY = Path("/dev/shm")
SCRATCH = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
"""Where stores keep their files: syncing is the same work for them, but tests need not wait for disks."""

READY_WITHIN = 20.0
"""Seconds for a store to load its file and answer."""


@dataclass
class StoreServer:
    """One store process on a folder of its own."""

    binary: str
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    """What the store's program is run by."""
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def socket(self) -> Path:
        return self.folder / "s"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def start(self) -> None:
        """Start on what the folder holds; return when it answers."""
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
        self._start([part for name, value in settings.items() for part in (f"--{name}", value)])

    def start_on(self, file: Path) -> None:
        """Start as a file of settings says; its socket is ours."""
        self._start([str(file)])

    def _start(self, arguments: list[str]) -> None:
        self.socket.unlink(missing_ok=True)
        command = [*self.before, self.binary, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + READY_WITHIN
        while self.ask("PING") != b"+PONG":
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, "the store does not come up"
            time.sleep(0.002)

    def ask(self, *words: str) -> bytes:
        """The first line of the reply to one command; nothing if nobody answers."""
        return self.ask_all(*words).partition(b"\r\n")[0]

    def ask_all(self, *words: str) -> bytes:
        """The reply to one command, as far as it comes in one piece."""
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
        """Until the reply to a command contains those words."""
        deadline = time.monotonic() + READY_WITHIN
        while says not in self.ask_all(*words):
            assert time.monotonic() < deadline, f"never said {says!r}"
            time.sleep(0.002)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def shut_down(self) -> None:
        """As its host would, and wait until it is gone."""
        if self.process is not None:
            self.ask("SHUTDOWN")
            self.process.wait()
            self.process = None

    def pause(self) -> None:
        """Let it hang, its connections open."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def empty(self) -> None:
        """As on the first day, Functions included."""
        assert self.ask("FLUSHALL", "SYNC") == b"+OK"
        assert self.ask("FUNCTION", "FLUSH", "SYNC") == b"+OK"


@contextmanager
def replica_of(
    primary: StoreServer, settings: dict[str, str] | None = None
) -> Iterator[StoreServer]:
    """A replica of a store, in step with it; the store is started anew for that."""
    port = free_port()
    primary.kill()
    primary.settings |= {"port": str(port), "bind": "127.0.0.1", "repl-diskless-sync-delay": "0"}
    primary.start()
    with tempfile.TemporaryDirectory(
        prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True
    ) as folder:
        own = {"replicaof": f"127.0.0.1 {port}", "replica-read-only": "yes"}
        server = StoreServer(primary.binary, Path(folder), own | (settings or {}))
        try:
            server.start()
            server.wait_for("INFO", "replication", says=b"master_link_status:up")
            primary.wait_for("INFO", "replication", says=b"state=online")
            yield server
        finally:
            server.kill()


def free_port() -> int:
    """A TCP port that nobody uses at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def binaries() -> dict[str, str | None]:
    """The store programs to test against; None: it is missing, and must not be."""
    found: dict[str, str | None] = {"valkey": str(find_binary())}
    redis = shutil.which("redis-server")
    if redis or os.environ.get("CI") or os.environ.get("SARATOGA_NEED_REDIS") == "1":
        found["redis"] = redis
    return found


_ran: set[str] = set()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _ran:
        terminalreporter.write_line(f"stores tested: {', '.join(sorted(_ran))}")


@pytest.fixture(scope="session")
def store_servers() -> Iterator[dict[str, StoreServer]]:
    """Running stores by kind, as tests ask for them."""
    running: dict[str, StoreServer] = {}
    with tempfile.TemporaryDirectory(
        prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True
    ) as folder:
        try:
            yield _Servers(Path(folder), running)
        finally:
            for server in running.values():
                server.kill()


class _Servers(dict[str, StoreServer]):
    """Starts a store when it is first asked for."""

    def __init__(self, folder: Path, running: dict[str, StoreServer]) -> None:
        super().__init__()
        self._folder = folder
        self._running = running

    def __missing__(self, kind: str) -> StoreServer:
        binary = binaries()[kind]
        if binary is None:
            pytest.fail("redis-server is not installed, and this run must test against it")
        folder = self._folder / kind
        folder.mkdir()
        server = self[kind] = self._running[kind] = StoreServer(binary, folder)
        server.start()
        return server


@pytest.fixture(params=list(binaries()))
def store_server(
    request: pytest.FixtureRequest, store_servers: dict[str, StoreServer]
) -> StoreServer:
    """An empty real store, shared by the session's tests one after the other."""
    _ran.add(request.param)
    server = store_servers[request.param]
    server.empty()
    return server


LOSSY = "valkey, first answers lost"
CLUSTER = "cluster"


@pytest.fixture(scope="session")
def primaries_only() -> Iterator[Callable[[], "Cluster"]]:
    """A cluster of three primaries that starts when it is first asked for."""
    from kit.cluster import running_cluster

    with ExitStack() as stack:
        yield functools.cache(lambda: stack.enter_context(running_cluster(replicas=False)))


@pytest.fixture
def trio(primaries_only: Callable[[], "Cluster"]) -> "Cluster":
    """A cluster of three primaries without replicas, empty."""
    cluster = primaries_only()
    cluster.empty()
    return cluster


@pytest.fixture(params=["fake", *binaries(), LOSSY, CLUSTER])
async def store(
    request: pytest.FixtureRequest,
    store_servers: dict[str, StoreServer],
    primaries_only: Callable[[], "Cluster"],
) -> AsyncIterator[Store | FakeStore]:
    """An empty store of every kind, opened; one of them does everything twice."""
    _ran.add(request.param)
    if request.param == "fake":
        async with open_fake_store() as fake:
            yield fake
        return
    if request.param == CLUSTER:
        cluster = primaries_only()
        cluster.empty()
        async with open_store(cluster.url, Durability.SAFE) as opened:
            yield opened
        return
    server = store_servers[request.param.partition(",")[0]]
    server.empty()
    if request.param == LOSSY:
        socket = server.folder / "lossy"
        async with (
            link_to_store(server.socket, socket, lose_first_answers()) as link,
            open_store(link.url, Durability.SAFE) as opened,
        ):
            yield opened
        return
    async with open_store(server.url, Durability.SAFE) as opened:
        yield opened


calm = pytest.mark.parametrize("store", ["fake", *binaries(), CLUSTER], indirect=True)
"""For tests with so many calls that losing an answer to each would take minutes."""


@pytest.fixture(params=list(binaries()))
def mortal_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StoreServer]:
    """A real store of the test's own, to be killed and started again."""
    _ran.add(request.param)
    binary = binaries()[request.param]
    if binary is None:
        pytest.fail("redis-server is not installed, and this run must test against it")
    with tempfile.TemporaryDirectory(
        prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True
    ) as folder:
        server = StoreServer(binary, Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.kill()
