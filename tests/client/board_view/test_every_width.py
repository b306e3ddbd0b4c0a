"""Boards of every size on screens of at least 80x24: nothing is cut, nothing overlaps."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.positions import draw
from kit.walks import places, step_at
from saratoga_client.board_view.board import Marks, draw_board
from saratoga_client.board_view.card_style import CardStyle
from saratoga_client.board_view.layout import BoardLayout, TileKind, lay_out
from saratoga_client.board_view.roles import Role
from saratoga_client.input.pile_keys import pile_keys
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import COLUMN_INDEX
from saratoga_rules.views import View, redact

WIDTHS = range(55, 141)
HEIGHTS = range(21, 41)
BOARDS = st.tuples(st.sampled_from(WIDTHS), st.sampled_from(HEIGHTS))
LOOKS = st.builds(CardStyle, ascii=st.booleans(), hollow=st.booleans())
KEYS = {Role.KEY, Role.KEY_LIT, Role.KEY_TARGET}


def painted(game: Game, view: View, look: CardStyle, board: tuple[int, int]) -> BoardLayout:
    """Return the layout of a picture, after checking all parts of the picture."""
    layout = lay_out(game, view, *board)
    marks = Marks(labels=pile_keys(game).by_pile)
    canvas = draw_board(game, view, marks, look, layout)
    rows = canvas.text().split("\n")
    cells = Counter(
        (x, y)
        for tile in layout.tiles
        for x in range(tile.x, tile.x + tile.width)
        for y in range(tile.y, tile.y + tile.height)
    )
    assert not [cell for cell, count in cells.items() if count > 1]
    assert all(0 <= x < board[0] and 0 <= y < board[1] for x, y in cells)
    for tile in layout.tiles:
        seen = rows[tile.y][tile.x : tile.x + tile.width]
        if tile.card is not None:
            assert look.index(tile.card) in seen
        if tile.pile in COLUMN_INDEX and tile.count > 1:
            assert str(tile.count) in seen
    keys = {piece.text.strip("[]") for row in canvas.rows() for piece in row if piece.role in KEYS}
    assert keys == set(pile_keys(game).by_pile.values())
    return layout


@given(st.sampled_from(list(GAMES)), places, BOARDS, LOOKS)
def test_a_game_fits_a_board_of_any_size(
    name: str, place: int, board: tuple[int, int], look: CardStyle
) -> None:
    game, position, *_ = step_at(name, place)
    painted(game, redact(position), look, board)


@pytest.mark.parametrize("name", list(GAMES))
def test_columns_deeper_than_any_are_counted_between_their_ends(name: str) -> None:
    game = GAMES[name]
    deep = "KS QH JS TD 9C 8D 7C 6H 5S 4D 3S 2H AC " * 2
    columns = [f"t{n}: {'5C 6C 7C |' * (n % 2)} {deep}" for n in range(1, game.columns.count + 1)]
    view = redact(draw(game, "\n".join(columns)))
    for width in WIDTHS:
        layout = painted(game, view, CardStyle(), (width, 21))
        for number in range(1, game.columns.count + 1):
            below = 3 * (number % 2)
            first, *shown = [tile for tile in layout.tiles if tile.pile == f"t{number}"]
            assert first.count + sum(tile.count for tile in shown) == 26 + below
            if below:
                assert (first.kind, first.count) == (TileKind.BACK, 3)
                first = shown[0]
            assert (first.card, shown[-1].card) == ("KS", "AC")


@given(st.sampled_from(list(GAMES)), places, BOARDS)
def test_a_back_shows_nothing_but_how_many_lie_there(
    name: str, place: int, board: tuple[int, int]
) -> None:
    game, position, *_ = step_at(name, place)
    layout = lay_out(game, redact(position), *board)
    for back in layout.tiles:
        if back.kind is TileKind.BACK:
            assert back.card is None
            assert back.index is None or back.index < 0
