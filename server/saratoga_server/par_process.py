"""Search for par in a process of its own: `GAME POSITION` in, `BANKED MOVE MOVE ..` out."""

import gc
import os
import sys

from saratoga_rules.games import GAMES
from saratoga_rules.par import par
from saratoga_rules.position import parse_position


def main() -> None:
    os.nice(10)
    gc.disable()  # a search keeps all that it makes
    game, _, deal = sys.stdin.read().partition(" ")
    line = par(GAMES[game], parse_position(deal))
    sys.stdout.write(f"{line.banked} {' '.join(map(str, line.moves))}\n")


if __name__ == "__main__":
    main()
