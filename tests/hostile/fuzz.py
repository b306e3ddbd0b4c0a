"""Run long fuzzing: `make fuzz`, or `make fuzz ARGS="--frames 50000 --wire 10000 --guided 5"`.

There are three parts, and each prints figures: damaged frames to the decoder, in this process; damaged
sessions and bytes to a real server over sockets, while friends race there; and ten parsers, guided by
coverage (`guided.py`). The first failure ends the program with exit code 1. The same seed repeats a run;
`guided.py` prints the name of a file with the failing input.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from kit.decoding import read_or_refused
from kit.fuzz_seeds import seeds
from kit.hostile_load import HostileLoad, load_with_hostile_clients
from kit.mutations import Spoiler
from kit.server_process import ServerProcess, running_server
from saratoga_protocol.codec import CODECS

ROUND = 25_000
"""The number of hostile frames in a round; after each round the server must hold no connection."""
BARE = 400
"""The number of raw TCP connections in a round."""
CLIENTS = 6
TARGETS = (
    *("commands", "events", "moves", "positions", "records"),
    *("pages", "addresses", "node_events", "names", "pasted"),
)


def decode(frames: int, seed: str) -> None:
    """Decode damaged frames of both subprotocols, and print the results."""
    for subprotocol, codec in CODECS.items():
        began, found = time.monotonic(), Counter[str]()
        spoiler = Spoiler(Random(f"{seed} {subprotocol}"), subprotocol)
        for _ in range(frames // 2):
            found[read_or_refused(codec, spoiler.frame())] += 1
        refused = sum(count for kind, count in found.items() if kind.islower())
        print(
            f"decoder, {subprotocol}: {frames // 2:,} frames in {time.monotonic() - began:.0f} s; "
            f"{frames // 2 - refused:,} were commands of {len(found) - 3} kinds; refused: "
            + ", ".join(f"{kind} {found[kind]:,}" for kind in sorted(found) if kind.islower()),
            flush=True,
        )


async def over_the_wire(frames: int, seed: str) -> int:
    """Send hostile frames to one server, with new clients in every round; return their number."""
    sent = bare = races = rounds = 0
    answers, closes, statuses = Counter[str](), Counter[int](), Counter[int]()
    began, memory = time.monotonic(), []
    async with running_server("--rate", "0", "--metrics-port", "0") as server_process:
        while sent < frames:
            load = await load_with_hostile_clients(
                server_process,
                frames=ROUND,
                clients=CLIENTS,
                bare=BARE,
                races=1,
                seed=f"{seed} {rounds}",
            )
            rounds, sent = rounds + 1, sent + load.frames
            bare, races = bare + load.bare_connections, races + _races(load)
            answers += load.figures.answers
            closes += load.figures.closes
            statuses += load.statuses
            memory.append(_resident(server_process))
            print(f"  round {rounds}: {sent:,} frames, {memory[-1]:.0f} MiB resident", flush=True)
    print(
        f"over the wire: {sent:,} frames and {bare:,} bare connections in "
        f"{time.monotonic() - began:.0f} s; {races} races of friends finished; "
        f"resident {memory[0]:.0f} MiB after the first round, {memory[-1]:.0f} MiB after the last\n"
        f"  answers: {_listed(answers)}\n  closes: {_listed(closes)}\n  statuses: {_listed(statuses)}"
    )
    assert {"MoveMade", "Dealt", "RaceOver", "Record"} <= answers.keys(), "the clients did not race"
    return sent


def _races(load: HostileLoad) -> int:
    assert all(len(report.outcomes) == 1 for report in load.reports)
    return len(load.reports) // 2


def _resident(server_process: ServerProcess) -> float:
    pages = (Path("/proc") / str(server_process.pid) / "statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _listed(counts: Counter[str] | Counter[int]) -> str:
    return ", ".join(f"{kind} {count:,}" for kind, count in counts.most_common())


def guided(target: str, seconds: int) -> int:
    """Fuzz one target for `seconds`; return the number of runs. Exit with 1 on a failure."""
    with TemporaryDirectory(prefix="saratoga-") as folder:
        for number, seed in enumerate(seeds(target)):
            (Path(folder) / f"{number:03}").write_bytes(seed)
        ended = subprocess.run(
            [
                *(sys.executable, str(Path(__file__).with_name("guided.py")), target, folder),
                *(f"-max_total_time={seconds}", "-max_len=8192", "-timeout=20"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    runs = re.search(r"Done ([0-9]+) runs", ended.stderr)
    covered = re.findall(r"cov: ([0-9]+)", ended.stderr)
    if ended.returncode or runs is None:
        print(ended.stdout[-2000:] + ended.stderr[-6000:], file=sys.stderr)
        raise SystemExit(1)
    print(f"guided, {target}: {int(runs[1]):,} runs, {covered[-1]} edges covered", flush=True)
    return int(runs[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--frames", type=int, default=1_000_000, help="frames in all [default: 1000000]"
    )
    parser.add_argument(
        "--wire", type=int, default=200_000, help="of these, over real sockets [default: 200000]"
    )
    parser.add_argument(
        "--guided", type=int, default=30, help="seconds for each parser; 0: skip [default: 30]"
    )
    parser.add_argument("--seed", default="saratoga", help="[default: saratoga]")
    given = parser.parse_args()
    sent = asyncio.run(over_the_wire(given.wire, given.seed)) if given.wire else 0
    decode(max(0, given.frames - sent), given.seed)
    print(f"{max(given.frames, sent):,} fuzzed frames: no crash, no stack trace out")
    if given.guided:
        runs = sum(guided(target, given.guided) for target in TARGETS)
        print(f"{runs:,} guided runs of {len(TARGETS)} parsers: nothing found")


if __name__ == "__main__":
    main()
