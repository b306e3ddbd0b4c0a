"""The judge compiled (`protocol/compilation.py`) beside the judge as it is written."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.contestants import surroundings
from benchmarks.lines import GAME
from benchmarks.parts.rules import COLUMNS, measured_rules
from benchmarks.reports import Report
from benchmarks.turns import houses

ROOT = Path(__file__).parents[3]
AT = 64
"""Tables."""
ROUNDS = 2

_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


async def compiled(report: Report, *, quick: bool) -> None:
    """Part 11."""
    if shutil.which("cc") is None:
        report.say("Not measured: there is no C compiler here.")
        return
    with tempfile.TemporaryDirectory(prefix="saratoga-bench-") as scratch:
        packages = Path(scratch) / "packages"
        await asyncio.to_thread(_install, Path(scratch), packages)
        report.table(COLUMNS, await measured_rules(quick=quick, packages=packages))
        seen = await houses(AT, 1 if quick else ROUNDS, GAME, packages, None)
    report.say(
        f"A move at `safe` in turns, {AT} tables: {seen.told('compiled', 'as it is written')}."
    )


def _install(scratch: Path, target: Path) -> None:
    """Build this checkout with the judge compiled, and install it there."""
    building = ("wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir")
    _run(*building, str(scratch), str(ROOT))
    (built,) = scratch.glob("*.whl")
    _run("install", "--no-deps", "--no-index", "--target", str(target), str(built))
    used = subprocess.run(
        [sys.executable, "-c", "from saratoga_rules import judge; print(judge.__file__)"],
        env=surroundings(target),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    if not used.startswith(str(target)) or used.endswith(".py"):
        raise RuntimeError(f"the judge that was to be measured is not compiled: {used}")


def _run(*command: str) -> None:
    """Raises `RuntimeError` with what was said, if it fails."""
    done = subprocess.run(
        [*_PIP, *command],
        env=os.environ | {"SARATOGA_COMPILE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
