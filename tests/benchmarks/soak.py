"""A long evening at 60 % of what the server can do here: does it grow, does it slow down?

A server is one process with one event loop: what it can do is what one core lets it do. Tables play at
a human pace, race after race, players coming and going; so many of them are opened, for a start, that
the server's process is busy for 60 % of the time.

    python tests/benchmarks/soak.py [--minutes 20] [--game canfield] [--figures soak-figures.txt]
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import uvloop

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.machine import stolen_seconds
from benchmarks.measuring import children, resident_kib, scheduled_seconds
from kit.house import House, open_house
from kit.paced_evenings import Load, evenings

SHARE = 0.6
"""Of the time in which the server's process is busy."""

PACE = 4.0
"""Moves a second of a player: a quick one."""

SAMPLE_EVERY = 5.0
"""Seconds between two looks at the server."""

FIRST_TABLES = 16

FILLED_WITHIN = 180.0
"""Seconds in which tables are opened, or a quarter of a shorter run."""

FELT_AFTER = 3
"""Looks after which tables that were opened show in what the server does: they gather and count down."""

SETTLED_AFTER = 5.0
"""Minutes before memory is fitted; a quarter of a shorter run."""

UNDISTURBED = 0.02
"""Seconds of its cores that a machine may lose in a second, and still be alone."""

ENOUGH = 0.2
"""Of the pauses must have been undisturbed for these to decide; else all of them do."""

MOST_GROWTH = 1.0
"""MiB in ten minutes."""

MOST_SLOWER = 1.2
"""p99 of the last third, in p99s of the first."""


COLUMNS = "second, MiB, busy s, queued s, stolen s, rewriting, moves, p99 ms, slowest ms"
"""Of the file of figures: what happened since the line before."""


class Look(NamedTuple):
    """What the machine says of the server at a moment; sums since each began."""

    at: float
    """Seconds since the load began."""
    resident: float
    """MiB."""
    processor: float
    """Seconds that the server has run."""
    queued: float
    """Seconds in which the server could have run, and other processes had the cores."""
    stolen: float
    """Seconds of its cores that this machine's host gave to others."""
    is_rewriting: bool
    """The store has a process that writes its file anew."""


@dataclass
class Samples:
    """The server, as time goes by."""

    server: int
    store: int
    began: float = field(default_factory=time.perf_counter)
    looks: list[Look] = field(default_factory=list)

    def look(self) -> float:
        """Look now; seconds since the load began."""
        at = time.perf_counter() - self.began
        run, queued = scheduled_seconds([self.server])
        is_rewriting = bool(children(self.store, "valkey"))
        resident = resident_kib(self.server) / 1024
        self.looks.append(Look(at, resident, run, queued, stolen_seconds(), is_rewriting))
        return at

    def busy(self, looks: int) -> float:
        """The part of the time since so many looks ago in which the server was busy."""
        last, first = self.looks[-1], self.looks[-1 - min(looks, len(self.looks) - 1)]
        return (last.processor - first.processor) / (last.at - first.at)

    def is_undisturbed(self, place: int) -> bool:
        """Whether the machine's host left it its cores from this look to the next."""
        look, then = self.looks[place], self.looks[place + 1]
        return then.stolen - look.stolen <= UNDISTURBED * (then.at - look.at)

    @property
    def undisturbed(self) -> list[int]:
        """The places of the looks after which it did."""
        return [place for place in range(len(self.looks) - 1) if self.is_undisturbed(place)]

    def undisturbed_slope(self, after: float) -> float:
        """MiB in ten minutes, put together from what it grew in those pauses after that moment."""
        pairs = [
            (self.looks[place], self.looks[place + 1])
            for place in self.undisturbed
            if self.looks[place].at > after
        ]
        grown = sum(then.resident - look.resident for look, then in pairs)
        lasted = sum(then.at - look.at for look, then in pairs)
        return grown / lasted * 600 if lasted else float("nan")

    def slope(self, after: float) -> float:
        """MiB in ten minutes, by least squares over what was sampled after that moment."""
        pairs = [(look.at, look.resident) for look in self.looks if look.at > after]
        if len(pairs) < 3:
            return float("nan")
        fit = statistics.linear_regression([at for at, _ in pairs], [mib for _, mib in pairs])
        return fit.slope * 600

    def waits(self, load: Load) -> list[list[float]]:
        """The waits of the moves that were acknowledged after each look, and before the next."""
        waits: list[list[float]] = [[] for _ in self.looks]
        place = 0
        for moment, wait in zip(load.moments, load.waits, strict=True):
            while place + 1 < len(self.looks) and moment - self.began > self.looks[place + 1].at:
                place += 1
            waits[place].append(wait)
        return waits

    def lines(self, load: Load) -> list[str]:
        """One for each pause between two looks: the machine, and what became of the moves."""
        return [
            f"{then.at:.0f} {then.resident:.2f} {then.processor - look.processor:.2f} "
            f"{then.queued - look.queued:.2f} {then.stolen - look.stolen:.2f} {then.is_rewriting:d} "
            f"{len(some)} {p99(some):.1f} {max(some, default=0) * 1000:.0f}"
            for look, then, some in zip(self.looks, self.looks[1:], self.waits(load), strict=False)
        ]


