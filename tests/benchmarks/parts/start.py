"""How long it takes until players may come: empty, beside what it is made of, and with a long past."""

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from benchmarks.append_files import lengthen
from benchmarks.closed_loop import house_load
from benchmarks.contestants import house_server
from benchmarks.lines import GAME
from benchmarks.reports import Bar, Report
from kit.stores import StoreServer
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.embedded_store.process import find_binary
from saratoga_server.store.opening import open_store

LIBRARIES = "click, hiredis, msgspec, redis.asyncio, uvloop, websockets.asyncio.server"
"""What the server stands on, with what that needs of the standard library."""

SERVER = "saratoga_server.__main__, saratoga_server.app, uvloop"

_ONCE_UP = "import gc, os; gc.disable(); import {}; os._exit(0)"
"""A program that imports, as a house does that looks seldom for garbage; nothing of how it ends counts."""

ROUNDS = 7
MOST_TIMES = 3.0

MIB, GIB = 2**20, 2**30


async def start(report: Report, *, quick: bool) -> None:
    """Part 7."""
    with _compiled():
        await _start(report, quick=quick)


@contextmanager
def _compiled() -> Iterator[None]:
    """Programs start from bytecode, as those do that are installed, even where Python is to write none."""
    with (
        tempfile.TemporaryDirectory(prefix="saratoga-bench-") as folder,
        patch.dict(os.environ, PYTHONPYCACHEPREFIX=folder, PYTHONDONTWRITEBYTECODE=""),
    ):
        yield


async def _start(report: Report, *, quick: bool) -> None:
    rounds = 5 if quick else ROUNDS
    took = _in_turns(
        rounds,
        {
            "house": _house,
            "valkey": _valkey,
            "python": lambda: _program("pass"),
            "nothing": lambda: _program(_ONCE_UP.format("os")),
            "libraries": lambda: _program(_ONCE_UP.format(LIBRARIES)),
            "server": lambda: _program(_ONCE_UP.format(SERVER)),
        },
    )
    store, library = await _inside(rounds)
    python, valkey, house = took["python"], took["valkey"], took["house"]
    report.table(
        ("from start to ready, empty store", "ms"),
        [
            ["Python (`python -c pass`)", python],
            ["bare Valkey, to its first PONG", valkey],
            ["both, one after the other", python + valkey],
            ["house with its embedded store, to its ready line", house],
        ],
    )
    imported = took["server"] - took["nothing"]
    libraries = took["libraries"] - took["nothing"]
    rest = house - python - imported - store - library
    report.say("Of that, measured one by one (what goes on at the same time counts twice here):")
    report.table(
        ("step", "ms"),
        [
            ["Python's own start", python],
            ["importing the libraries, and what they need", libraries],
            ["importing server, rules and wire, and what they need beside", imported - libraries],
            ["the embedded store, until it takes commands", store],
            ["connecting, asking how it is set up, loading the Functions", library],
            ["the rest: settings, house, door; less what overlaps", rest],
        ],
    )
    report.say(
        f"Python and the libraries alone are {(python + libraries) / (python + valkey):.1f} x."
    )
    times = house / (python + valkey)
    report.bar(Bar("ready, in starts of Valkey and Python", times, MOST_TIMES, " x"))
    await _with_past(report, 64 * MIB if quick else 128 * MIB)


def _in_turns(rounds: int, what: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The median milliseconds of each, taken in turns; one round before does not count."""
    took: dict[str, list[float]] = {name: [] for name in what}
    for number in range(rounds + 1):
        for name, once in what.items():
            seconds = once()
            if number:
                took[name].append(seconds * 1000)
    return {name: statistics.median(some) for name, some in took.items()}


def _house(data: Path | None = None) -> float:
    """Seconds from the start of the process to its ready line."""
    began = time.perf_counter()
    with house_server(data=data):
        return time.perf_counter() - began


def _valkey() -> float:
    """Seconds from the start of the process to its first PONG."""
    with tempfile.TemporaryDirectory(prefix="saratoga-bench-") as scratch:
        store = StoreServer(str(find_binary()), Path(scratch))
        began = time.perf_counter()
        store.start()
        try:
            return time.perf_counter() - began
        finally:
            store.kill()


def _program(text: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", text], check=True)
    return time.perf_counter() - began


async def _inside(rounds: int) -> tuple[float, float]:
    """Milliseconds of the embedded store's start, and of opening a store without Functions."""
    stores, openings = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="saratoga-bench-") as folder:
            began = time.perf_counter()
            async with EmbeddedStore(Path(folder) / "store") as url:
                stores.append((time.perf_counter() - began) * 1000)
                began = time.perf_counter()
                async with open_store(url):
                    openings.append((time.perf_counter() - began) * 1000)
    return statistics.median(stores), statistics.median(openings)


async def _with_past(report: Report, size: int) -> None:
    """How much longer it takes for every GiB of append-only file, as written and as rewritten."""
    with tempfile.TemporaryDirectory(prefix="saratoga-bench-") as scratch:
        data, bare = Path(scratch) / "data", Path(scratch) / "bare"
        with house_server(data=data) as running:
            await house_load(running, 4, GAME, 1.0)
        empty = min([await asyncio.to_thread(_house, data) for _ in range(2)])
        folder = data / "store" / "appendonlydir"
        file = max(folder.glob("*.incr.aof"), key=lambda each: each.stat().st_size)
        moves = lengthen(file, size)
        written = _size(folder)
        shutil.copytree(folder, bare / "appendonlydir")
        full = await asyncio.to_thread(_house, data)
        alone = await asyncio.to_thread(_rewritten, bare)
        shutil.rmtree(folder)
        shutil.copytree(bare / "appendonlydir", folder)
        rewritten = _size(folder)
        again = await asyncio.to_thread(_house, data)
    report.say(
        f"With {moves / 1e6:.1f} million moves in its store, and {empty:.2f} s with next to none:"
    )
    report.table(
        ("append-only file", "MiB", "house ready, s", "bare Valkey, s", "s for every GiB"),
        [
            ["as written", written / MIB, full, alone, (full - empty) / (written / GIB)],
            ["rewritten", rewritten / MIB, again, "-", (again - empty) / (rewritten / GIB)],
        ],
    )
    report.say(
        "The store rewrites its file by itself when it has doubled (and is beyond 64 MiB), so most of a long "
        "past is read as rewritten."
    )


def _size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.iterdir())


def _rewritten(folder: Path) -> float:
    """Seconds until a bare Valkey on that folder answers; it then rewrites its file."""
    with tempfile.TemporaryDirectory(prefix="saratoga-bench-") as scratch:
        settings = {"dir": str(folder), "auto-aof-rewrite-percentage": "0"}
        store = StoreServer(str(find_binary()), Path(scratch), settings)
        began = time.perf_counter()
        store.start()
        took = time.perf_counter() - began
        try:
            store.ask("BGREWRITEAOF")
            store.wait_for("INFO", "persistence", says=b"aof_rewrites:1")
            store.wait_for("INFO", "persistence", says=b"aof_rewrite_in_progress:0")
        finally:
            store.kill()
    return took
