"""Run a long storm: `python -m kit.storms --faults 1000 --seed 7`."""

import argparse
import asyncio
import random
import sys
import time

from kit.storms.storm import Storm, everything, run_storm
from saratoga_rules.games import GAMES

FAULTS_A_RACE = 50
"""The number of faults for each race that every table must finish."""


def log(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def main() -> int:
    arguments = argparse.ArgumentParser(
        prog="python -m kit.storms", description=__doc__.split("\n", 1)[0]
    )
    arguments.add_argument("--faults", type=int, default=1000, help="[default: 1000]")
    arguments.add_argument("--seed", default="", help="[default: random]")
    arguments.add_argument(
        "--only", action="append", help="only kinds whose name contains this; may be repeated"
    )
    options = arguments.parse_args()
    seed = options.seed or str(random.SystemRandom().randrange(1_000_000))
    games = random.Random(seed).sample(list(GAMES), 2)
    log(f"seed {seed}, {' and '.join(games)}")
    storm = Storm(
        seed=seed,
        faults=options.faults,
        kinds=everything(options.only or [""]),
        games=games,
        together=0 if options.only else 3,
        races=-(-options.faults // FAULTS_A_RACE),
        report=log,
    )
    wrong = asyncio.run(run_storm(storm))
    for fault in wrong:
        log(f"WRONG: {fault}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
