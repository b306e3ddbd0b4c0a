import pytest

from kit.conformance import sampled_positions
from kit.positions import draw
from saratoga_rules.games import GAMES
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.judge import legal_moves
from saratoga_rules.proposals import proposals


@pytest.mark.parametrize("name", GAMES)
def test_hardly_a_move_is_proposed_that_is_refused(name: str) -> None:
    game = GAMES[name]
    positions = list(sampled_positions(name))
    proposed = sum(len(proposals(game, position)) for position in positions)
    allowed = sum(
        len(legal_moves(game, position)) - len(game.columns.offer(position.columns).carries)
        for position in positions
    )
    assert allowed <= proposed <= allowed + len(positions)


def test_a_redeal_is_proposed_even_where_the_judge_refuses_it() -> None:
    position = draw(LADY_PALK, "waste: 2C")
    assert [str(move) for move in proposals(LADY_PALK, position)] == ["redeal"]
    assert legal_moves(LADY_PALK, position) == []
