"""Run a long storm: `python -m kit.storms --faults 1000 --seed 7`.

Half of the faults go to an installation with a standalone store, half to one with a cluster.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kit.storms.storm_run import (
    LONG_CLUSTERED,
    LONG_STANDALONE,
    StormPlan,
    StormResult,
    drawn_games,
    run_storm,
)

FAULTS_A_RACE = 50
"""The number of faults for each race that every table must finish."""

SILENCE = 4.0
"""Seconds without an event after which a player reconnects: less than usual."""

KINDS = {"standalone": LONG_STANDALONE, "cluster": LONG_CLUSTERED}


def log(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def plans(options: argparse.Namespace, seed: str) -> Iterator[tuple[str, StormPlan]]:
    """Yield a plan for each kind of store."""
    stores: Sequence[str] = [options.store] if options.store else list(KINDS)
    for store in stores:
        only = options.only or [""]
        faults = -(-options.faults // len(stores))
        kinds = [kind for kind in KINDS[store] if any(part in kind.name for part in only)]
        yield (
            store,
            StormPlan(
                seed=f"{seed} {store}",
                faults=faults,
                kinds=kinds,
                games=drawn_games(f"{seed} {store}"),
                nodes=options.nodes,
                pace=options.pace,
                together=0 if options.only else 3,
                silence=SILENCE,
                races=-(-faults // FAULTS_A_RACE),
                clustered=store == "cluster",
            ),
        )


def report(store: str, plan: StormPlan, result: StormResult, seconds: float) -> str:
    """Describe a finished storm: its figures, and everything that was wrong."""
    wrong = "".join(f"\nWRONG: {fault}" for fault in result.faults)
    wrong += "".join(f"\nLATE: {late}" for late in result.late)
    injected = str(result.storm.injected)
    if result.storm.injected < plan.faults:
        injected += f" of {plan.faults}"
    level = "replicated" if plan.clustered else "safe"
    return (
        f"store: {store}, level {level}, {plan.nodes} nodes, seed {plan.seed!r}, {' and '.join(plan.games)}\n"
        f"{result.figures()}\n{injected} faults in {seconds:.0f} s{wrong}\n"
    )


def main() -> int:
    arguments = argparse.ArgumentParser(
        prog="python -m kit.storms", description=__doc__.split("\n", 1)[0]
    )
    arguments.add_argument(
        "--faults", type=int, default=1000, help="faults to inject [default: 1000]"
    )
    arguments.add_argument("--seed", default="", help="[default: random]")
    arguments.add_argument(
        "--only", action="append", help="only kinds whose name contains this; may be repeated"
    )
    arguments.add_argument(
        "--store", choices=list(KINDS), help="only with this store [default: both]"
    )
    arguments.add_argument("--nodes", type=int, default=3, help="server nodes [default: 3]")
    arguments.add_argument(
        "--pace", type=float, default=6.0, help="moves a second of each player [default: 6]"
    )
    arguments.add_argument("--figures", type=Path, help="write the figures to this file too")
    options = arguments.parse_args()
    seed = options.seed or str(random.SystemRandom().randrange(1_000_000))
    log(f"seed {seed}")
    reports, is_whole = "", True
    for store, plan in plans(options, seed):
        began = time.monotonic()
        result = asyncio.run(run_storm(plan, log))
        reports += report(store, plan, result, time.monotonic() - began) + "\n"
        is_whole = is_whole and not result.faults and not result.late
        print(reports.rpartition("store: ")[2], flush=True)
        if options.figures is not None:
            options.figures.write_text(reports)
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
