"""A bot playing by itself, without a house: to measure bots, and to practise against them."""

from dataclasses import dataclass

from saratoga_client.bots.choice import Chooser
from saratoga_client.bots.memory import Memory, remember
from saratoga_rules.game import Game
from saratoga_rules.judge import play
from saratoga_rules.moves import Move
from saratoga_rules.position import Position
from saratoga_rules.views import redact


@dataclass(frozen=True, slots=True)
class Played:
    """A board that a bot has played to its end."""

    end: Position
    moves: tuple[Move, ...]


def play_alone(game: Game, start: Position, choose: Chooser, temper: int = 0) -> Played:
    """Let a bot play a deal until it is won or the bot stops; it sees views only."""
    position, memory = start, Memory(temper=temper)
    moves: list[Move] = []
    while not game.goal(position):
        view = redact(position)
        move, memory = choose(game, view, memory)
        if move is None:
            break
        position = play(game, position, move)
        memory = remember(game, memory, view, move, redact(position))
        moves.append(move)
    return Played(position, tuple(moves))