def p99(waits: Sequence[float]) -> float:
    """Milliseconds."""
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


async def soaked(house: House, game: str, seconds: float) -> tuple[Load, Samples]:
    """Let so many tables play that the server is as busy as it should be."""
    (store,) = children(house.pid, "valkey-server")
    load, samples = Load(pace=PACE), Samples(house.pid, store)
    tables: list[asyncio.Task[None]] = []

    async def open_tables(more: int) -> None:
        # one after the other, so that their races do not all end at once
        for _ in range(more):
            tables.append(asyncio.create_task(evenings(load, house.port, game, len(tables))))
            await asyncio.sleep(SAMPLE_EVERY / more)

    samples.look()
    await open_tables(FIRST_TABLES)
    while (at := samples.look()) < seconds:
        if any(task.done() for task in tables):
            break
        is_filling = at < min(FILLED_WITHIN, seconds / 4)
        if is_filling and len(samples.looks) % FELT_AFTER == 0:
            share = samples.busy(FELT_AFTER - 1)
            # half of what seems to be missing: what they cost is not known yet
            missing = round(len(tables) * (SHARE / share - 1) / 2)
            if missing > 0:
                await open_tables(min(missing, len(tables)))
                continue
        await asyncio.sleep(SAMPLE_EVERY)
    await ended(load, tables)
    return load, samples


def thirds(waits: Sequence[Sequence[float]], places: Iterable[int]) -> tuple[float, float, float]:
    """Their p99, in milliseconds, of what was acknowledged after the looks at these places."""
    parts: tuple[list[float], ...] = ([], [], [])
    for place in places:
        parts[3 * place // len(waits)].extend(waits[place])
    first, second, last = map(p99, parts)
    return first, second, last


class Verdict(NamedTuple):
    """What is promised of an evening, and what was seen."""

    slope: float
    thirds: tuple[float, float, float]

    @property
    def slower(self) -> float:
        return self.thirds[-1] / self.thirds[0]

    @property
    def is_kept(self) -> bool:
        return self.slope < MOST_GROWTH and self.slower <= MOST_SLOWER

    def __str__(self) -> str:
        told = ", ".join(f"{each:.1f}" for each in self.thirds)
        return (
            f"{self.slope:+.2f} MiB in ten minutes (bar: below {MOST_GROWTH:g}); {told} ms, last to first "
            f"{self.slower:.2f} (bar: at most {MOST_SLOWER:g})"
        )


def report(load: Load, samples: Samples, seconds: float, tables: str) -> tuple[str, bool]:
    """The figures, and whether they keep what is promised."""
    settled = min(SETTLED_AFTER * 60, seconds / 4)
    waits, undisturbed = samples.waits(load), samples.undisturbed
    resident = [look.resident for look in samples.looks]
    stolen = samples.looks[-1].stolen - samples.looks[0].stolen
    in_all = Verdict(samples.slope(settled), thirds(waits, range(len(waits))))
    by_itself = Verdict(samples.undisturbed_slope(settled), thirds(waits, undisturbed))
    share = len(undisturbed) / (len(samples.looks) - 1)
    lines = [
        f"{tables}, {seconds / 60:.0f} minutes",
        f"the server busy for {samples.busy(len(samples.looks)):.0%} of the time; "
        f"{len(load.waits) / seconds:.0f} moves a second, sent late {load.late / len(load.waits):.1%}",
        f"{len(load.waits)} moves, {load.races} races, {load.evenings} evenings",
        f"resident: {resident[0]:.1f} MiB at first, {resident[-1]:.1f} at last, most {max(resident):.1f}",
        f"from minute {settled / 60:.1f} on, and p99 of acknowledgements by thirds:",
        f"in all: {in_all}",
        f"the host took {stolen / seconds:.0%} of a core away, and left {share:.0%} of the pauses between two "
        f"looks alone; in those: {by_itself}",
    ]
    verdict = by_itself if share >= ENOUGH else in_all
    lines.append("kept" if verdict.is_kept else "NOT KEPT")
    return "\n".join(lines) + "\n", verdict.is_kept


async def main(minutes: float, game: str, durability: str) -> tuple[str, bool, list[str]]:
    flags = (
        *("--rate", "0", "--limits-per-address", "off", "--log-level", "warning"),
        *("--durability", durability),
    )
    async with open_house(*flags) as house:
        load, samples = await soaked(house, game, minutes * 60)
    text, is_kept = report(load, samples, minutes * 60, f"{game}, durability {durability}")
    return text, is_kept, samples.lines(load)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--minutes", type=float, default=20)
    arguments.add_argument("--game", default="canfield")
    arguments.add_argument("--durability", default="safe", choices=["fast", "safe"])
    arguments.add_argument("--figures", type=Path, help="file for the figures, beside the output")
    options = arguments.parse_args()
    text, is_kept, lines = uvloop.run(main(options.minutes, options.game, options.durability))
    print(text)
    if options.figures is not None:
        options.figures.write_text("\n".join([text, COLUMNS, *lines, ""]))
    sys.exit(0 if is_kept else 1)
