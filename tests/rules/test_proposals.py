import pytest

from kit.conformance import sampled_positions
from kit.positions import draw
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.judge import legal_moves, refusal
from saratoga_rules.moves import Move
from saratoga_rules.position import Position
from saratoga_rules.proposals import proposals


def proposed_in(game: Game, position: Position) -> list[Move]:
    _, _, _, up, down, columns, base, _, _ = position
    offer = game.columns.offer(columns, position.face_down_counts, up, down, base)
    return proposals(game, position, offer)


@pytest.mark.parametrize("name", GAMES)
def test_few_proposed_moves_are_refused(name: str) -> None:
    game = GAMES[name]
    positions = list(sampled_positions(name))
    proposed = [move for position in positions for move in proposed_in(game, position)]
    allowed = [
        move
        for position in positions
        for move in proposed_in(game, position)
        if refusal(game, position, move) is None
    ]
    assert len(proposed) <= len(allowed) + len(positions)


def test_a_redeal_is_proposed_even_where_the_judge_refuses_it() -> None:
    position = draw(LADY_PALK, "waste: 2C")
    assert [str(move) for move in proposed_in(LADY_PALK, position)] == ["redeal"]
    assert legal_moves(LADY_PALK, position) == []
