"""A long storm from the command line: `python -m kit.storms --faults 1000 --seed 7`."""

import argparse
import asyncio
import random
import sys
import time

from kit.storms.weather import LONG_CLUSTERED, LONG_STANDALONE, Forecast, weathered


def tell(news: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {news}", flush=True)


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m kit.storms", description=__doc__)
    arguments.add_argument("--faults", type=int, default=1000)
    arguments.add_argument("--seed", default="")
    arguments.add_argument("--only", default="", help="kinds whose name has this in it")
    arguments.add_argument("--clustered", action="store_true")
    arguments.add_argument("--nodes", type=int, default=3)
    options = arguments.parse_args()
    seed = options.seed or str(random.SystemRandom().randrange(1_000_000))
    every = LONG_CLUSTERED if options.clustered else LONG_STANDALONE
    kinds = [kind for kind in every if options.only in kind.name]
    tell(f"seed {seed}")
    began = time.monotonic()
    forecast = Forecast(
        seed=seed,
        faults=options.faults,
        kinds=kinds,
        nodes=options.nodes,
        together=0 if options.only else 6,
        clustered=options.clustered,
    )
    aftermath = asyncio.run(weathered(forecast, tell))
    print(aftermath.figures())
    print(f"{options.faults} faults in {time.monotonic() - began:.0f} s, seed {seed}")
    for fault in aftermath.faults:
        print(f"FAULT {fault}")
    return 1 if aftermath.faults else 0


if __name__ == "__main__":
    sys.exit(main())
