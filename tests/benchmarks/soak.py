"""Load a server for 60 % of the time over many minutes, to find out whether it grows or slows down.

A server is one process with one event loop, so one core limits it. Tables play race after race at a human
pace, and players come and go. At the start, tables are opened until the server's process is busy for 60 %
of the time.

    python tests/benchmarks/soak.py [--minutes 20] [--game canfield]
"""

import argparse
import asyncio
import statistics
import sys
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from random import Random
from typing import NamedTuple

import uvloop

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.lean_racers import ANSWERED_WITHIN, SEATS, LeanRacer, plausible, seated
from benchmarks.machine import stolen_seconds
from benchmarks.measuring import resident_kib, scheduled_seconds
from kit.server_process import ServerProcess, running_server
from saratoga_protocol.commands import LeaveTable

SHARE = 0.6
"""Share of the time for which the server's process is to be busy."""

PACE = 4.0
"""Moves a second of each player, as a quick person makes them."""

MOVES = (120, 260)
"""The fewest and the most moves after which a racer cashes out."""

AWAY = (0.5, 5.0)
"""The shortest and the longest time in seconds between two races of the same seat."""

SAMPLE_EVERY = 5.0
"""Seconds between two samples of the server."""

FIRST_TABLES = 16

FILLED_WITHIN = 180.0
"""Longest time in seconds in which tables are opened; a quarter of a shorter run."""

FELT_AFTER = 3
"""The number of samples until new tables affect the load, because they gather and count down first."""

SETTLED_AFTER = 5.0
"""Minutes before memory is fitted to a line; a quarter of a shorter run."""

UNDISTURBED = 0.02
"""Share of a core that the hypervisor may take in a run whose latencies are judged."""

MOST_GROWTH = 1.0
"""Largest growth of memory, in MiB in ten minutes."""

MOST_SLOWER = 1.2
"""Largest p99 latency of the last third divided by that of the first."""


@dataclass
class Load:
    """What the racers of all tables did."""

    moments: "array[float]" = field(default_factory=lambda: array("d"))
    """Times of the acknowledgements of all moves, by `time.perf_counter()`."""
    waits: "array[float]" = field(default_factory=lambda: array("f"))
    """Seconds from each move to its acknowledgement."""
    races: int = 0
    is_over: bool = False


async def race_repeatedly(load: Load, port: int, game: str, number: int) -> None:
    """Let four new racers race at a new table, again and again until the load is over; `number` is the seed."""
    chance = Random(number)
    while not load.is_over:
        racers = await seated([port] * SEATS, game, plausible)
        try:
            await asyncio.gather(*(_raced(racer, load, chance) for racer in racers))
            load.races += 1
            for racer in racers:
                assert racer.table is not None
                await racer.ask(LeaveTable, table=racer.table.code)
        finally:
            for racer in racers:
                racer.disconnect()
        await asyncio.sleep(chance.uniform(*AWAY))


