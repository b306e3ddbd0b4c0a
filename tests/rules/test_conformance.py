"""Games played by an independent program: same legal moves, verdicts, deals and endings."""

import pytest

from kit.conformance import PlayedGame, pictured, played_games
from saratoga_rules.analysis import legal_moves
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.play import is_won, play
from saratoga_rules.position import Position, redact
from saratoga_rules.stuck.stuck import is_stuck

LIMIT = 100


@pytest.mark.parametrize("name", GAMES)
def test_every_legal_move_of_every_played_game(name: str) -> None:
    for played in played_games(name):
        for position, step in zip(_positions(played), played.steps, strict=False):
            assert sorted(map(str, legal_moves(played.game, position))) == list(step.legal)
            assert sorted(map(str, legal_moves(played.game, redact(position)))) == list(step.legal)


@pytest.mark.parametrize("name", GAMES)
def test_every_verdict_of_every_played_game(name: str) -> None:
    for played in played_games(name):
        for position, step in zip(_positions(played), played.steps, strict=False):
            verdict = is_stuck(played.game, position, LIMIT)
            # the other program left some of Lady Palk's verdicts open; we decide all of them
            assert verdict is step.stuck or (verdict is not None and step.stuck is None)


@pytest.mark.parametrize("name", GAMES)
def test_both_ends_of_every_played_game(name: str) -> None:
    for played in played_games(name):
        positions = _positions(played)
        assert pictured(played.game, positions[0]) == played.start
        assert pictured(played.game, positions[-1]) == played.end
        assert is_won(played.game, positions[-1]) is played.won


def _positions(played: PlayedGame) -> list[Position]:
    """Return every position of a game, from the deal to the end."""
    positions = [played.opening()]
    for step in played.steps:
        if step.move is not None:
            positions.append(play(played.game, positions[-1], parse_move(step.move)))
    return positions
