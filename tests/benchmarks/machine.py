"""The machine, the versions and the time of a measurement, and other work on the machine."""

import os
import platform
import re
import resource
import subprocess
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from saratoga_server.embedded_store.process import find_binary

PACKAGES = ("websockets", "uvloop", "msgspec", "redis", "hiredis")

MOST_ELSEWHERE = 0.05
"""Share of all cores that other processes may use while the machine counts as quiet."""


class Others:
    """A measurement of the work of other processes: all but this process and its children."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._busy, self._ours = _busy(), _ours()

    @property
    def are_quiet(self) -> bool:
        return self.share() <= MOST_ELSEWHERE

    def share(self) -> float:
        """Return the share of all cores that others used since creation; running children do not count."""
        cores = (time.perf_counter() - self._began) * (os.cpu_count() or 1)
        used = _busy() - self._busy - (_ours() - self._ours)
        return max(0.0, used / cores)


def _busy() -> float:
    """Return the seconds for which the cores were not idle, including time stolen by the hypervisor."""
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
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return [
        f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; {platform.system()} "
        f"{platform.release()}",
        f"{platform.python_implementation()} {platform.python_version()}; {packages}",
        f"store: {store()}",
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    ]


def processor() -> str:
    found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def store() -> str:
    """Return the product name and the version of the embedded store."""
    said = subprocess.run([find_binary(), "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"v=(\S+)", said.stdout)
    return f"Valkey {found[1]}" if found else said.stdout.strip()
