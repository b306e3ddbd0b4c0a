"""The programs that benchmarks compare: echo servers, and the game server with or without replaced parts."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import children
from kit.server_process import FAULTS, READY, python_path
from kit.stores import StoreServer
from kit.watched_store import watched_store
from saratoga_server.embedded_store.process import find_binary

HERE = Path(__file__).parent

NO_LIMITS = ("--rate", "0", "--limits-per-address", "off")
"""Options that switch off rate limits, which a closed loop would exceed."""

TWICE_AFTER = 0.1
STOPPED_WITHIN = 40.0
"""Longest time in seconds for a server to stop: it drains for at most 20, and then its store ends."""


@dataclass(frozen=True, slots=True)
class Running:
    """A running program: its ports, and the process ids of servers and stores."""

    ports: tuple[int, ...]
    servers: tuple[int, ...]
    stores: tuple[int, ...] = ()

    def same(self, number: int) -> Sequence[int]:
        """Return four ports for a table's racers, all of one server; tables use the servers in turn."""
        return (self.ports[number % len(self.ports)],) * 4

    def spread(self, number: int) -> Sequence[int]:
        """Return four ports for a table's racers, of all servers in turn."""
        return tuple(self.ports[seat % len(self.ports)] for seat in range(4))


@contextmanager
def echo_server(program: str = "echo_server.py", *options: str) -> Iterator[Running]:
    """Run an echo server from this folder."""
    command = [sys.executable, str(HERE / program), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield Running((int(server.stdout.readline()),), (server.pid,))
        finally:
            server.terminate()


@contextmanager
def game_server(
    durability: str = "safe",
    *flags: str,
    altered: Sequence[str] = (),
    limits: Sequence[str] = NO_LIMITS,
) -> Iterator[Running]:
    """Run a server with its own store, in a new folder on disk unless `flags` say otherwise.

    Raise `RuntimeError` at the end if the server logged an internal error.
    """
    program = ("kit.altered_server", ",".join(altered), "--") if altered else ("saratoga_server",)
    with tempfile.TemporaryDirectory(
        prefix="saratoga-bench-", ignore_cleanup_errors=True
    ) as scratch:
        log = Path(scratch) / "log"
        command = [
            *(
                sys.executable,
                *("-m", *program),
                "--port",
                "0",
                "--data",
                str(Path(scratch) / "data"),
            ),
            *("--metrics-port", "off", "--log-level", "warning", "--log-format", "json"),
            *("--durability", durability, *limits, *flags),
        ]
        with (
            log.open("w") as log_file,
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=log_file,
                text=True,
                env=os.environ | {"PYTHONPATH": python_path()},
            ) as server,
        ):
            assert server.stdout is not None
            try:
                line = server.stdout.readline()
                if not line.startswith(READY):
                    raise RuntimeError(f"no server started: {log.read_text()[-2000:]}")
                stores = children(server.pid, "valkey-server")
                yield Running((int(line.rpartition(":")[2]),), (server.pid,), stores)
            finally:
                _end(server)
        if not altered:
            check(log)


def _end(server: "subprocess.Popen[str]") -> None:
    """Stop a server at once, with a second SIGTERM."""
    server.terminate()
    time.sleep(TWICE_AFTER)
    server.terminate()
    try:
        server.wait(STOPPED_WITHIN)
    except subprocess.TimeoutExpired:
        server.kill()


def check(log: Path) -> None:
    """Raise `RuntimeError` if a server's log contains an internal error."""
    for line in log.read_text().splitlines():
        if any(f'"{fault}"' in line for fault in FAULTS):
            raise RuntimeError(f"the server logged an internal error: {line[:500]}")


@contextmanager
def lone_store(**settings: str) -> Iterator[StoreServer]:
    """Run a Valkey server that writes to disk, configured as the embedded store is."""
    with tempfile.TemporaryDirectory(
        prefix="saratoga-bench-", ignore_cleanup_errors=True
    ) as folder:
        store = StoreServer(str(find_binary()), Path(folder), dict(settings))
        store.start()
        try:
            yield store
        finally:
            store.kill()


@contextmanager
def replicated_server() -> Iterator[Running]:
    """Run a server with durability `replicated`; its primary and both replicas write to disk."""
    with watched_store(str(find_binary())) as store:
        stores = tuple(each.process.pid for each in store.stores if each.process)
        with game_server("replicated", "--redis", store.url) as running:
            yield Running(running.ports, running.servers, stores)
