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
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from kit.hostile_load import HostileLoad, load_with_hostile_clients
from kit.messages import COMMANDS, EVENTS
from kit.mutations import Spoiler, read_or_refused
from kit.server_process import ServerProcess, running_server
from saratoga_protocol.codec import CODECS, Frame
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.position import format_position
from saratoga_server.messages.node_events import Announce, Banned, Renamed, encode_node_event

RECORDS: Final = Path(__file__).parent.parent / "rules" / "records"

_TEXTS: Final = {
    "moves": ("draw", "redeal", "w>up", "r>t2", "t3>t5:4", "up.H>t1", "t10>down"),
    "pages": (
        *("healthz", "readyz", "api/records/mint-otter-42/3", "api/leaderboards/canfield"),
        "api/leaderboards/caprice?ranking=best&period=week&bots=1&offset=0&limit=20",
    ),
    "addresses": ("192.0.2.7", "192.0.2.7, 10.0.0.1", "[2001:db8::1]:443", "::ffff:192.0.2.7"),
    "names": ("Anna", "Jos\u00e9", "O'Neil", "\u0412\u0435\u0440\u0430", "\u7530\u4e2d", "kg_9"),
    "pasted": (
        *("mint-otter-42", "saratoga join ws://10.0.0.2:7470/mint-otter-42", "wss://x.example/"),
        *("saratoga token wss://x.example:443 " + "ab" * 32, "ws://[::1]:7470"),
    ),
}


def seeds(target: str) -> Iterator[bytes]:
    """Yield valid inputs for a target."""
    if target == "commands":
        for command in COMMANDS.values():
            yield from (_bytes(codec.encode(command)) for codec in CODECS.values())
    elif target == "events":
        for event in EVENTS.values():
            yield from (_bytes(codec.encode(event)) for codec in CODECS.values())
    elif target == "positions":
        for game in GAMES.values():
            yield format_position(deal_for_key(game, practice_key("seed"))).encode()
    elif target == "records":
        yield from (path.read_bytes() for path in sorted(RECORDS.glob("*.record")))
    elif target == "node_events":
        player = "abcdefghijklmnop"
        for node_event in (Announce("Hello."), Banned(player), Renamed(player, "Anna")):
            yield encode_node_event(node_event)
    else:
        yield from (text.encode() for text in _TEXTS[target])


def _bytes(frame: Frame) -> bytes:
    return frame.encode() if isinstance(frame, str) else frame


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
    assert {"BoardChanged", "RaceOver", "Record"} <= answers.keys(), "the clients did not race"
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
