"""Measure the time from the start of a server process until it is ready."""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from benchmarks.contestants import game_server, lone_store
from benchmarks.measuring import processor_seconds
from benchmarks.reports import Bar, Report

IMPORTS = (
    "import gc, os; gc.disable()\n"
    "import click, hiredis, msgspec, redis.asyncio, uvloop, websockets.server\n"
    "os._exit(0)"
)
"""A program that only imports the server's libraries, and exits without cleaning up."""

ROUNDS, QUICK_ROUNDS = 7, 5
MOST_TIMES = 5.0

IDLE_SECONDS, QUICK_IDLE_SECONDS = 30.0, 10.0
MOST_IDLE = 0.5
"""Percent of a core that an idle server and its store may use."""


async def start(report: Report, *, quick: bool) -> None:
    """Measure the start of a server with an empty embedded store, and the start of its parts."""
    with _bytecode():
        took = _in_turns(
            QUICK_ROUNDS if quick else ROUNDS,
            {
                "server": _server,
                "valkey": _valkey,
                "python": lambda: _program("pass"),
                "libraries": lambda: _program(IMPORTS),
            },
        )
    least = took["python"] + took["valkey"]
    report.table(
        ("from start to ready, empty store", "ms"),
        [
            ["Python (`python -c pass`)", took["python"]],
            ["bare Valkey, to its first PONG", took["valkey"]],
            ["both, one after the other", least],
            ["Python, importing the server's libraries", took["libraries"]],
            ["server with its embedded store, to its ready line", took["server"]],
        ],
    )
    times = took["server"] / least
    report.bar(Bar("ready, in starts of Valkey and Python", times, MOST_TIMES, " x"))
    idle = await _idle(QUICK_IDLE_SECONDS if quick else IDLE_SECONDS)
    report.bar(Bar("an idle server with its store, of a core", idle, MOST_IDLE, " %"))


async def _idle(seconds: float) -> float:
    """Return the percentage of a core that a server without players and its store use."""
    with game_server() as running:
        processes = (*running.servers, *running.stores)
        await asyncio.sleep(2.0)
        before = processor_seconds(processes)
        await asyncio.sleep(seconds)
        return 100 * (processor_seconds(processes) - before) / seconds


@contextmanager
def _bytecode() -> Iterator[None]:
    """Let programs start from compiled bytecode, as installed ones do, even if Python may not write any."""
    with (
        tempfile.TemporaryDirectory(prefix="saratoga-bench-") as folder,
        patch.dict(os.environ, PYTHONPYCACHEPREFIX=folder, PYTHONDONTWRITEBYTECODE=""),
    ):
        yield


def _in_turns(rounds: int, what: dict[str, Callable[[], float]]) -> dict[str, float]:
    """Return the median milliseconds of each start, taken in turns; the first round does not count."""
    took: dict[str, list[float]] = {name: [] for name in what}
    for number in range(rounds + 1):
        for name, once in what.items():
            seconds = once()
            if number:
                took[name].append(seconds * 1000)
    return {name: statistics.median(some) for name, some in took.items()}


def _server() -> float:
    """Return the seconds from the start of a server process to its ready line."""
    began = time.perf_counter()
    with game_server():
        return time.perf_counter() - began


def _valkey() -> float:
    """Return the seconds from the start of a Valkey process to its first PONG."""
    began = time.perf_counter()
    with lone_store():
        return time.perf_counter() - began


def _program(text: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", text], check=True)
    return time.perf_counter() - began
