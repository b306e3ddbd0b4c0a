"""Load a server for 60 % of the time over many minutes, to find out whether it grows or slows down.

A server is one process with one event loop, so one core limits it. Tables play race after race at a human
pace, and players come and go. At the start, tables are opened until the server's process is busy for 60 %
of the time.

    python tests/benchmarks/soak.py [--minutes 20] [--game canfield] [--figures soak-figures.txt]
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import uvloop

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.machine import stolen_seconds
from benchmarks.measuring import children, resident_kib, scheduled_seconds
from kit.paced_players import Load, race_repeatedly
from kit.server_process import ServerProcess, running_server

SHARE = 0.6
"""Share of the time for which the server's process is to be busy."""

PACE = 4.0
"""Moves a second of each player, as a quick person makes them."""

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
"""Seconds of core time that the hypervisor may steal in each second of an undisturbed sample."""

ENOUGH = 0.2
"""Share of undisturbed samples that every third of the run needs for latencies to be judged."""

MOST_GROWTH = 1.0
"""Largest growth of memory, in MiB in ten minutes."""

MOST_SLOWER = 1.2
"""Largest p99 latency of the last third divided by that of the first."""


COLUMNS = "second, MiB, busy s, queued s, stolen s, rewriting, moves, p99 ms, slowest ms"
"""The columns of the file of figures; each line covers the time since the line before."""


class Look(NamedTuple):
    """A sample of the server and the machine; times are totals since their start."""

    at: float
    """Seconds since the load began."""
    resident: float
    """Resident memory of the server in MiB."""
    processor: float
    """Seconds of CPU time that the server has used."""
    queued: float
    """Seconds that the server was runnable but waited for a processor core."""
    stolen: float
    """Seconds of core time that the hypervisor has stolen."""
    is_rewriting: bool
    """True while the store rewrites its append-only file."""


@dataclass
class Samples:
    """The samples of a server over time."""

    server: int
    store: int
    began: float = field(default_factory=time.perf_counter)
    looks: list[Look] = field(default_factory=list)

    def look(self) -> float:
        """Take a sample; return the seconds since the load began."""
        at = time.perf_counter() - self.began
        run, queued = scheduled_seconds([self.server])
        is_rewriting = bool(children(self.store, "valkey"))
        resident = resident_kib(self.server) / 1024
        self.looks.append(Look(at, resident, run, queued, stolen_seconds(), is_rewriting))
        return at

    def was_alone(self, looks: int) -> bool:
        """Return whether the newest `looks` samples were undisturbed."""
        last = len(self.looks) - 1
        return all(self.is_undisturbed(place) for place in range(max(0, last - looks), last))

    def busy(self, looks: int) -> float:
        """Return the share of the time for which the server was busy over the newest samples."""
        last, first = self.looks[-1], self.looks[-1 - min(looks, len(self.looks) - 1)]
        return (last.processor - first.processor) / (last.at - first.at)

    def is_undisturbed(self, place: int) -> bool:
        """Return whether the interval after this sample was undisturbed."""
        look, then = self.looks[place], self.looks[place + 1]
        return then.stolen - look.stolen <= UNDISTURBED * (then.at - look.at)

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

    def lines(self, load: Load) -> list[str]:
        """Return a line for each interval: the machine, and the latencies of the moves."""
        return [
            f"{then.at:.0f} {then.resident:.2f} {then.processor - look.processor:.2f} "
            f"{then.queued - look.queued:.2f} {then.stolen - look.stolen:.2f} {then.is_rewriting:d} "
            f"{len(some)} {p99(some):.1f} {max(some, default=0) * 1000:.0f}"
            for look, then, some in zip(self.looks, self.looks[1:], self.waits(load), strict=False)
        ]


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
        if (
            is_filling
            and len(samples.looks) % FELT_AFTER == 0
            and samples.was_alone(FELT_AFTER - 1)
        ):
            share = samples.busy(FELT_AFTER - 1)
            # open half of the estimated number, because the cost of a table is not known yet
            missing = round(len(tables) * (SHARE / share - 1) / 2)
            if missing > 0:
                await open_tables(min(missing, len(tables)))
                continue
        await asyncio.sleep(SAMPLE_EVERY)
    await ended(load, tables)


