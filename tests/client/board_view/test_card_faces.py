"""A card's face in every size and state: always as large as asked for, and told by its corner."""

import pytest

from saratoga_client.board_view.card_faces import (
    Rows,
    Size,
    State,
    back_face,
    card_face,
    gap_face,
    space_face,
)
from saratoga_client.board_view.look import Look
from saratoga_client.board_view.pile_layout import SIZES, SMALL, STRIPS
from saratoga_rules.cards import PACK, Card

ALL_SIZES = (*SIZES, SMALL, *STRIPS)
LOOKS = (Look(), Look(hollow=True), Look(ascii=True))


def lines(rows: Rows) -> list[str]:
    return ["".join(piece.text for piece in row) for row in rows]


@pytest.mark.parametrize("size", ALL_SIZES)
@pytest.mark.parametrize("look", LOOKS)
def test_every_card_fills_its_size_and_shows_its_corner_first(size: Size, look: Look) -> None:
    for card in PACK:
        for state in State:
            face = lines(card_face(card, size, look, state))
            assert [len(line) for line in face] == [size.width] * size.height
            assert look.index(card) in face[0]


@pytest.mark.parametrize("size", ALL_SIZES)
@pytest.mark.parametrize("look", LOOKS)
def test_backs_spaces_and_gaps_fill_their_size(size: Size, look: Look) -> None:
    for count in (0, 1, 9, 84):
        assert {len(line) for line in lines(back_face(count, size, look))} == {size.width}
        assert {len(line) for line in lines(gap_face(count, size, look, State.PLAIN))} == {
            size.width
        }
    for words in ("", "K", "10♠", "end"):
        for lit in (False, True):
            face = lines(space_face(words, size, look, lit))
            assert [len(line) for line in face] == [size.width] * size.height
            assert any(words in line for line in face)


def test_in_letters_everything_is_ascii() -> None:
    look = Look(ascii=True)
    for size in ALL_SIZES:
        faces = [
            *(card_face(card, size, look, state) for card in PACK for state in State),
            *(gap_face(9, size, look, state) for state in State),
            back_face(34, size, look),
            space_face("10s", size, look, False),
            space_face("", size, look, True),
        ]
        assert all(line.isascii() for face in faces for line in lines(face))


@pytest.mark.parametrize("size", [size for size in ALL_SIZES if size.height > 1])
@pytest.mark.parametrize("look", LOOKS)
def test_picked_and_target_are_told_by_their_lines_alone(size: Size, look: Look) -> None:
    seen = {
        tuple(lines(card_face(Card("9D"), size, look, state)))
        for state in (State.PLAIN, State.PICKED, State.TARGET)
    }
    assert len(seen) == 3
    assert lines(space_face("K", size, look, False)) != lines(space_face("K", size, look, True))


def test_a_number_on_a_back_stands_clear() -> None:
    assert lines(back_face(35, Size(5, 3), Look())) == ["╭───╮", "│35 │", "╰───╯"]
    assert lines(back_face(7, Size(6, 3), Look())) == ["╭────╮", "│░7░░│", "╰────╯"]


def test_a_card_under_another_at_its_right_shows_one_corner() -> None:
    assert lines(card_face(Card("QS"), Size(6, 3), Look(), State.PLAIN, False))[-1] == "╰────╯"
