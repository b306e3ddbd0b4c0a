"""Run a long storm: `python -m kit.storms --faults 1000 --seed 7`."""

import argparse
import asyncio
import random
import sys
import time

from kit.storms.faults import LONG
from kit.storms.storm import StormPlan, StormResult, drawn_games, run_storm

FAULTS_A_RACE = 50
"""The number of faults for each race that every table must finish."""

SILENCE = 4.0
"""Seconds without an event after which a player reconnects: less than usual."""


def log(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def plan_of(options: argparse.Namespace, seed: str) -> StormPlan:
    only = options.only or [""]
    return StormPlan(
        seed=seed,
        faults=options.faults,
        kinds=[kind for kind in LONG if any(part in kind.name for part in only)],
        games=drawn_games(seed),
        nodes=options.nodes,
        pace=options.pace,
        together=0 if options.only else 3,
        silence=SILENCE,
        races=-(-options.faults // FAULTS_A_RACE),
    )


def report(plan: StormPlan, result: StormResult, seconds: float) -> str:
    """Describe a finished storm: its figures, and everything that was wrong."""
    wrong = "".join(f"\nWRONG: {fault}" for fault in result.faults)
    wrong += "".join(f"\nLATE: {late}" for late in result.late)
    return (
        f"{plan.nodes} nodes, seed {plan.seed!r}, {' and '.join(plan.games)}\n"
        f"{result.figures()}\n{seconds:.0f} s{wrong}\n"
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
    arguments.add_argument("--nodes", type=int, default=3, help="server nodes [default: 3]")
    arguments.add_argument(
        "--pace", type=float, default=6.0, help="moves a second of each player [default: 6]"
    )
    options = arguments.parse_args()
    seed = options.seed or str(random.SystemRandom().randrange(1_000_000))
    log(f"seed {seed}")
    plan = plan_of(options, seed)
    began = time.monotonic()
    result = asyncio.run(run_storm(plan, log))
    print(report(plan, result, time.monotonic() - began), flush=True)
    return 1 if result.faults or result.late else 0


if __name__ == "__main__":
    sys.exit(main())
