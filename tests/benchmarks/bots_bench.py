"""Count the cards that the bots bank: every strength, every game, the same deals, without a server.

Run `python tests/benchmarks/bots_bench.py [--deals 500] [--game GAME]`. The limits: each bot banks at least
1.1 times as many cards as the next weaker one, and takes at most 3 ms for a move. The program exits with 1
if a limit is not met.
"""

import argparse
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parent.parent))

from kit.offline_bots import play_offline
from saratoga_client.bots.choose import CHOOSERS, Strength
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.play import is_won

LEAST_RATIO = 1.1
MOST_MILLISECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    banked: float
    won: int
    moves: float
    milliseconds: float
    """Mean time for a move in milliseconds, including the judge."""


def measure(name: str, strength: Strength, deals: int) -> Figures:
    game = GAMES[name]
    banked = won = moves = 0
    began = process_time()
    for number in range(deals):
        start = deal_for_key(game, practice_key(f"bench {number}"))
        played = play_offline(game, start, CHOOSERS[strength], variation=number)
        banked += played.end.banked
        won += is_won(game, played.end)
        moves += len(played.moves)
    spent = process_time() - began
    return Figures(
        banked=banked / deals,
        won=won,
        moves=moves / deals,
        milliseconds=1000 * spent / max(1, moves),
    )


def report(game: Game, measured: Mapping[Strength, Figures]) -> bool:
    """Print the figures of every strength; return whether the limits are met."""
    for strength, figures in measured.items():
        print(
            f"{game.name:20} {strength:7} {figures.banked:7.2f} banked {figures.won:5} won "
            f"{figures.moves:7.1f} moves {figures.milliseconds:7.3f} ms a move"
        )
    ratios = [stronger.banked / weaker.banked for weaker, stronger in pairwise(measured.values())]
    print(f"{game.name:20} ratios  {' '.join(f'{ratio:.2f}' for ratio in ratios)}", flush=True)
    is_fast = all(figures.milliseconds <= MOST_MILLISECONDS for figures in measured.values())
    return is_fast and min(ratios) >= LEAST_RATIO


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--deals", type=int, default=500)
    parser.add_argument("--game", choices=list(GAMES))
    given = parser.parse_args()
    games = [given.game] if given.game else list(GAMES)
    with ProcessPoolExecutor() as pool:
        asked = {
            (game, strength): pool.submit(measure, game, strength, given.deals)
            for game in games
            for strength in Strength
        }
        met = [
            report(
                GAMES[game],
                {strength: asked[game, strength].result() for strength in Strength},
            )
            for game in games
        ]
    print("the bar is met" if all(met) else "the bar is missed")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
