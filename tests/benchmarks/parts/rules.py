"""The rules alone, without a house: what `rules_bench.py` says."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

from benchmarks.contestants import HERE, surroundings
from benchmarks.reports import Cell, Report

WITHIN = 120.0
"""Seconds."""


COLUMNS = ("game", "moves", "median us", "p90", "p99", "most", "undecided")


async def measured_rules(*, quick: bool, packages: Path | None = None) -> list[list[Cell]]:
    """A row for each game: of this checkout's rules, or of those in the folder `packages`."""
    command = [sys.executable, str(HERE / "rules_bench.py"), "--rounds", "1" if quick else "3"]
    ran = await asyncio.to_thread(
        subprocess.run,
        command,
        capture_output=True,
        text=True,
        check=True,
        timeout=WITHIN,
        env=surroundings(packages),
    )
    found = re.findall(
        r"^([a-z-]+) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+)$",
        ran.stdout,
        re.MULTILINE,
    )
    if not found:
        raise RuntimeError(f"rules_bench.py gave no figures: {ran.stdout}")
    return [
        [name, int(moves), *map(float, costs), int(open_)] for name, moves, *costs, open_ in found
    ]


async def rules(report: Report, *, quick: bool) -> None:
    """Part 5."""
    report.table(COLUMNS, await measured_rules(quick=quick))
    report.say(
        "For every move of the played games: judge and play it, redact the position, list its legal moves, "
        "ask whether it is stuck, with caches emptied before each game. *Undecided*: searches that the "
        "house would go on with when nobody waits."
    )
