"""Play a deal with a bot but without a server, to measure bots."""

from dataclasses import dataclass

from saratoga_client.bots.choose import Chooser, Memory, remember
from saratoga_rules.game import Game
from saratoga_rules.moves import Move
from saratoga_rules.play import is_won, play
from saratoga_rules.position import Position, redact


@dataclass(frozen=True, slots=True)
class OfflineGame:
    """The result of a bot's game: the last position and the moves."""

    end: Position
    moves: tuple[Move, ...]


def play_offline(game: Game, start: Position, choose: Chooser, variation: int = 0) -> OfflineGame:
    """Let a bot play a deal until it is won or the bot stops; the bot sees views only."""
    position, memory = start, Memory(variation=variation)
    moves: list[Move] = []
    while not is_won(game, position):
        view = redact(position)
        move, memory = choose(game, view, memory)
        if move is None:
            break
        position = play(game, position, move)
        memory = remember(game, memory, view, move, redact(position))
        moves.append(move)
    return OfflineGame(position, tuple(moves))
