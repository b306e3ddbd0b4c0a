from kit.positions import draw
from saratoga_client.board_view.card_style import CardStyle, suit_colours
from saratoga_client.board_view.column_picture import column_picture
from saratoga_client.board_view.layout import ColumnTiles, lay_out
from saratoga_client.board_view.roles import Role
from saratoga_rules.games import GAMES
from saratoga_rules.views import redact

CAPRICE = GAMES["caprice"]
STYLE = CardStyle(suits=suit_colours(CAPRICE), ascii=True)


def column(width: int, height: int) -> ColumnTiles:
    view = redact(draw(CAPRICE, "t1: 9H 8H 7H"))
    return lay_out(CAPRICE, view, width, height).columns[0]


def roles(picked: int = 0, *, is_lit: bool = False, find: str = "") -> set[Role]:
    picture = column_picture(column(120, 37), picked, is_lit, find, "", STYLE)
    return {piece.role for row in picture.rows() for piece in row}


def test_equal_columns_share_one_picture() -> None:
    first = column_picture(column(120, 37), 1, False, "", "", STYLE)
    assert column_picture(column(120, 37), 1, False, "", "", STYLE) is first
    assert column_picture(column(120, 37), 2, False, "", "", STYLE) is not first


def test_picked_lit_and_found_cards_have_roles_of_their_own() -> None:
    assert Role.PICKED_RED not in roles()
    assert Role.PICKED_RED in roles(picked=2)
    assert Role.TARGET_RED in roles(is_lit=True)
    assert Role.FOUND_RED in roles(find="8")


def test_cards_of_one_row_have_marks_at_their_left() -> None:
    tiles = column(55, 21)
    assert tiles.tiles[0].size.height == 1, "the board is too small for larger cards"
    picture = column_picture(tiles, 2, False, "", "", STYLE)
    assert [line[0] for line in picture.text().split("\n")] == [" ", "*", "*"]
