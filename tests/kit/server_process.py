"""The server as a process, on a free port and with its embedded store; and other programs.

`running_server` starts one and waits for its ready line; the fixture `server_process` is one for a
single test. At the end the log is checked: an internal error fails the test, and so does a secret
that had to be withheld from the log.

`@pytest.mark.needs("nginx")` names programs that not every machine has. If one is missing, its
tests are deselected (not skipped) and the summary names it. With `CI` or `SARATOGA_NEED_PROGRAMS=1`
in the environment these tests run and fail. With `SARATOGA_NEED_REDIS=1` no test may be skipped or
expected to fail, and tests must have passed against redis-server.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from kit.altered_server import QUICK
from kit.stores import scratch_folder, wait_until
from saratoga_server.__main__ import main

READY: Final = "saratoga-server ready "
READY_WITHIN: Final = 30.0
"""Longest time in seconds until the ready line, including the start of the store."""
STOPPED_WITHIN: Final = 30.0
"""Longest time in seconds for a server to stop; it drains for at most 20 seconds."""
FAULTS: Final = ("server_fault", "withheld", "node_event_failed")


@dataclass
class ServerProcess:
    """A server process that can be killed and started again on the same data and port."""

    folder: Path
    flags: tuple[str, ...] = ()
    port: int = 0
    before: tuple[str, ...] = ()
    """The command prefix under which the server's program runs, such as `strace`; may be empty."""
    module: str = "saratoga_server"
    """The server's module, such as `altered_server.QUICK`."""
    process: asyncio.subprocess.Process | None = None
    log_to: int | None = None
    """A descriptor to log to, in place of the file `log`."""
    forgiven: set[str] = field(default_factory=set)
    """Events of `FAULTS` that this test causes on purpose."""

    @property
    def url(self) -> str:
        """Return the address for players."""
        return f"ws://127.0.0.1:{self.port}"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def store_socket(self) -> Path:
        """Return the socket of the embedded store."""
        return self.data / "store" / "store.sock"

    def store_pid(self) -> int:
        """Return the process id of the embedded store. Raises `OSError` if none runs."""
        return listener_of(self.store_socket)

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    async def start(self) -> None:
        """Start the process; return when the server is ready."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            logged_before = log.tell()
            self.process = await asyncio.create_subprocess_exec(
                *(
                    *self.before,
                    sys.executable,
                    "-m",
                    *self.module.split(),
                    "--port",
                    str(self.port),
                ),
                *("--data", str(self.data), "--metrics-port", "off", "--log-format", "json"),
                *self.flags,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=self.log_to or log,
                env=os.environ | {"PYTHONFAULTHANDLER": "1", "PYTHONPATH": python_path()},
            )
        assert self.process.stdout is not None
        async with asyncio.timeout(READY_WITHIN):
            line = await self.process.stdout.readline()
        assert line.decode().startswith(READY), self.log.read_text()
        self.port = int(line.decode().strip().rpartition(":")[2])
        if self.log_to is None and {"warning", "error"}.isdisjoint(self.flags):
            await self._until_logged("server_open", logged_before)

    async def _until_logged(self, event: str, after: int) -> None:
        """Wait for an event in the log behind its first `after` bytes."""
        async with asyncio.timeout(READY_WITHIN):
            while f'"{event}"'.encode() not in self.log.read_bytes()[after:]:  # noqa: ASYNC110
                await asyncio.sleep(0)

    async def kill(self) -> None:
        """Kill the server with SIGKILL; its embedded store then ends by itself."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> int:
        """Send SIGTERM and wait for the end of the drain; returns the exit code."""
        return await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> int:
        process, self.process = self.process, None
        if process is None:
            return 0
        if process.returncode is None:
            process.send_signal(how)
        try:
            async with asyncio.timeout(STOPPED_WITHIN):
                await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return process.returncode or 0

    async def admin(self, *words: str) -> str:
        """Run `saratoga-server admin` on the server's data, in a thread; return its output."""
        given = ["--data", str(self.data), "admin", *words]
        ended = await asyncio.to_thread(CliRunner().invoke, main, given)
        assert ended.exit_code == 0, ended.output
        return ended.stdout

    async def get(self, path: str) -> tuple[int, Any]:
        """Request an HTTP page; return the status, and the body as JSON data or text."""
        return await asyncio.to_thread(_fetched, f"http://127.0.0.1:{self.port}{path}")

    def events(self) -> list[dict[str, Any]]:
        """Return every event in the log."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines if line.startswith("{")]

    def check_log(self) -> None:
        """Fail if the log has internal errors, or secrets that had to be withheld."""
        faults = self.faults()
        # outside of pytest an assertion says nothing by itself
        assert not faults, faults

    def faults(self) -> list[dict[str, Any]]:
        """Return the events on which `check_log` fails."""
        return [
            event
            for event in self.events()
            for fault in FAULTS
            if (event["event"] == fault or fault in event) and fault not in self.forgiven
        ]


def _fetched(url: str) -> tuple[int, Any]:
    try:
        with urlopen(url, timeout=10) as answer:
            status, kind, body = answer.status, answer.headers["Content-Type"], answer.read()
    except HTTPError as fault:
        with fault:
            status, kind, body = fault.code, fault.headers["Content-Type"], fault.read()
    return status, json.loads(body) if kind == "application/json" else body.decode()


@asynccontextmanager
async def running_server(
    *flags: str,
    folder: Path | None = None,
    before: tuple[str, ...] = (),
    module: str = ServerProcess.module,
) -> AsyncIterator[ServerProcess]:
    """Run a server with the options `flags`; the command prefix `before` starts its program."""
    with scratch_folder() as scratch:
        server_process = ServerProcess(folder or scratch, flags, before=before, module=module)
        try:
            await server_process.start()
            yield server_process
        finally:
            await server_process.stop()
            await asyncio.to_thread(_wait_for_end_of_store, server_process)
        server_process.check_log()


def python_path() -> str:
    """Return a PYTHONPATH that includes the folder of the kit."""
    return os.pathsep.join(
        filter(None, (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")))
    )


def _wait_for_end_of_store(server_process: ServerProcess) -> None:
    """Wait until the embedded store has ended; it ends shortly after its server."""
    with contextlib.suppress(OSError):
        wait_until_gone(server_process.store_pid())


def flags_for(redis: str | None, more: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the options of a server on that store; `None` means its embedded store."""
    return (*(("--redis", redis) if redis else ()), *more)


