"""What processes cost as the kernel counts it, how much else the machine did meanwhile, and the report of it.

`/proc/PID/stat` counts CPU time in ticks of 10 ms only. `/proc/PID/task/*/schedstat` counts it in
nanoseconds for each thread, so it is used instead.
"""

import asyncio
import gc
import math
import os
import platform
import re
import resource
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from saratoga_server.embedded_store.process import find_binary

PACKAGES = ("websockets", "uvloop", "msgspec", "redis", "hiredis")

MOST_ELSEWHERE = 0.05
"""Share of all cores that other processes may use while the machine counts as quiet."""

MOST_STOLEN = 0.1
"""Seconds of core time that the hypervisor may take in each second of a measurement.

The scheduler counts stolen time as used by the program that was running.
"""


def processor_seconds(processes: Iterable[int]) -> float:
    """Return the user and system time, in seconds, of the living threads of these processes."""
    ran = 0
    for process in processes:
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                ran += int((thread / "schedstat").read_text().split()[0])
    return ran / 1e9


def resident_kib(process: int) -> float:
    """Return the resident memory of a process in KiB, including shared pages."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024


def children(process: int, name: str) -> tuple[int, ...]:
    """Return the ids of a process's children whose command line contains `name`."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return tuple(int(each) for each in listed if name in Path(f"/proc/{each}/cmdline").read_text())


async def at_rest(process: int) -> None:
    """Wait, at most 15 s, until a process uses less than 2 % of a core."""
    until, used = time.perf_counter() + 15, processor_seconds([process])
    while time.perf_counter() < until:
        await asyncio.sleep(0.3)
        before, used = used, processor_seconds([process])
        if used - before < 0.3 * 0.02:
            return


@dataclass
class Load:
    """The figures of one measurement."""

    messages: int = 0
    """The number of responses within the measured time."""
    sent: int = 0
    """Bytes of payload sent."""
    answered: int = 0
    """Bytes of payload received in responses."""
    latencies: list[float] = field(default_factory=list)
    """Seconds from each message to its response."""
    seconds: float = 0.0
    server: float = 0.0
    """CPU seconds of all server processes."""
    store: float = 0.0
    generator: float = 0.0
    """CPU seconds of the load generator, which is this process."""
    stolen: float = 0.0
    """Seconds of core time that the hypervisor took."""

    @property
    def is_undisturbed(self) -> bool:
        return self.stolen <= MOST_STOLEN * self.seconds

    @property
    def micros(self) -> float:
        """Server CPU time per message in microseconds."""
        return self.server / self.messages * 1e6

    @property
    def rate(self) -> float:
        """Messages per second."""
        return self.messages / self.seconds

    @property
    def server_busy(self) -> float:
        """Share of a core that the servers took."""
        return self.server / self.seconds

    @property
    def generator_busy(self) -> str:
        """The share of a core that the load generator took, marked with `(!)` if it was the bottleneck."""
        share = self.generator / self.seconds
        return f"{share:.0%}" + (" (!)" if share > 0.9 else "")

    @property
    def question(self) -> int:
        """Mean size of a message sent, in bytes."""
        return self.sent // self.messages

    @property
    def answer(self) -> int:
        """Mean size of a response, in bytes."""
        return self.answered // self.messages


def millis(waits: Sequence[float], part: float) -> float:
    """Return a quantile (0.5: the median), in milliseconds, of times in seconds; NaN without any."""
    ordered = sorted(waits)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000 if ordered else math.nan


@contextmanager
def measured(load: Load, servers: Sequence[int], stores: Sequence[int]) -> Iterator[None]:
    """Add to the load the CPU time used in the block; disable garbage collection in this process.

    Callers collect garbage before the load begins, because the servers keep working while this
    process collects. Raises `RuntimeError` if no message was answered.
    """
    gc.disable()
    server, store = processor_seconds(servers), processor_seconds(stores)
    mine, stolen, began = time.process_time(), stolen_seconds(), time.perf_counter()
    try:
        yield
        load.seconds = time.perf_counter() - began
        load.generator = time.process_time() - mine
        load.stolen = stolen_seconds() - stolen
        load.server = processor_seconds(servers) - server
        load.store = processor_seconds(stores) - store
    finally:
        gc.enable()
    if not load.messages:
        raise RuntimeError("no message was answered")


