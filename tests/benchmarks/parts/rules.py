"""Measure the cost of the rules alone, without a server.

The figures are CPU time. Each move is timed several times and its fastest time counts, which
removes the influence of other work on the machine.
"""

import asyncio
import gc
import statistics
from time import process_time_ns

from benchmarks.reports import Cell, Report
from kit.conformance import played_games
from saratoga_protocol.views import wire_view
from saratoga_rules.analysis import Analysis
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.play import play
from saratoga_rules.stuck.stuck import INLINE_LIMIT, stuck_search
from saratoga_rules.vocabulary.foundations import wanted_cards, wanted_down, wanted_up

ROUNDS, QUICK_ROUNDS = 3, 1

COLUMNS = ("game", "moves", "median us", "p90", "p99", "most", "undecided")


async def rules(report: Report, *, quick: bool) -> None:
    """Measure the cost of every move in the stored games."""
    rows: list[list[Cell]] = []
    gc.disable()
    try:
        for name in GAMES:
            took, undecided = await asyncio.to_thread(
                costs, name, QUICK_ROUNDS if quick else ROUNDS
            )
            hundredths = statistics.quantiles(took, n=100)
            figures = (statistics.median(took), hundredths[89], hundredths[98], max(took))
            rows.append([name, len(took), *figures, undecided])
    finally:
        gc.enable()
    report.table(COLUMNS, rows)
    report.say(
        "For every move of the played games: play it, ask whether the board is stuck, list its legal "
        "moves and make the view, with caches emptied before each game. *Undecided*: searches that the "
        "server would continue in the background."
    )


def costs(name: str, rounds: int) -> tuple[list[float], int]:
    """Return microseconds for each move in a game's stored plays, and the unfinished searches."""
    best: dict[tuple[int, int], float] = {}
    undecided = 0
    for round_ in range(rounds):
        for number, played in enumerate(played_games(name)):
            empty_caches()
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


def empty_caches() -> None:
    """Clear the caches of the rules, so that earlier measurements make no move faster."""
    wanted_up.cache_clear()
    wanted_down.cache_clear()
    wanted_cards.cache_clear()
    parse_move.cache_clear()
