"""Measure what needs no load: the start of a server, an idle server, and the rules alone."""

import asyncio
import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from time import process_time_ns
from unittest.mock import patch

from benchmarks.measuring import processor_seconds
from benchmarks.programs import game_server, lone_store, scratch_folder
from benchmarks.reports import Cell, Report
from kit.conformance import played_games
from saratoga_protocol.views import wire_view
from saratoga_rules.analysis import Analysis
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.play import play
from saratoga_rules.stuck.stuck import INLINE_LIMIT, stuck_search
from saratoga_rules.vocabulary.foundations import wanted_cards, wanted_down, wanted_up

IMPORTS = (
    "import gc, os; gc.disable()\n"
    "import click, hiredis, msgspec, redis.asyncio, uvloop, websockets.server\n"
    "os._exit(0)"
)
"""A program that only imports the server's libraries, and exits without cleaning up."""


async def start(report: Report, *, quick: bool) -> None:
    """Measure the start of a server with an empty embedded store, and the start of its parts."""
    starts: dict[str, Callable[[], float]] = {
        "Python (`python -c pass`)": lambda: _program("pass"),
        "bare Valkey, to its first PONG": lambda: _opened(lone_store),
        "Python, importing the server's libraries": lambda: _program(IMPORTS),
        "server with its embedded store, to its ready line": lambda: _opened(game_server),
    }
    took: dict[str, list[float]] = {name: [] for name in starts}
    with scratch_folder() as folder:
        # from compiled bytecode, as installed programs do, even if Python may not write any
        bytecode = {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}
        with patch.dict(os.environ, bytecode):
            for number in range(6 if quick else 8):
                for name, once in starts.items():
                    seconds = once()
                    if number:  # the first round compiles
                        took[name].append(seconds * 1000)
    medians = {name: statistics.median(some) for name, some in took.items()}
    python, valkey, _, server = medians.values()
    report.table(("from start to ready, empty store", "ms"), list(medians.items()))
    report.bar("ready, in starts of Valkey and Python", server / (python + valkey), 5.0)
    seconds = 10.0 if quick else 30.0
    with game_server() as running:
        processes = (*running.servers, *running.stores)
        await asyncio.sleep(2.0)
        before = processor_seconds(processes)
        await asyncio.sleep(seconds)
        idle = 100 * (processor_seconds(processes) - before) / seconds
    report.bar("an idle server with its store, of a core", idle, 0.5, " %")


def _opened(program: Callable[[], AbstractContextManager[object]]) -> float:
    """Return the seconds from the start of a process until it is ready."""
    began = time.perf_counter()
    with program():
        return time.perf_counter() - began


def _program(text: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", text], check=True)
    return time.perf_counter() - began


async def rules(report: Report, *, quick: bool) -> None:
    """Measure the cost of every move in the stored games; the fastest of several times counts."""
    rows: list[list[Cell]] = []
    gc.disable()
    for name in GAMES:
        took, undecided = await asyncio.to_thread(costs, name, 1 if quick else 3)
        hundredths = statistics.quantiles(took, n=100)
        figures = (statistics.median(took), hundredths[89], hundredths[98], max(took))
        rows.append([name, len(took), *figures, undecided])
    gc.enable()
    report.table(("game", "moves", "median us", "p90", "p99", "most", "undecided"), rows)
    report.say(
        "For every move of the played games: play it, ask whether the board is stuck, list its legal "
        "moves and make the view, with caches emptied before each game. *Undecided*: searches that the "
        "server would continue in the background."
    )


def costs(name: str, rounds: int) -> tuple[list[float], int]:
    """Return CPU microseconds for each move in a game's stored plays, and the number of unfinished searches."""
    best: dict[tuple[int, int], float] = {}
    undecided = 0
    for round_ in range(rounds):
        for number, played in enumerate(played_games(name)):
            for cached in (wanted_up, wanted_down, wanted_cards, parse_move):
                cached.cache_clear()  # so that earlier games make no move faster
            position, analysis = played.opening(), None
            for count, step in enumerate(played.steps):
                if step.move is None:
                    continue
                began = process_time_ns()
                position = play(played.game, position, parse_move(step.move))
                analysis = Analysis(played.game, position, analysis)
                search = stuck_search(analysis)
                verdict = False if search is None else search.advance(INLINE_LIMIT)
                analysis.legal_moves()
                wire_view(position)
                took = (process_time_ns() - began) / 1000
                best[number, count] = min(took, best.get((number, count), took))
                undecided += round_ == 0 and verdict is None
    return list(best.values()), undecided
