"""Painted boards highlight what is marked, and never show a card that the view hides."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.pictures import SIZES, drawn_board, rows
from kit.positions import draw, places, step_at
from saratoga_client.board_view.draw import draw_board
from saratoga_client.board_view.faces import CardStyle
from saratoga_client.board_view.layout import BoardLayout, TileKind, lay_out
from saratoga_client.board_view.roles import Role
from saratoga_client.input.move_text import PILE_KEYS, foundations, has_pile, key_of, target_of
from saratoga_client.input.selection import Marks
from saratoga_rules.cards import SUITS, Card, card_of
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import COLUMN_INDEX, Carry
from saratoga_rules.position import Position, View, redact

GAME_NAMES = st.sampled_from(list(GAMES))
BOARDS = st.sampled_from([*SIZES, (55, 17), (40, 12), (1, 1), (200, 80)])
CORNER = re.compile(r"(10|[A2-9JQK])([♠♥♦♣])")
SUIT_OF = {"♠": "S", "♥": "H", "♦": "D", "♣": "C"}


def known(name: str, position: Position) -> set[Card]:
    """Return the cards that a view shows, and the first card of every foundation."""
    cards = {card for pile in (*position.columns, position.waste) for card in pile}
    cards |= set(position.reserve[-1:])
    first = [card_of(position.base, suit) for suit in SUITS]
    first += [card_of(13, suit) for suit in SUITS if GAMES[name].down]
    banked = {
        foundation.cards[-1] for foundation in foundations(redact(position)) if foundation.cards
    }
    return cards | {*first} | banked


@given(GAME_NAMES, places, BOARDS)
def test_nothing_is_painted_that_the_view_hides(
    name: str, place: int, board: tuple[int, int]
) -> None:
    game, position, legal, _ = step_at(name, place)
    view = redact(position)
    carries = [move for move in legal if isinstance(move, Carry)]
    marks = Marks(
        picked=(carries[0].source, carries[0].count) if carries else None,
        targets=frozenset(target_of(view, move) for move in carries),
        find="7",
    )
    text = drawn_board(game, view, marks, CardStyle(), *board).text()
    painted = {
        Card(("T" if rank == "10" else rank) + SUIT_OF[suit]) for rank, suit in CORNER.findall(text)
    }
    if board[0] >= SIZES[0][0]:
        assert painted <= known(name, position)
    assert "?" not in text


def roles(name: str, picture: str, marks: Marks, style: CardStyle | None = None) -> dict[str, Role]:
    """Draw a board; return the role of each of its texts: card corners, pile keys and others."""
    game = GAMES[name]
    canvas = drawn_board(game, redact(draw(game, picture)), marks, style or CardStyle(), 55, 21)
    return {piece.text.strip(): piece.role for row in rows(canvas) for piece in row}


def test_the_selected_cards_and_their_targets_are_highlighted() -> None:
    marks = Marks(picked=("t2", 1), targets=frozenset({"t1", "up.S", "t4"}))
    found = roles("canfield", "t1: 3H\nt2: 9C 2S\nt3: 8H\nup: S1 H1", marks)
    assert found["2♠"] is Role.PICKED_BLACK
    assert found["3♥"] is Role.TARGET_RED
    assert found["A♠"] is Role.TARGET_BLACK
    assert found["A♥"] is Role.CARD_RED
    assert found["9♣"] is Role.CARD_BLACK
    assert found["[1]"] is Role.KEY_TARGET
    assert found["[4]"] is Role.KEY_TARGET
    assert found["[f]"] is Role.KEY_TARGET
    assert found["╚════╝"] is Role.SPACE_TARGET


def test_only_the_foundation_that_takes_the_card_is_highlighted() -> None:
    marks = Marks(picked=("t1", 2), targets=frozenset({"t2", "up.S"}))
    found = roles("lady-palk", "t1: 4H 3S\nup: S6,2", marks)
    assert found["2♠"] is Role.TARGET_BLACK
    assert found["6♠"] is Role.CARD_BLACK


def test_a_card_taken_back_comes_from_its_foundation() -> None:
    marks = Marks(picked=("up.S", 1), targets=frozenset({"t1"}))
    found = roles("canfield-aisleriot", "t1: 4H\nup: S3", marks)
    assert found["3♠"] is Role.PICKED_BLACK
    assert found["4♥"] is Role.TARGET_RED


def test_keys_of_piles_with_a_move_are_bright() -> None:
    marks = Marks(sources=frozenset({"t1", "w", "stock"}))
    found = roles("canfield", "t1: 3H\nwaste: 2C", marks)
    assert [found[key] for key in ("space", "w", "1", "2", "f")] == [
        Role.KEY_LIT,
        Role.KEY_LIT,
        Role.KEY_LIT,
        Role.KEY,
        Role.KEY,
    ]


@pytest.mark.parametrize("ascii_only", [False, True])
def test_one_row_cards_have_a_mark_before_them(ascii_only: bool) -> None:
    game = GAMES["caprice"]
    view = redact(draw(game, "t1: 9S\nt2: TS\nt4: 3S"))
    marks = Marks(picked=("t1", 1), targets=frozenset({"t2", "t3"}))
    text = drawn_board(game, view, marks, CardStyle(ascii=ascii_only), 55, 21).text()
    expected = {True: ("* 9s>10s>  _  3s"), False: ("▐ 9♠→10♠→  ·  3♠")}[ascii_only]
    assert expected in text


def test_an_empty_stock_says_whether_a_redeal_is_left() -> None:
    def stock(name: str, picture: str) -> str:
        game = GAMES[name]
        return drawn_board(game, redact(draw(game, picture)), Marks(), CardStyle(), 55, 21).text()

    assert "↻" in stock("canfield", "waste: 2C")
    assert "end" in stock("canfield", "t1: 2C")
    assert "↻" in stock("canfield-aisleriot", "waste: 2C\npass: 2")
    assert "end" in stock("canfield-aisleriot", "waste: 2C\npass: 3")
    assert "end" in stock("lady-palk", "waste: 2C")


WIDTHS = range(55, 141)
HEIGHTS = range(17, 41)
BOARDS_OF_EVERY_WIDTH = st.tuples(st.sampled_from(WIDTHS), st.sampled_from(HEIGHTS))
LOOKS = st.builds(CardStyle, ascii=st.booleans(), hollow=st.booleans())
KEYS = {Role.KEY, Role.KEY_LIT, Role.KEY_TARGET}


def painted(game: Game, view: View, look: CardStyle, board: tuple[int, int]) -> BoardLayout:
    """Return the layout of a picture, after checking all parts of the picture."""
    layout = lay_out(game, view, *board)
    canvas = draw_board(game, view, Marks(), look, layout)
    text = canvas.text()
    assert text.isascii() or not look.ascii
    lines = text.split("\n")
    cells = Counter(
        (x, y)
        for tile in layout.tiles
        for x in range(tile.x, tile.x + tile.width)
        for y in range(tile.y, tile.y + tile.height)
    )
    assert not [cell for cell, count in cells.items() if count > 1]
    assert all(0 <= x < board[0] and 0 <= y < board[1] for x, y in cells)
    for tile in layout.tiles:
        seen = lines[tile.y][tile.x : tile.x + tile.width]
        if tile.card is not None:
            assert look.index(tile.card) in seen
        if tile.pile in COLUMN_INDEX and tile.count > 1:
            assert str(tile.count) in seen
    keys = {piece.text.strip("[]") for row in rows(canvas) for piece in row if piece.role in KEYS}
    assert keys == {key_of(pile) for pile in PILE_KEYS if has_pile(game, pile)}
    return layout


@given(st.sampled_from(list(GAMES)), places, BOARDS_OF_EVERY_WIDTH, LOOKS)
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
