"""A long evening at 60 % of what the server can do here: does it grow, does it slow down?

First some tables play as fast as they are answered: what is acknowledged then, a second, is what this
machine's server can do, with its store and with the load beside it. Then so many tables play at a human
pace that 60 % of that comes together, race after race, players coming and going.

    python tests/benchmarks/soak.py [--minutes 20] [--game canfield] [--figures soak-figures.txt]
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

sys.path.insert(0, str(Path(__file__).parent.parent))

from kit.house import House, open_house
from kit.paced_evenings import SEATS, Load, evenings

SHARE = 0.6
"""Of what the server can do."""

PACE = 4.0
"""Moves a second of a player: a quick one."""

SAMPLE_EVERY = 5.0
"""Seconds between two looks at the server's memory."""

CALIBRATION_TABLES = 64
CALIBRATED_FOR = 30.0
"""Seconds, the first countdown included; the best stretch of them counts, when nobody counts down."""

STRETCH = 2.0
"""Seconds."""

SETTLED_AFTER = 5.0
"""Minutes before memory is fitted; a quarter of a shorter run."""

STARTED_WITHIN = 20.0
"""Seconds over which tables open, so that their races do not all end at once."""

MOST_GROWTH = 1.0
"""MiB in ten minutes."""

MOST_SLOWER = 1.2
"""p99 of the last third, in p99s of the first."""


@dataclass
class Samples:
    """The server's resident memory, as time goes by."""

    moments: list[float] = field(default_factory=list)
    """Seconds since the load began."""
    resident: list[float] = field(default_factory=list)
    """MiB."""
    processor: list[float] = field(default_factory=list)
    """Seconds of processor time that the server has used by then."""

    def slope(self, after: float) -> float:
        """MiB in ten minutes, by least squares over what was sampled after that moment."""
        pairs = [pair for pair in zip(self.moments, self.resident, strict=True) if pair[0] > after]
        if len(pairs) < 3:
            return float("nan")
        fit = statistics.linear_regression([at for at, _ in pairs], [mib for _, mib in pairs])
        return fit.slope * 600


def resident_of(pid: int) -> float:
    """MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"process {pid} has no memory")


def processor_of(pid: int) -> float:
    """Seconds, user and system."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / 100


def p99(waits: Sequence[float]) -> float:
    """Milliseconds."""
    ordered = sorted(waits)
    return ordered[int(len(ordered) * 0.99)] * 1000 if ordered else float("nan")


async def calibrated(house: House, game: str) -> float:
    """Moves a second that are acknowledged when nobody pauses."""
    load = Load(pace=0)
    tables = [
        asyncio.create_task(evenings(load, house.port, game, number))
        for number in range(CALIBRATION_TABLES)
    ]
    await asyncio.sleep(CALIBRATED_FOR)
    await ended(load, tables)
    stretches = Counter(int(moment / STRETCH) for moment in load.moments)
    return max(stretches.values()) / STRETCH


async def ended(load: Load, tables: list[asyncio.Task[None]]) -> None:
    load.is_over = True
    broken = [task.exception() for task in tables if task.done() and not task.cancelled()]
    for task in tables:
        task.cancel()
    await asyncio.gather(*tables, return_exceptions=True)
    for trouble in broken:
        if trouble is not None:
            raise trouble


