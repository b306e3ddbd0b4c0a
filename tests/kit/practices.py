"""Practice games played at random, with undos, redos and hints."""

from functools import cache
from random import Random

from hypothesis import strategies as st

from kit.walks import STRATEGIES
from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.game import PracticeGame, make, new_game, redo, undo
from saratoga_client.practice.hints import hint
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves

LONGEST = 120
SEEDS = 12


@cache
def practice_walk(name: str, seed: int) -> tuple[PracticeGame, ...]:
    """Return a practice game after each step: moves, undos, redos and hints, some seconds apart."""
    chance = Random(f"practice {name} {seed}")
    strategy = STRATEGIES[seed % len(STRATEGIES)]
    practice = new_game(from_seed(GAMES[name], f"walk {seed}"))
    walked = [practice]
    at = 0
    while len(walked) < LONGEST:
        at += chance.randint(0, 4000)
        roll = chance.random()
        legal = legal_moves(practice.game, practice.position)
        if roll < 0.1 and practice.made:
            practice = undo(practice, at)
        elif roll < 0.16 and practice.undone:
            practice = redo(practice, at)
        elif roll < 0.2:
            practice = hint(practice, at).practice
        elif legal:
            practice = make(practice, strategy(legal, chance), at)
        elif not practice.made:
            break
        else:
            practice = undo(practice, at)
        walked.append(practice)
    return tuple(walked)


def practice_at(name: str, place: int) -> PracticeGame:
    """Return a practice game of that patience game; `place` determines the seed and the step."""
    walked = practice_walk(name, place // LONGEST)
    return walked[place % LONGEST % len(walked)]


moments = st.integers(0, SEEDS * LONGEST - 1)
"""Numbers of every step of every practice walk."""