@pytest.fixture
async def server_process() -> AsyncIterator[ServerProcess]:
    """A server process with its embedded store."""
    async with running_server() as opened:
        yield opened


@pytest.fixture
async def quick_server() -> AsyncIterator[ServerProcess]:
    """A server process with its embedded store and a short countdown."""
    async with running_server(module=QUICK) as opened:
        yield opened


@asynccontextmanager
async def nodes_on(
    redis: str | Sequence[str], count: int, *flags: str, module: str = ServerProcess.module
) -> AsyncIterator[list[ServerProcess]]:
    """Run `count` servers named `n1`, `n2` and so on, each with the options `flags`.

    `redis` is the address of the store, or one address of the same store for each server.
    """
    urls = [redis] * count if isinstance(redis, str) else redis
    async with AsyncExitStack() as stack:
        opening = (
            stack.enter_async_context(
                running_server(
                    *flags_for(url, ("--node", f"n{number}", "--rate", "0", *flags)), module=module
                )
            )
            for number, url in enumerate(urls[:count], start=1)
        )
        yield list(await asyncio.gather(*opening))


SIZE: Final = 4096
"""The size of the pipe in bytes, the smallest that Linux makes."""


@dataclass
class FullPipe:
    """A full pipe; whoever writes to it is blocked until the pipe is read."""

    read_end: int
    write_end: int

    def read_filling(self) -> None:
        """Read the bytes with which the pipe was filled."""
        filling = b""
        while len(filling) < SIZE:
            filling += os.read(self.read_end, SIZE - len(filling))
        assert filling == b"." * SIZE

    def read_line(self) -> str:
        """Read the next line, without its end."""
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self.read_end, 1)
            assert byte, "the pipe has no other end any more"
            line += byte
        return line[:-1].decode()

    def close(self) -> None:
        os.close(self.read_end)
        os.close(self.write_end)


@pytest.fixture
def full_pipe() -> Iterator[FullPipe]:
    """A pipe whose writer is blocked until the test reads."""
    pipe = FullPipe(*os.pipe())
    fcntl.fcntl(pipe.write_end, fcntl.F_SETPIPE_SZ, SIZE)
    os.write(pipe.write_end, b"." * SIZE)
    yield pipe
    pipe.close()


GONE_WITHIN = 20.0
"""Longest time in seconds that a test waits; a bound, not a measurement."""


