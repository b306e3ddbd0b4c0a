"""On what, with what and when it was measured."""

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from saratoga_server.store.process import find_binary

PACKAGES = ("websockets", "uvloop", "msgspec", "redis", "hiredis")


def facts() -> list[str]:
    """A line for each."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return [
        f"{processor()}, {os.cpu_count()} cores, {memory_gib():.0f} GiB; {platform.system()} "
        f"{platform.release()}",
        f"{platform.python_implementation()} {platform.python_version()}; {packages}",
        f"store: {store()}",
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; load of the machine in the last minute "
        f"{os.getloadavg()[0]:.1f}, this suite's own included",
    ]


def processor() -> str:
    """The processor's name, as the kernel tells it."""
    found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def store() -> str:
    """Product and version of the embedded store."""
    said = subprocess.run([find_binary(), "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"v=(\S+)", said.stdout)
    return f"Valkey {found[1]}" if found else said.stdout.strip()
