"""Random walks through games: positions that real play reaches, for tests of laws.

A walk depends only on the game, the seed and the strategy, so it is the same every time. Hypothesis
chooses these three and a step of the walk, and prints them when a law is broken.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

from saratoga_client.bots.choose import Choice, Chooser, Memory, remember
from saratoga_rules.analysis import legal_moves
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DOWN, UP, Carry, Draw, Move, Redeal
from saratoga_rules.play import is_won, play
from saratoga_rules.position import Position, format_position, redact

LONGEST = 250
"""The most moves in a walk: enough for every pass of every game."""

SEEDS = 40
"""The number of different deals for each game and strategy."""


class Step(NamedTuple):
    """A step of a walk: a position, its legal moves, and the move that was chosen."""

    game: Game
    position: Position
    legal: tuple[Move, ...]
    """Every legal move of the position."""
    move: Move | None
    """The move that was made; `None` at the end of the walk."""

    def __repr__(self) -> str:
        return f"<{self.game.name}: {format_position(self.position)}; then {self.move}>"


Strategy = Callable[[Sequence[Move], Random], Move]
"""A function that chooses one of the legal moves."""


def wandering(legal: Sequence[Move], chance: Random) -> Move:
    """Choose a legal move at random."""
    return chance.choice(legal)


def banking(legal: Sequence[Move], chance: Random) -> Move:
    """Choose a move to a foundation if possible, else one of a card from the reserve or the waste.

    If there is neither, mostly choose a draw or a redeal, and sometimes a move from a column.
    """
    for wanted in (_banks, _unearths, _shifts):
        chosen = [move for move in legal if wanted(move)]
        if chosen and (wanted is not _shifts or chance.random() < 0.1):
            return chance.choice(chosen)
    turning = [move for move in legal if isinstance(move, Draw | Redeal)]
    return chance.choice(turning or legal)


def _banks(move: Move) -> bool:
    return isinstance(move, Carry) and move.target in (UP, DOWN)


def _unearths(move: Move) -> bool:
    return isinstance(move, Carry) and move.source in ("r", "w")


def _shifts(move: Move) -> bool:
    return isinstance(move, Carry) and move.source.startswith("t")


STRATEGIES: tuple[Strategy, ...] = (wandering, banking)


@cache
def walk(name: str, seed: int, strategy: Strategy) -> tuple[Step, ...]:
    """Return a walk through one deal, until no move is legal or `LONGEST` moves are made."""
    game = GAMES[name]
    chance = Random(f"{name} {seed}")
    position = deal_for_key(game, practice_key(f"walk {seed}"))
    steps: list[Step] = []
    while len(steps) < LONGEST:
        legal = tuple(legal_moves(game, position))
        if not legal:
            break
        move = strategy(legal, chance)
        steps.append(Step(game, position, legal, move))
        position = play(game, position, move)
    steps.append(Step(game, position, tuple(legal_moves(game, position)), None))
    return tuple(steps)


places = st.integers(0, SEEDS * len(STRATEGIES) * LONGEST - 1)
"""Numbers of every step of every walk; Hypothesis draws one number faster than several."""


def step_at(name: str, place: int) -> Step:
    """Return a step of a walk through the game of that name; early and late steps are equally likely."""
    walked = walk_at(name, place)
    return walked[place % LONGEST % len(walked)]


def walk_at(name: str, place: int) -> tuple[Step, ...]:
    """Return the whole walk that contains the step with the number `place`."""
    number = place // LONGEST
    return walk(name, number // len(STRATEGIES), STRATEGIES[number % len(STRATEGIES)])


@cache
def steps(name: str) -> st.SearchStrategy[Step]:
    """Return a Hypothesis strategy for steps of walks; `places` with `step_at` is faster."""
    return places.map(partial(step_at, name))


def bot_game(
    game: Game, start: Position, choose: Chooser, variation: int = 0
) -> Iterator[tuple[Position, Memory, Choice]]:
    """Let a bot, which sees views only, play a deal; yield each position with its memory and choice.

    The last choice is no move: the deal is won, or the bot stops.
    """
    position, memory = start, Memory(variation=variation)
    while True:
        view = redact(position)
        choice = Choice(None, memory) if is_won(game, position) else choose(game, view, memory)
        yield position, memory, choice
        if choice.move is None:
            return
        position = play(game, position, choice.move)
        memory = remember(game, choice.memory, view, choice.move, redact(position))