async def _raced(racer: LeanRacer, load: Load, chance: Random) -> None:
    """Let a racer move at a person's pace until its board ends; raise an error of the racer."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    left = chance.randint(*MOVES)

    def moved(size: int, wait: float) -> None:
        nonlocal left
        load.moments.append(time.perf_counter())
        load.waits.append(wait)
        left -= 1
        assert racer.board is not None
        if racer.board.state != "racing":
            over()
            return
        goes_on = left > 0 and racer.board.legal
        pause = (0.5 + chance.random()) / PACE
        loop.call_later(pause, racer.move if goes_on else racer.cash_out)

    def over() -> None:
        if not ended.done():
            ended.set_result(None)

    def fail(fault: Exception) -> None:
        if not ended.done():
            ended.set_exception(fault)

    racer.on_moved, racer.on_over, racer.on_fault = moved, over, fail
    await asyncio.wait_for(racer.dealt, ANSWERED_WITHIN)
    loop.call_later(chance.random() / PACE, racer.move)
    await ended


class Look(NamedTuple):
    """A sample of the server and the machine; times are totals since their start."""

    at: float
    """Seconds since the load began."""
    resident: float
    """Resident memory of the server in MiB."""
    processor: float
    """Seconds of CPU time that the server has used."""
    stolen: float
    """Seconds of core time that the hypervisor has stolen."""


@dataclass
class Samples:
    """The samples of a server over time."""

    server: int
    began: float = field(default_factory=time.perf_counter)
    looks: list[Look] = field(default_factory=list)

    def look(self) -> float:
        """Take a sample; return the seconds since the load began."""
        at = time.perf_counter() - self.began
        (run, _), resident = scheduled_seconds([self.server]), resident_kib(self.server) / 1024
        self.looks.append(Look(at, resident, run, stolen_seconds()))
        return at

    def busy(self, looks: int) -> float:
        """Return the share of the time for which the server was busy over the newest samples."""
        last, first = self.looks[-1], self.looks[-1 - min(looks, len(self.looks) - 1)]
        return (last.processor - first.processor) / (last.at - first.at)

    def slope(self, after: float) -> float:
        """Return the growth in MiB in ten minutes, by least squares over the later samples."""
        pairs = [(look.at, look.resident) for look in self.looks if look.at > after]
        if len(pairs) < 3:
            return float("nan")
        fit = statistics.linear_regression([at for at, _ in pairs], [mib for _, mib in pairs])
        return fit.slope * 600

    def waits(self, load: Load) -> list[list[float]]:
        """Return the latencies of the moves between each two samples."""
        waits: list[list[float]] = [[] for _ in self.looks]
        place = 0
        for moment, wait in zip(load.moments, load.waits, strict=True):
            while place + 1 < len(self.looks) and moment - self.began > self.looks[place + 1].at:
                place += 1
            waits[place].append(wait)
        return waits


def p99(waits: Sequence[float]) -> float:
    """Return the 99th percentile in milliseconds of latencies in seconds."""
    ordered = sorted(waits)
    return ordered[int(len(ordered) * 0.99)] * 1000 if ordered else float("nan")


async def ended(load: Load, tables: list[asyncio.Task[None]]) -> None:
    load.is_over = True
    broken = [task.exception() for task in tables if task.done() and not task.cancelled()]
    for task in tables:
        task.cancel()
    await asyncio.gather(*tables, return_exceptions=True)
    for trouble in broken:
        if trouble is not None:
            raise trouble


async def soak(
    load: Load, samples: Samples, server_process: ServerProcess, game: str, seconds: float
) -> None:
    """Open tables until the server is as busy as it should be."""
    tables: list[asyncio.Task[None]] = []

    async def open_tables(more: int) -> None:
        # one after another, so that their races do not all end at once
        for _ in range(more):
            tables.append(
                asyncio.create_task(race_repeatedly(load, server_process.port, game, len(tables)))
            )
            await asyncio.sleep(SAMPLE_EVERY / more)

    samples.look()
    await open_tables(FIRST_TABLES)
    while (at := samples.look()) < seconds:
        if any(task.done() for task in tables):
            break
        is_filling = at < min(FILLED_WITHIN, seconds / 4)
        if is_filling and len(samples.looks) % FELT_AFTER == 0:
            share = samples.busy(FELT_AFTER - 1)
            # open half of the estimated number, because the cost of a table is not known yet
            missing = round(len(tables) * (SHARE / share - 1) / 2)
            if missing > 0:
                await open_tables(min(missing, len(tables)))
                continue
        await asyncio.sleep(SAMPLE_EVERY)
    await ended(load, tables)


def report(load: Load, samples: Samples, seconds: float, tables: str) -> tuple[str, bool]:
    """Return the figures, and whether they keep the promised limits.

    Latencies are judged only if the host took hardly any time, because the server cannot use time that it steals.
    """
    settled = min(SETTLED_AFTER * 60, seconds / 4)
    waits = samples.waits(load)[: len(samples.looks) - 1]
    cuts = [place * len(waits) // 3 for place in range(4)]
    p99s = [p99([*chain(*waits[cuts[third] : cuts[third + 1]])]) for third in range(3)]
    slower = p99s[-1] / p99s[0]
    resident = [look.resident for look in samples.looks]
    stolen = (samples.looks[-1].stolen - samples.looks[0].stolen) / seconds
    slope = samples.slope(settled)
    is_kept = slope < MOST_GROWTH and (slower <= MOST_SLOWER or stolen > UNDISTURBED)
    lines = [
        f"{tables}, {seconds / 60:.0f} minutes",
        f"the server busy for {samples.busy(len(samples.looks)):.0%} of the time; "
        f"{len(load.waits)} moves, {len(load.waits) / seconds:.0f} a second, {load.races} races",
        f"resident: {resident[0]:.1f} MiB at first, {resident[-1]:.1f} at last, most {max(resident):.1f}; "
        f"after minute {settled / 60:.1f} {slope:+.2f} MiB in ten minutes (bar: below {MOST_GROWTH:g})",
        f"p99 latency of each third: {', '.join(f'{each:.1f}' for each in p99s)} ms, last to first "
        f"{slower:.2f} (bar: at most {MOST_SLOWER:g}, if the hypervisor takes at most {UNDISTURBED:.0%} "
        f"of a core away; it took {stolen:.1%})",
        "kept" if is_kept else "NOT KEPT",
    ]
    return "\n".join(lines) + "\n", is_kept


async def main(minutes: float, game: str, durability: str) -> bool:
    flags = (
        *("--rate", "0", "--limits-per-address", "off", "--log-level", "warning"),
        *("--durability", durability),
    )
    load, seconds = Load(), minutes * 60
    async with running_server(*flags) as server_process:
        samples = Samples(server_process.pid)
        await soak(load, samples, server_process, game, seconds)
    text, is_kept = report(load, samples, seconds, f"{game}, durability {durability}")
    print(text)
    return is_kept


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--minutes", type=float, default=20)
    arguments.add_argument("--game", default="canfield")
    arguments.add_argument("--durability", default="safe", choices=["fast", "safe"])
    options = arguments.parse_args()
    is_kept = uvloop.run(main(options.minutes, options.game, options.durability))
    sys.exit(0 if is_kept else 1)