class Others:
    """A measurement of the work of other processes: all but this process and its children."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._busy, self._ours = _busy(), _ours()

    def share(self) -> float:
        """Return the share of all cores that others used since creation; running children do not count."""
        cores = (time.perf_counter() - self._began) * (os.cpu_count() or 1)
        return max(0.0, (_busy() - self._busy - (_ours() - self._ours)) / cores)


def _busy() -> float:
    """Return the seconds for which the cores were not idle, including time taken by the hypervisor."""
    user, nice, system, _, _, irq, softirq, steal, *_ = _counters()
    return user + nice + system + irq + softirq + steal


def stolen_seconds() -> float:
    """Return the seconds of core time that the hypervisor took from this machine; 0.0 on bare metal."""
    return _counters()[7]


def _counters() -> list[float]:
    """Return the kernel's counters of all cores together, in seconds and in the kernel's order."""
    with Path("/proc/stat").open() as figures:
        ticks = os.sysconf("SC_CLK_TCK")
        return [int(figure) / ticks for figure in figures.readline().split()[1:]]


def _ours() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in usages)


def facts() -> list[str]:
    """Return lines that describe the machine and the versions."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    model = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    said = subprocess.run([find_binary(), "--version"], capture_output=True, text=True, check=True)
    store = re.search(r"v=(\S+)", said.stdout)
    return [
        f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB; "
        f"{platform.system()} {platform.release()}",
        f"{platform.python_implementation()} {platform.python_version()}; "
        + ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        f"store: Valkey {store[1] if store else said.stdout.strip()}",
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    ]


# The report of one part: tables and limits, as Markdown

Cell = str | int | float


@dataclass
class Bar:
    """A promised limit and the measured figure, NaN if there is none."""

    what: str
    figure: float
    most: float
    unit: str = " x"
    is_quiet: bool = True
    """False if other work on the machine changed the figure."""

    @property
    def verdict(self) -> str:
        if math.isnan(self.figure) or not self.is_quiet:
            return "not measured quietly"
        return "met" if self.figure <= self.most else "MISSED"

    def cells(self) -> tuple[str, ...]:
        return self.what, f"{self.figure:.2f}{self.unit}", f"{self.most:g}{self.unit}", self.verdict


@dataclass
class Report:
    """The report of one part, built paragraph by paragraph."""

    title: str
    lines: list[str] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    others: float = 0.0
    """The share of the machine's cores that other processes used."""

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.lines += ["", text]

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Add a table; the first column holds texts, the others hold figures."""
        self.lines += ["", *markdown(columns, rows)]

    def bar(
        self, what: str, figure: float, most: float, unit: str = " x", loads: Sequence[Load] = ()
    ) -> None:
        """Add a limit; it is not judged if one of the loads behind its figure was disturbed."""
        is_quiet = all(load.is_undisturbed for load in loads)
        self.bars.append(Bar(what, figure, most, unit, is_quiet))

    def text(self) -> str:
        """Return the report as Markdown, with its heading."""
        return "\n".join([f"## {self.title}", *self.lines, ""])


def markdown(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Return the lines of a Markdown table with aligned columns."""
    cells = [list(columns), *([_shown(cell) for cell in row] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    cells.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    return [
        f"| {first.ljust(widths[0])} | " + " | ".join(map(str.rjust, others, widths[1:])) + " |"
        for first, *others in cells
    ]


def _shown(cell: Cell) -> str:
    """Format a cell with three significant digits."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 1000:
        return f"{cell:,.0f}".replace(",", " ")
    return f"{cell:#.3g}".rstrip(".")
