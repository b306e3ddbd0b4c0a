"""Run all benchmarks (`make bench`): each part in a process of its own, all results in RESULTS.md.

    python tests/benchmarks/suite.py [--quick] [--only moves --only start]

The exit code is 0 if every part ran and no limit is missed, 1 if a part failed, and 2 if a limit is
missed. A figure that other work on the machine disturbed is printed as "not measured quietly",
which misses no limit. `--quick` measures for shorter times. Only the whole suite writes RESULTS.md.
"""

import argparse
import asyncio
import gc
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import uvloop

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measuring import MOST_ELSEWHERE, Others, Report, facts, markdown
from benchmarks.memory import memory, start
from benchmarks.moves import moves

RESULTS = Path(__file__).parent / "RESULTS.md"

WITHIN = 1_500.0
"""Seconds after which a part counts as failed."""

FAILED, MISSED = 1, 2
"""Exit codes: a part failed, a limit is missed."""

BARS = ("bar", "figure", "at most", "verdict")

Part = Callable[..., Awaitable[None]]

PARTS: dict[str, tuple[str, Part]] = {
    "moves": ("Moves, as fast as they are answered", moves),
    "memory": ("Memory of a connection", memory),
    "start": ("Until players may come", start),
}


async def ran(name: str, *, quick: bool) -> tuple[Report, bool]:
    """Run a part; return its report, and whether it failed although the machine was quiet."""
    title, part = PARTS[name]
    report = Report(title)
    began, others, has_failed = time.perf_counter(), Others(), False
    try:
        async with asyncio.timeout(WITHIN):
            await part(report, quick=quick)
    except Exception as fault:  # a failure does not stop the other parts
        traceback.print_exc()
        has_failed = others.share() <= MOST_ELSEWHERE
        what = "Failed" if has_failed else "Not measured quietly"
        report.say(f"**{what}**: {type(fault).__name__}: {fault}")
    report.others = others.share()
    for bar in report.bars:
        bar.is_quiet &= report.others <= MOST_ELSEWHERE
    seconds = time.perf_counter() - began
    report.say(f"({seconds:.0f} s; {report.others:.0%} of the cores' time went elsewhere)")
    return report, has_failed


def page(reports: list[Report]) -> str:
    """Return the text of RESULTS.md."""
    bars = [bar for report in reports for bar in report.bars]
    disturbed = ", ".join(
        f"{report.title} ({report.others:.0%})"
        for report in reports
        if report.others > MOST_ELSEWHERE
    )
    return "\n".join(
        [
            "# What it costs",
            "",
            "Written by `make bench`; what each part means, and what it does not say, is in",
            "[README.md](README.md).",
            "",
            *(f"- {fact}" for fact in facts()),
            f"- something else used the machine's cores during: {disturbed or 'no part'}",
            "",
            "## Bars",
            "",
            *markdown(BARS, [bar.cells() for bar in bars]),
            "",
            *(report.text() for report in reports),
        ]
    )


def main(names: Sequence[str], *, quick: bool, written: bool) -> int:
    """Run these parts; return the exit code."""
    reports, has_failed = [], False
    for name in names:
        # so that no part collects the garbage of another
        gc.collect()
        report, failed = uvloop.run(ran(name, quick=quick))
        print(report.text(), flush=True)
        reports.append(report)
        has_failed |= failed
    bars = [bar for report in reports for bar in report.bars]
    print("\n".join(markdown(BARS, [bar.cells() for bar in bars])))
    if written:
        RESULTS.write_text(page(reports), encoding="utf-8")
        print(f"written: {RESULTS.name}")
    if has_failed:
        return FAILED
    return MISSED if any(bar.verdict == "MISSED" for bar in bars) else 0


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--quick", action="store_true", help="shorter, and fewer lines")
    arguments.add_argument("--only", action="append", choices=list(PARTS), help="this part")
    options = arguments.parse_args()
    is_whole = not options.only and not options.quick
    sys.exit(main(options.only or tuple(PARTS), quick=options.quick, written=is_whole))