def is_running(pid: int) -> bool:
    """Return whether the process is running; a zombie is not."""
    try:
        os.kill(pid, 0)
        # one that has ended may be listed until its parent takes note of it
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()


def wait_until_gone(pid: int) -> None:
    """Wait until the process has ended; it may be a child of another process."""
    wait_until(lambda: not is_running(pid), f"process {pid} does not end")


def running_with(*words: str) -> list[str]:
    """Return the command lines of all running processes that contain each of these words."""
    listed = subprocess.run(
        ("ps", "-A", "-ww", "-o", "stat=", "-o", "args="),
        capture_output=True,
        text=True,
        check=True,
    )
    alive = (line for line in listed.stdout.splitlines() if not line.startswith("Z"))
    return [line for line in alive if all(word in line for word in words)]


def wait_until_none_with(*words: str) -> None:
    """Wait until no process is running whose command line contains each of these words."""
    wait_until(lambda: not running_with(*words), f"a process with {words} does not end", 0.05)


def listener_of(path: Path) -> int:
    """Return the id of the process that listens on a Unix socket. Raise `OSError` if none does."""
    credentials = struct.Struct("3i")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, credentials.size)
    pid: int = credentials.unpack(peer)[0]
    return pid


def wait_for_listener(path: Path) -> int:
    """Wait until a process listens on a Unix socket; return its id."""

    def listener() -> int:
        with contextlib.suppress(OSError):
            return listener_of(path)
        return 0

    return wait_until(listener, f"no process listens on {path}")


NEEDED = "redis"
"""The word in the ids of tests against redis-server (`kit.stores`)."""


def faults(stats: dict[str, list[pytest.TestReport]]) -> list[str]:
    """Return the reasons why a test run was not complete."""
    found = [
        f"{kind}: {report.nodeid}"
        for kind in ("skipped", "xfailed", "xpassed")
        for report in stats.get(kind, [])
    ]
    passed = (report.nodeid for report in stats.get("passed", []))
    if not any(NEEDED in nodeid.rstrip("]").partition("[")[2].split("-") for nodeid in passed):
        found.append(f"no test passed against {NEEDED}-server")
    return found


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("SARATOGA_NEED_REDIS") != "1" or reporter is None:
        return  # not asked for, or a worker: the process that gathers the reports decides
    if hasattr(session.config, "workerinput") or session.config.option.collectonly:
        return
    missing = faults(reporter.stats)
    if missing:
        reporter.write_line("")
        for line in missing:
            reporter.write_line(f"not complete: {line}", red=True)
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


KNOWN = (
    "cc",
    "chromium-headless-shell",
    "docker-compose",
    "hadolint",
    "nginx",
    "node",
    "openssl",
    "prometheus",
    "prometheus-node-exporter",
    "prometheus-redis-exporter",
    "promtool",
    "redis-cli",
    "redis-server",
    "shellcheck",
    "faketime",
    "strace",
    "systemd-analyze",
)


def find_program(name: str) -> str | None:
    """Return a program's path: beside this Python, on PATH or in root's folders; or `None`."""
    beside = Path(sys.executable).with_name(name)
    if beside.exists():
        return str(beside)
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def program(name: str) -> str:
    """Return the path of a program; fail the test if the program is missing."""
    found = find_program(name)
    if found is None:
        pytest.fail(f"{name} is not installed, and this run must test with it")
    return found


def must_have_all() -> bool:
    """Return whether a missing program must fail its tests."""
    return bool(os.environ.get("CI")) or os.environ.get("SARATOGA_NEED_PROGRAMS") == "1"


def needed(item: pytest.Item) -> tuple[str, ...]:
    return tuple(name for mark in item.iter_markers("needs") for name in mark.args)


def missing_of(names: tuple[str, ...]) -> set[str]:
    return {name for name in names if find_program(name) is None}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unknown = {name for item in items for name in needed(item)} - set(KNOWN)
    assert not unknown, f"no such programs are known: {unknown}"
    if must_have_all():
        return
    left_out = [item for item in items if missing_of(needed(item))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_runtest_setup(item: pytest.Item) -> None:
    missing = missing_of(needed(item))
    if missing:
        pytest.fail(f"not installed, and this run must test with it: {', '.join(sorted(missing))}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    missing = missing_of(KNOWN)
    if missing and not must_have_all():
        terminalreporter.write_line(
            f"not tested because programs are missing: {', '.join(sorted(missing))}",
            yellow=True,
        )
