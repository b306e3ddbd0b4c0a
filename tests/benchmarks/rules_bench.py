"""What the rules cost: `python tests/benchmarks/rules_bench.py [--rounds 5]`.

For every move of the played games: judge and play it, redact the position, list its legal moves,
ask whether it is stuck (with the limit that the house uses at once). Processor time, not clock
time; each move is timed in several rounds and its best round counts, so that other work on the
machine does not.
"""

import argparse
import gc
import statistics
import sys
from pathlib import Path
from time import perf_counter_ns, process_time_ns

sys.path.insert(0, str(Path(__file__).parent.parent))

from kit.conformance import played_games
from saratoga_rules.foundations import wanted_cards, wanted_down, wanted_up
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves, play
from saratoga_rules.moves import carry, parse_move
from saratoga_rules.stuck import INLINE_LIMIT, is_stuck
from saratoga_rules.views import redact

ROUNDS = 5
"""Of every move, unless told otherwise."""


def costs(name: str, rounds: int) -> tuple[list[float], int]:
    """Microseconds for each move of a game's played games, and how many verdicts stayed open."""
    best: dict[tuple[int, int], float] = {}
    undecided = 0
    for round_ in range(rounds):
        for number, played in enumerate(played_games(name)):
            forget_everything(played.game)
            position = played.opening()
            for count, step in enumerate(played.steps):
                if step.move is None:
                    continue
                began = process_time_ns()
                position = play(played.game, position, parse_move(step.move))
                redact(position)
                legal_moves(played.game, position)
                verdict = is_stuck(played.game, position, INLINE_LIMIT)
                took = (process_time_ns() - began) / 1000
                best[number, count] = min(took, best.get((number, count), took))
                undecided += round_ == 0 and verdict is None
    return list(best.values()), undecided


def forget_everything(game: Game) -> None:
    """Empty what the rules remember, so that no round lives on the rounds before."""
    wanted_up.cache_clear()
    wanted_down.cache_clear()
    wanted_cards.cache_clear()
    parse_move.cache_clear()
    carry.cache_clear()
    game.columns.offer.cache_clear()  # type: ignore[attr-defined]
    game.columns.packets.cache_clear()  # type: ignore[attr-defined]


def main(rounds: int) -> None:
    gc.disable()
    clock = min(-process_time_ns() + process_time_ns() for _ in range(1000)) / 1000
    print(f"(reading the processor's clock takes {clock:.2f} us of each figure)")
    print(
        f"{'game':20}{'moves':>7}{'median us':>11}{'p90':>8}{'p99':>8}{'max':>9}{'undecided':>11}"
    )
    began = perf_counter_ns()
    for name in GAMES:
        took, undecided = costs(name, rounds)
        hundredths = statistics.quantiles(took, n=100)
        print(
            f"{name:20}{len(took):7}{statistics.median(took):11.1f}{hundredths[89]:8.1f}"
            f"{hundredths[98]:8.1f}{max(took):9.1f}{undecided:11}"
        )
    print(f"{(perf_counter_ns() - began) / 1e9:.1f} s in all")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--rounds", type=int, default=ROUNDS)
    main(arguments.parse_args().rounds)
