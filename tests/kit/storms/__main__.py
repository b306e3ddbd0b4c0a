"""A long storm from the command line: `python -m kit.storms --faults 1000 --seed 7`.

Half of the faults come down on a town whose store stands alone, half on one with a cluster.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kit.storms.weather import LONG_CLUSTERED, LONG_STANDALONE, Aftermath, Forecast, weathered

FAULTS_A_RACE = 50
"""For so many faults every table must have ended a race, and it must have been judged."""

IMPATIENT = 4.0
"""Seconds without a word after which players take their line for dead: so faults come faster."""

KINDS = {"standalone": LONG_STANDALONE, "cluster": LONG_CLUSTERED}


def tell(news: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {news}", flush=True)


def forecasts(options: argparse.Namespace, seed: str) -> Iterator[tuple[str, Forecast]]:
    towns: Sequence[str] = [options.town] if options.town else list(KINDS)
    for town in towns:
        only = options.only or [""]
        faults = -(-options.faults // len(towns))
        kinds = [kind for kind in KINDS[town] if any(part in kind.name for part in only)]
        yield (
            town,
            Forecast(
                seed=f"{seed} {town}",
                faults=faults,
                kinds=kinds,
                nodes=options.nodes,
                together=0 if options.only else 3,
                silence=IMPATIENT,
                races=-(-faults // FAULTS_A_RACE),
                clustered=town == "cluster",
            ),
        )


def report(town: str, forecast: Forecast, aftermath: Aftermath, seconds: float) -> str:
    wrong = "".join(f"\nWRONG: {fault}" for fault in aftermath.faults)
    wrong += "".join(f"\nLATE: {late}" for late in aftermath.late)
    thrown = str(aftermath.storm.thrown)
    if aftermath.storm.thrown < forecast.faults:
        thrown += f" of {forecast.faults}"
    level = "replicated" if forecast.clustered else "safe"
    return (
        f"store: {town}, level {level}, {forecast.nodes} nodes, seed {forecast.seed!r}\n"
        f"{aftermath.figures()}\n{thrown} faults in {seconds:.0f} s{wrong}\n"
    )


def main() -> int:
    arguments = argparse.ArgumentParser(
        prog="python -m kit.storms", description=__doc__.split("\n", 1)[0]
    )
    arguments.add_argument("--faults", type=int, default=1000)
    arguments.add_argument("--seed", default="", help="by chance if not given")
    arguments.add_argument(
        "--only", action="append", help="kinds whose name has this in it; may be given again"
    )
    arguments.add_argument("--town", choices=list(KINDS), help="both if not given")
    arguments.add_argument("--nodes", type=int, default=3)
    arguments.add_argument("--figures", type=Path, help="file for the figures, beside the output")
    options = arguments.parse_args()
    seed = options.seed or str(random.SystemRandom().randrange(1_000_000))
    tell(f"seed {seed}")
    told, is_whole = "", True
    for town, forecast in forecasts(options, seed):
        began = time.monotonic()
        aftermath = asyncio.run(weathered(forecast, tell))
        told += report(town, forecast, aftermath, time.monotonic() - began) + "\n"
        is_whole = is_whole and not aftermath.faults and not aftermath.late
        print(told.rpartition("store: ")[2], flush=True)
        if options.figures is not None:
            options.figures.write_text(told)
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