class Third(NamedTuple):
    """A third of the intervals between samples."""

    alone: int
    """The number of undisturbed intervals in the third."""
    pauses: int
    p99: float
    """The p99 latency of all intervals, in milliseconds."""
    p99_alone: float

    @classmethod
    def of(cls, samples: Samples, waits: Sequence[Sequence[float]], place: int) -> "Third":
        pauses = range(place * len(waits) // 3, (place + 1) * len(waits) // 3)
        alone = [pause for pause in pauses if samples.is_undisturbed(pause)]
        return cls(
            len(alone),
            len(pauses),
            p99([wait for pause in pauses for wait in waits[pause]]),
            p99([wait for pause in alone for wait in waits[pause]]),
        )


def report(load: Load, samples: Samples, seconds: float, tables: str) -> tuple[str, bool]:
    """Return the figures, and whether they keep the promised limits.

    Memory is judged by all samples. Latencies are judged by undisturbed samples, if every third has
    enough of them, because the server cannot use time that the host steals. No command may have been
    repeated.
    """
    settled = min(SETTLED_AFTER * 60, seconds / 4)
    waits = samples.waits(load)[: len(samples.looks) - 1]
    thirds = [Third.of(samples, waits, place) for place in range(3)]
    is_alone_enough = all(third.alone >= ENOUGH * third.pauses for third in thirds)
    p99s = [third.p99_alone if is_alone_enough else third.p99 for third in thirds]
    slower = p99s[-1] / p99s[0]
    resident = [look.resident for look in samples.looks]
    stolen = samples.looks[-1].stolen - samples.looks[0].stolen
    slope = samples.slope(settled)
    is_kept = slope < MOST_GROWTH and slower <= MOST_SLOWER and not load.repeats
    lines = [
        f"{tables}, {seconds / 60:.0f} minutes",
        f"the server busy for {samples.busy(len(samples.looks)):.0%} of the time; "
        f"{len(load.waits) / seconds:.0f} moves a second, sent late {load.late / len(load.waits):.1%}",
        f"{len(load.waits)} moves, {load.races} races, {load.visits} visits, "
        f"{load.repeats} commands repeated because the store was unavailable",
        f"resident: {resident[0]:.1f} MiB at first, {resident[-1]:.1f} at last, most {max(resident):.1f}; "
        f"after minute {settled / 60:.1f} {slope:+.2f} MiB in ten minutes (bar: below {MOST_GROWTH:g})",
        f"the hypervisor took {stolen / seconds:.0%} of a core away; of each third, "
        + ", ".join(f"{third.alone} of {third.pauses}" for third in thirds)
        + f" samples of {SAMPLE_EVERY:g} s were undisturbed",
        "p99 latency of each third: "
        + ", ".join(f"{third.p99:.1f}" for third in thirds)
        + " ms; undisturbed "
        + ", ".join(f"{third.p99_alone:.1f}" for third in thirds)
        + f" ms; {'undisturbed' if is_alone_enough else 'all samples'}, last to first {slower:.2f} (bar: at most "
        f"{MOST_SLOWER:g})",
        "kept" if is_kept else "NOT KEPT",
    ]
    return "\n".join(lines) + "\n", is_kept


async def main(minutes: float, game: str, durability: str, figures: Path | None) -> bool:
    flags = (
        *("--rate", "0", "--limits-per-address", "off", "--log-level", "warning"),
        *("--durability", durability),
    )
    load, seconds = Load(pace=PACE), minutes * 60
    async with running_server(*flags) as server_process:
        (store,) = children(server_process.pid, "valkey-server")
        samples = Samples(server_process.pid, store)
        try:
            await soak(load, samples, server_process, game, seconds)
        finally:
            # written also if the run is cut short
            keep(figures, COLUMNS, *samples.lines(load))
    text, is_kept = report(load, samples, seconds, f"{game}, durability {durability}")
    print(text)
    keep(figures, text, COLUMNS, *samples.lines(load))
    return is_kept


def keep(figures: Path | None, *lines: str) -> None:
    if figures is not None:
        figures.write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--minutes", type=float, default=20)
    arguments.add_argument("--game", default="canfield")
    arguments.add_argument("--durability", default="safe", choices=["fast", "safe"])
    arguments.add_argument("--figures", type=Path, help="file for the figures, beside the output")
    options = arguments.parse_args()
    is_kept = uvloop.run(main(options.minutes, options.game, options.durability, options.figures))
    sys.exit(0 if is_kept else 1)
