"""Measure the memory of an idle connection and of a racing one, the start of a server, and an idle server."""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from unittest.mock import patch

from benchmarks.generator import Generator
from benchmarks.measuring import Report, at_rest, processor_seconds, resident_kib
from benchmarks.programs import Running, game_server, lone_store, scratch_folder
from benchmarks.racers import GAME, LeanRacer, greeted, racing_tables

IDLE_TIMES = 3
"""Idle connections per racing connection: with fewer, the process would not need more memory than it has spare."""

MESSAGES = 100
"""The mean number of messages of each client."""


async def _sizes(
    count: int, connect: Callable[[Running, int], Awaitable[list[Callable[[], None]]]]
) -> list[float]:
    """Return the resident KiB of a server at rest, with half of the connections, and with all of them.

    `connect` opens so many, and returns how to close them.
    """
    sizes: list[float] = []
    close: list[Callable[[], None]] = []
    async with game_server() as running:
        (server,) = running.servers
        for half in (0, count // 2, count // 2):
            close += await connect(running, half) if half else []
            await at_rest(server)
            sizes.append(resident_kib(server))
        for each in close:
            each()
    return sizes


async def memory(report: Report, *, quick: bool) -> None:
    """Report the memory of one connection, idle and racing."""
    count = 240 if quick else 480
    racers: list[LeanRacer] = []

    async def idle(running: Running, half: int) -> list[Callable[[], None]]:
        return [(await greeted(running.port)).disconnect for _ in range(half)]

    async def racing(running: Running, half: int) -> list[Callable[[], None]]:
        tables = await racing_tables(half // 4, running.port, dawdles=True)
        racers.extend(racer for four in tables for racer in four)
        generator = Generator()
        generator.race(tables, len(tables))
        while generator.load.messages < MESSAGES * half:
            await generator.wait(0.02)
        generator.pause()
        return [generator.close]

    idling, raced = await _sizes(IDLE_TIMES * count, idle), await _sizes(count, racing)
    rows = [
        (name, (most - least) / clients, (most - middle) / (clients / 2))
        for name, clients, (least, middle, most) in (
            ("idle", IDLE_TIMES * count, idling),
            ("racing", count, raced),
        )
    ]
    report.table(("KiB of a connection", "above the idle process", "of one more"), rows)
    made = sum(racer.board.count for racer in racers if racer.board) / len(racers)
    report.say(
        f"{count} connections, {IDLE_TIMES * count} if idle (only hello sent). *One more*: the "
        "growth from half of the connections to all of them, divided by their number. The idle "
        f"server has {raced[0] / 1024:.1f} MiB, part of which is free after startup. New "
        "connections use this part first, so the first column is too low. Racing: four racers per "
        f"table of `{GAME}`, with {made:.0f} moves each on average (fewer if a board of the table "
        "ended early)."
    )
    worst = max(rows[-1][1:])
    report.bar("resident per racing connection, the larger figure", worst, 14.0, " KiB")


# The start, and an idle server


async def start(report: Report, *, quick: bool) -> None:
    """Measure the start of a server with an empty embedded store, and the start of Python and of Valkey."""
    took: dict[str, list[float]] = {
        "Python (`python -c pass`)": [],
        "bare Valkey, to its first PONG": [],
        "server with its embedded store, to its ready line": [],
    }
    with scratch_folder() as folder:
        # from compiled bytecode, as installed programs do, even if Python may not write any
        bytecode = {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}
        with patch.dict(os.environ, bytecode):
            for number in range(6 if quick else 8):
                seconds = _python(), await _opened(lone_store()), await _opened(game_server())
                if number:  # the first round compiles
                    for some, each in zip(took.values(), seconds, strict=True):
                        some.append(each * 1000)
    medians = {name: statistics.median(some) for name, some in took.items()}
    python, valkey, server = medians.values()
    report.table(("from start to ready, empty store", "ms"), list(medians.items()))
    report.bar("ready, in starts of Valkey and Python", server / (python + valkey), 5.0)
    pause = 10.0 if quick else 30.0
    async with game_server() as running:
        processes = (*running.servers, *running.stores)
        await asyncio.sleep(2.0)
        before = processor_seconds(processes)
        await asyncio.sleep(pause)
        idle = 100 * (processor_seconds(processes) - before) / pause
    report.bar("an idle server with its store, of a core", idle, 0.5, " %")


async def _opened(program: AbstractAsyncContextManager[object]) -> float:
    """Return the seconds from the start of a process until it is ready."""
    began = time.perf_counter()
    async with program:
        return time.perf_counter() - began


def _python() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began
