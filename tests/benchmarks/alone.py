"""Measure what needs no load: the start of a server, and an idle server."""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from unittest.mock import patch

from benchmarks.measuring import processor_seconds
from benchmarks.programs import game_server, lone_store, scratch_folder
from benchmarks.reports import Report

IMPORTS = (
    "import gc, os; gc.disable()\n"
    "import click, hiredis, msgspec, redis.asyncio, uvloop, websockets.server\n"
    "os._exit(0)"
)
"""A program that only imports the server's libraries, and exits without cleaning up."""


async def start(report: Report, *, quick: bool) -> None:
    """Measure the start of a server with an empty embedded store, and the start of its parts."""
    starts: dict[str, Callable[[], float]] = {
        "Python (`python -c pass`)": lambda: _program("pass"),
        "bare Valkey, to its first PONG": lambda: _opened(lone_store),
        "Python, importing the server's libraries": lambda: _program(IMPORTS),
        "server with its embedded store, to its ready line": lambda: _opened(game_server),
    }
    took: dict[str, list[float]] = {name: [] for name in starts}
    with scratch_folder() as folder:
        # from compiled bytecode, as installed programs do, even if Python may not write any
        bytecode = {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}
        with patch.dict(os.environ, bytecode):
            for number in range(6 if quick else 8):
                for name, once in starts.items():
                    seconds = once()
                    if number:  # the first round compiles
                        took[name].append(seconds * 1000)
    medians = {name: statistics.median(some) for name, some in took.items()}
    python, valkey, _, server = medians.values()
    report.table(("from start to ready, empty store", "ms"), list(medians.items()))
    report.bar("ready, in starts of Valkey and Python", server / (python + valkey), 5.0)
    seconds = 10.0 if quick else 30.0
    with game_server() as running:
        processes = (*running.servers, *running.stores)
        await asyncio.sleep(2.0)
        before = processor_seconds(processes)
        await asyncio.sleep(seconds)
        idle = 100 * (processor_seconds(processes) - before) / seconds
    report.bar("an idle server with its store, of a core", idle, 0.5, " %")


def _opened(program: Callable[[], AbstractContextManager[object]]) -> float:
    """Return the seconds from the start of a process until it is ready."""
    began = time.perf_counter()
    with program():
        return time.perf_counter() - began


def _program(text: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", text], check=True)
    return time.perf_counter() - began
