"""The cost of processes as the kernel counts it: CPU time and memory.

`/proc/PID/stat` counts CPU time in ticks of 10 ms only. `/proc/PID/task/*/schedstat` counts it in
nanoseconds for each thread, so it is used instead.
"""

import asyncio
import gc
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import stolen_seconds

_PAGE = os.sysconf("SC_PAGE_SIZE")

QUIET_SHARE = 0.02
"""Share of a core; a process that uses less counts as being at rest."""

MOST_STOLEN = 0.1
"""Seconds of core time that the hypervisor may steal in each second of a measurement.

The scheduler counts stolen time as used by the program that was running.
"""


class NotQuiet(Exception):
    """An error: a measurement failed because other work used the machine's cores."""


_LOOK_EVERY = 0.3
_REST_WITHIN = 15.0
"""Longest time in seconds that a wait takes; a bound, not a measurement."""


def processor_seconds(processes: Iterable[int]) -> float:
    """Return the user and system time, in seconds, of the living threads of these processes."""
    return scheduled_seconds(processes)[0]


def scheduled_seconds(processes: Iterable[int]) -> tuple[float, float]:
    """Return the seconds that the living threads have run, and that they have waited for a core."""
    ran = queued = 0
    for process in processes:
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                fields = (thread / "schedstat").read_text().split()
                ran, queued = ran + int(fields[0]), queued + int(fields[1])
    return ran / 1e9, queued / 1e9


def resident_kib(process: int) -> float:
    """Return the resident memory of a process in KiB, including shared pages."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE / 1024


def children(process: int, name: str) -> tuple[int, ...]:
    """Return the ids of a process's children whose command line contains `name`."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process and name in (entry / "cmdline").read_text():
                found.append(int(entry.name))
    return tuple(found)


async def at_rest(process: int) -> None:
    """Wait until a process has finished its background work."""
    until = time.perf_counter() + _REST_WITHIN
    used = processor_seconds([process])
    while time.perf_counter() < until:
        await asyncio.sleep(_LOOK_EVERY)
        now = processor_seconds([process])
        if now - used < _LOOK_EVERY * QUIET_SHARE:
            return
        used = now


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
    since_due: list[float] = field(default_factory=list)
    """Seconds from each paced message's planned time to its response."""
    late: int = 0
    """The number of paced messages sent more than 5 ms after their planned time."""
    seconds: float = 0.0
    server: float = 0.0
    """CPU seconds of all server processes."""
    store: float = 0.0
    generator: float = 0.0
    """CPU seconds of the load generator, which is this process."""
    stolen: float = 0.0
    """Seconds of core time that the hypervisor stole."""

    @property
    def is_undisturbed(self) -> bool:
        """True if the hypervisor stole at most `MOST_STOLEN` of the time."""
        return self.stolen <= MOST_STOLEN * self.seconds

    @property
    def micros(self) -> float:
        """Server CPU time per message in microseconds."""
        return self.server / self.messages * 1e6

    @property
    def store_micros(self) -> float:
        """Store CPU time per message in microseconds."""
        return self.store / self.messages * 1e6

    @property
    def rate(self) -> float:
        """Messages per second."""
        return self.messages / self.seconds

    @property
    def busy(self) -> float:
        """Share of a core that the load generator took."""
        return self.generator / self.seconds

    @property
    def server_busy(self) -> float:
        """Share of a core that the servers took."""
        return self.server / self.seconds

    @property
    def question(self) -> int:
        """Mean size of a message sent, in bytes."""
        return self.sent // self.messages

    @property
    def answer(self) -> int:
        """Mean size of a response, in bytes."""
        return self.answered // self.messages

    def millis(self, part: float) -> float:
        """Return a quantile of the latencies in milliseconds; 0.5 is the median."""
        return millis(self.latencies, part)


def millis(waits: Sequence[float], part: float) -> float:
    """Return a quantile, in milliseconds, of times in seconds."""
    ordered = sorted(waits)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000


def together(loads: Sequence[Load]) -> Load:
    """Combine several loads of one program into one."""
    return Load(
        messages=sum(load.messages for load in loads),
        sent=sum(load.sent for load in loads),
        answered=sum(load.answered for load in loads),
        latencies=[wait for load in loads for wait in load.latencies],
        since_due=[wait for load in loads for wait in load.since_due],
        late=sum(load.late for load in loads),
        seconds=sum(load.seconds for load in loads),
        server=sum(load.server for load in loads),
        store=sum(load.store for load in loads),
        generator=sum(load.generator for load in loads),
        stolen=sum(load.stolen for load in loads),
    )


@contextmanager
def measured(load: Load, servers: Sequence[int], stores: Sequence[int]) -> Iterator[None]:
    """Add to the load the CPU time used in the block; disable garbage collection in this process.

    Callers collect garbage before the load begins, because the servers keep working while this process
    collects. Raise `NotQuiet`, or `RuntimeError` on a quiet machine, if no message was answered.
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
        if load.is_undisturbed:
            raise RuntimeError("no message was answered")
        raise NotQuiet("the machine's host left no time in which a message was answered")
