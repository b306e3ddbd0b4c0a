"""What a judged, durable, acknowledged move costs, beside a bare echo in the same run.

    python tests/benchmarks/house_bench.py [--game canfield] [--durability safe] [--tables 1,16,64,256]

The short way, for while one works; `make bench` measures more, and says how.
"""

import argparse
import sys
from pathlib import Path

import uvloop

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.closed_loop import echo_load, house_load
from benchmarks.contestants import echo_server, house_server
from benchmarks.measuring import Load

SECONDS = 4.0
"""How long each line is measured."""


def row(load: Load) -> str:
    return (
        f"{load.messages:>8} {load.rate:>9.0f} {load.micros:>8.1f} "
        f"{load.millis(0.5):>8.2f} {load.millis(0.99):>8.2f} {load.store_micros:>8.1f} "
        f"{load.busy:>6.0%}"
    )


async def main(game: str, durability: str, table_counts: list[int], seconds: float) -> None:
    print(f"game {game}, durability {durability}; CPU of the server process alone")
    print(
        f"{'':>12} {'tables':>6} {'messages':>8} {'a second':>9} {'CPU us':>8} {'p50 ms':>8} "
        f"{'p99 ms':>8} {'store us':>8} {'load':>6}"
    )
    for tables in table_counts:
        with house_server(durability) as running:
            house = await house_load(running, tables, game, seconds)
        print(f"{'house':>12} {tables:>6} {row(house)}", flush=True)
        with echo_server() as running:
            echo = await echo_load(running, house, tables * 4, seconds)
        print(f"{'bare echo':>12} {tables:>6} {row(echo)}")
        print(
            f"{'ratio':>12} {tables:>6} {house.micros / echo.micros:>27.2f}   "
            f"({house.question} bytes asked, {house.answer} answered)",
            flush=True,
        )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--game", default="canfield")
    arguments.add_argument("--durability", default="safe", choices=["fast", "safe"])
    arguments.add_argument("--tables", default="1,16,64,256")
    arguments.add_argument("--seconds", type=float, default=SECONDS)
    options = arguments.parse_args()
    counts = [int(count) for count in options.tables.split(",")]
    uvloop.run(main(options.game, options.durability, counts, options.seconds))