async def soaked(house: House, game: str, rate: float, seconds: float) -> tuple[Load, Samples]:
    """Let tables play until that much comes together; more of them if the races leave gaps."""
    load, samples = Load(pace=PACE), Samples()
    tables: list[asyncio.Task[None]] = []
    wanted = SHARE * rate
    first = max(1, round(wanted / PACE / SEATS))
    began = time.perf_counter()

    def open_table() -> None:
        tables.append(asyncio.create_task(evenings(load, house.port, game, 1000 + len(tables))))

    for _ in range(first):
        open_table()
        await asyncio.sleep(STARTED_WITHIN / first)
    seen, seen_at = len(load.waits), time.perf_counter()
    while (at := time.perf_counter() - began) < seconds:
        samples.moments.append(at)
        samples.resident.append(resident_of(house.pid))
        samples.processor.append(processor_of(house.pid))
        await asyncio.sleep(SAMPLE_EVERY)
        if any(task.done() for task in tables):
            break
        now, count = time.perf_counter(), len(load.waits)
        reached, seen, seen_at = (count - seen) / (now - seen_at), count, now
        # countdowns and the last racers of a race leave gaps: other tables fill them, for a start
        if at < min(120.0, seconds / 4) and reached < 0.97 * wanted:
            for _ in range(max(1, round((wanted - reached) / PACE / SEATS / 3))):
                open_table()
    await ended(load, tables)
    return load, samples


def report(
    rate: float, load: Load, samples: Samples, seconds: float, tables: str
) -> tuple[str, bool]:
    """The figures, and whether they keep what is promised."""
    began = load.moments[0]
    third = (load.moments[-1] - began) / 3
    thirds = [
        [
            wait
            for moment, wait in zip(load.moments, load.waits, strict=True)
            if began + place * third <= moment <= began + (place + 1) * third
        ]
        for place in range(3)
    ]
    settled = min(SETTLED_AFTER * 60, seconds / 4)
    slope, ratio = samples.slope(settled), p99(thirds[2]) / p99(thirds[0])
    used = (samples.processor[-1] - samples.processor[0]) / (
        samples.moments[-1] - samples.moments[0]
    )
    is_kept = slope < MOST_GROWTH and ratio <= MOST_SLOWER
    lines = [
        f"{tables}, {seconds / 60:.0f} minutes",
        f"the server can do {rate:.0f} moves a second here; asked for {SHARE * rate:.0f}, "
        f"acknowledged {len(load.waits) / seconds:.0f}, sent late {load.late / len(load.waits):.1%}",
        f"{len(load.waits)} moves, {load.races} races, {load.evenings} evenings; "
        f"server at {used:.0%} of a core",
        f"resident: {samples.resident[0]:.1f} MiB at first, {samples.resident[-1]:.1f} at last, "
        f"most {max(samples.resident):.1f}; after minute {settled / 60:.1f} "
        f"{slope:+.2f} MiB in ten minutes (bar: below {MOST_GROWTH:g})",
        "p99 of acknowledgements by thirds: "
        + ", ".join(f"{p99(part):.1f}" for part in thirds)
        + f" ms; last to first {ratio:.2f} (bar: at most {MOST_SLOWER:g})",
        "kept" if is_kept else "NOT KEPT",
    ]
    return "\n".join(lines) + "\n", is_kept


async def main(minutes: float, game: str, durability: str) -> tuple[str, bool, Samples]:
    flags = (
        *("--rate", "0", "--limits-per-address", "off", "--log-level", "warning"),
        *("--durability", durability),
    )
    async with open_house(*flags) as house:
        rate = await calibrated(house, game)
    print(f"the server can do {rate:.0f} moves a second", flush=True)
    async with open_house(*flags) as house:
        load, samples = await soaked(house, game, rate, minutes * 60)
    text, is_kept = report(rate, load, samples, minutes * 60, f"{game}, durability {durability}")
    return text, is_kept, samples


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--minutes", type=float, default=20)
    arguments.add_argument("--game", default="canfield")
    arguments.add_argument("--durability", default="safe", choices=["fast", "safe"])
    arguments.add_argument("--figures", type=Path, help="file for the figures, beside the output")
    options = arguments.parse_args()
    text, is_kept, samples = uvloop.run(main(options.minutes, options.game, options.durability))
    print(text)
    if options.figures is not None:
        rows = zip(samples.moments, samples.resident, strict=True)
        lines = [f"{at:.0f} {mib:.2f}" for at, mib in rows]
        options.figures.write_text("\n".join([text, "seconds, MiB", *lines, ""]))
    sys.exit(0 if is_kept else 1)
