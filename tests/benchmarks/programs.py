"""The programs that benchmarks compare: an echo server, and the game server."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import children
from kit.server_process import FAULTS, READY, python_path
from kit.stores import StoreServer
from kit.watched_store import watched_store
from saratoga_server.embedded_store.process import find_binary

NO_LIMITS = ("--rate", "0", "--limits-per-address", "off")
"""Options that switch off rate limits, which a closed loop would exceed."""

STOPPED_WITHIN = 40.0
"""Longest time in seconds for a server to stop: it drains for at most 20, and then its store ends."""


@dataclass(frozen=True, slots=True)
class Running:
    """A running program: its port, and the process ids of servers and stores."""

    port: int
    servers: tuple[int, ...]
    stores: tuple[int, ...] = ()


@contextmanager
def echo_server() -> Iterator[Running]:
    """Run `echo_server.py`."""
    command = [sys.executable, str(Path(__file__).parent / "echo_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield Running(int(server.stdout.readline()), (server.pid,))
        finally:
            server.terminate()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(
        prefix="saratoga-bench-", ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@contextmanager
def game_server(durability: str = "safe", *flags: str) -> Iterator[Running]:
    """Run a server with its own store, in a new folder on disk unless `flags` say otherwise.

    Raises `RuntimeError` at the end if the server logged an internal error.
    """
    with scratch_folder() as scratch, (scratch / "log").open("w") as log:
        command = [
            *(
                sys.executable,
                "-m",
                "saratoga_server",
                "--port",
                "0",
                "--data",
                str(scratch / "data"),
            ),
            *("--metrics-port", "off", "--log-level", "warning", "--log-format", "json"),
            *("--durability", durability, *NO_LIMITS, *flags),
        ]
        server = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=os.environ | {"PYTHONPATH": python_path()},
        )
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            if not line.startswith(READY):
                raise RuntimeError(f"no server started: {(scratch / 'log').read_text()[-2000:]}")
            stores = children(server.pid, "valkey-server")
            yield Running(int(line.rpartition(":")[2]), (server.pid,), stores)
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(0.1)
            server.terminate()  # the second one stops it at once
            with suppress(subprocess.TimeoutExpired):
                server.wait(STOPPED_WITHIN)
            server.kill()
            server.stdout.close()
        for said in (scratch / "log").read_text().splitlines():
            if any(f'"{fault}"' in said for fault in FAULTS):
                raise RuntimeError(f"the server logged an internal error: {said[:500]}")


@contextmanager
def lone_store(**settings: str) -> Iterator[StoreServer]:
    """Run a Valkey server that writes to disk, configured as the embedded store is."""
    with scratch_folder() as folder:
        store = StoreServer(str(find_binary()), folder, dict(settings))
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
            yield Running(running.port, running.servers, stores)
