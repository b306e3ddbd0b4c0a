"""The face of a card has the requested size and names its card, in every size and state."""

import pytest

from saratoga_client.board_view.card_faces import (
    CardState,
    Rows,
    Size,
    back_face,
    back_strip,
    card_face,
    gap_face,
    space_face,
)
from saratoga_client.board_view.card_style import CardStyle
from saratoga_client.board_view.pile_layout import SIZES, SMALL, STRIPS
from saratoga_rules.cards import PACK, Card

ALL_SIZES = (*SIZES, SMALL, *STRIPS)
LOOKS = (CardStyle(), CardStyle(hollow=True), CardStyle(ascii=True))


def lines(rows: Rows) -> list[str]:
    return ["".join(piece.text for piece in row) for row in rows]


@pytest.mark.parametrize("size", ALL_SIZES)
@pytest.mark.parametrize("style", LOOKS)
def test_every_card_fills_its_size_and_shows_its_corner_first(size: Size, style: CardStyle) -> None:
    for card in PACK:
        for state in CardState:
            face = lines(card_face(card, size, style, state))
            assert [len(line) for line in face] == [size.width] * size.height
            assert style.index(card) in face[0]


@pytest.mark.parametrize("size", ALL_SIZES)
@pytest.mark.parametrize("style", LOOKS)
def test_backs_spaces_and_gaps_fill_their_size(size: Size, style: CardStyle) -> None:
    for count in (0, 1, 9, 84):
        assert {len(line) for line in lines(back_face(count, size, style))} == {size.width}
        assert [len(line) for line in lines(back_strip(count, size, style))] == [size.width]
        assert {len(line) for line in lines(gap_face(count, size, style, CardState.PLAIN))} == {
            size.width
        }
    for words in ("", "K", "10♠", "end"):
        for lit in (False, True):
            face = lines(space_face(words, size, style, lit))
            assert [len(line) for line in face] == [size.width] * size.height
            assert any(words in line for line in face)


def test_in_letters_everything_is_ascii() -> None:
    style = CardStyle(ascii=True)
    for size in ALL_SIZES:
        faces = [
            *(card_face(card, size, style, state) for card in PACK for state in CardState),
            *(gap_face(9, size, style, state) for state in CardState),
            back_face(34, size, style),
            back_strip(1, size, style),
            back_strip(6, size, style),
            space_face("10s", size, style, False),
            space_face("", size, style, True),
        ]
        assert all(line.isascii() for face in faces for line in lines(face))


@pytest.mark.parametrize("size", [size for size in ALL_SIZES if size.height > 1])
@pytest.mark.parametrize("style", LOOKS)
def test_selected_cards_and_targets_differ_by_their_lines_alone(
    size: Size, style: CardStyle
) -> None:
    seen = {
        tuple(lines(card_face(Card("9D"), size, style, state)))
        for state in (CardState.PLAIN, CardState.PICKED, CardState.TARGET)
    }
    assert len(seen) == 3
    assert lines(space_face("K", size, style, False)) != lines(space_face("K", size, style, True))


def test_a_number_on_a_back_stands_clear() -> None:
    assert lines(back_face(35, Size(5, 3), CardStyle())) == ["╭───╮", "│35 │", "╰───╯"]
    assert lines(back_face(7, Size(6, 3), CardStyle())) == ["╭────╮", "│░7░░│", "╰────╯"]


def test_a_face_down_card_of_a_column_has_one_row_and_several_have_their_number() -> None:
    assert lines(back_strip(1, Size(6, 4), CardStyle())) == ["╭░░░░╮"]
    assert lines(back_strip(6, Size(6, 4), CardStyle())) == ["│░6░░│"]
    assert lines(back_strip(1, Size(6, 4), CardStyle(ascii=True))) == ["+%%%%+"]
    assert lines(back_strip(6, Size(6, 4), CardStyle(ascii=True))) == ["|%6%%|"]
    assert lines(back_strip(1, Size(3, 1), CardStyle())) == ["░░░"]
    assert lines(back_strip(6, Size(3, 1), CardStyle())) == ["░░6"]


def test_a_card_under_another_at_its_right_shows_one_corner() -> None:
    assert (
        lines(card_face(Card("QS"), Size(6, 3), CardStyle(), CardState.PLAIN, False))[-1]
        == "╰────╯"
    )
