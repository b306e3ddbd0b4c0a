"""Count the cards that the bots bank: every strength, every game, the same deals, without a server.

Run `python tests/benchmarks/bots_bench.py [--deals 500] [--game GAME]`. The limits: each bot banks at least
1.1 times as many cards as the next weaker one, and takes at most 3 ms for a move. The program exits with 1
if a limit is not met.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parent.parent))

from kit.positions import bot_game
from saratoga_client.bots.choose import CHOOSERS
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.play import is_won

LEAST_RATIO = 1.1
MOST_MILLISECONDS = 3.0


def measure(name: str, strength: str, deals: int) -> tuple[float, float, str]:
    """Return the cards banked a deal, the milliseconds a move with the judge, and a line with all figures."""
    game, chooser, began = GAMES[name], CHOOSERS[strength], process_time()
    played = [
        [*bot_game(game, deal_for_key(game, practice_key(f"bench {n}")), chooser, variation=n)]
        for n in range(deals)
    ]
    ends = [positions[-1][0] for positions in played]
    moves = sum(map(len, played)) - deals
    pause = 1000 * (process_time() - began) / max(1, moves)
    banked = sum(end.banked for end in ends) / deals
    won = sum(is_won(game, end) for end in ends)
    line = f"{name:20} {strength:7} {banked:7.2f} banked {won:5} won {moves / deals:7.1f} moves"
    return banked, pause, f"{line} {pause:7.3f} ms a move"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--deals", type=int, default=500)
    parser.add_argument("--game", choices=list(GAMES))
    given = parser.parse_args()
    games = [given.game] if given.game else list(GAMES)
    is_met = True
    with ProcessPoolExecutor() as pool:
        for name in games:
            asked = [pool.submit(measure, name, each, given.deals) for each in CHOOSERS]
            banked, pauses, lines = zip(*(each.result() for each in asked), strict=True)
            ratios = [stronger / weaker for weaker, stronger in pairwise(banked)]
            print(*lines, f"{name:20} ratios {ratios[0]:.2f} {ratios[1]:.2f}", sep="\n", flush=True)
            is_met = is_met and min(ratios) >= LEAST_RATIO and max(pauses) <= MOST_MILLISECONDS
    print("the bar is met" if is_met else "the bar is missed")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
