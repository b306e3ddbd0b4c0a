"""The judge compiled (`protocol/compilation.py`) beside the judge as it is written."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from benchmarks.lines import GAME
from benchmarks.parts.rules import COLUMNS, measured_rules
from benchmarks.reports import Report
from benchmarks.turns import houses
from kit.wheels import built, install_compiled

AT = 64
"""Tables."""
ROUNDS = 2


async def compiled(report: Report, *, quick: bool) -> None:
    """Part 11."""
    if shutil.which("cc") is None:
        report.say("Not measured: there is no C compiler here.")
        return
    with tempfile.TemporaryDirectory(prefix="saratoga-bench-") as scratch:
        packages = Path(scratch) / "packages"
        wheel = await asyncio.to_thread(built, Path(scratch), compiled=True)
        await asyncio.to_thread(install_compiled, wheel, packages)
        report.table(COLUMNS, await measured_rules(quick=quick, packages=packages))
        seen = await houses(AT, 1 if quick else ROUNDS, GAME, packages, None)
    report.say(
        f"A move at `safe` in turns, {AT} tables: {seen.told('compiled', 'as it is written')}."
    )
