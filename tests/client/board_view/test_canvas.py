"""The cells of a canvas: every row is as wide as the canvas, and nothing is written outside it."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from saratoga_client.board_view.canvas import Canvas, Piece
from saratoga_client.board_view.roles import Role
from saratoga_client.sanitised import UNSEEN

WIDE = st.text(st.sampled_from("aé♠李雷한👋\u0301 ─10"), max_size=12)
ROLES = st.sampled_from([Role.TEXT, Role.KEY, Role.CARD_RED])
WRITINGS = st.lists(st.tuples(st.integers(-6, 14), st.integers(-2, 5), WIDE, ROLES), max_size=12)
ROWS = st.lists(
    st.builds(Piece, st.text("abc─♠", min_size=1, max_size=4), ROLES), min_size=1, max_size=5
).map(tuple)


def widths(canvas: Canvas) -> set[int]:
    return {sum(cell_len(piece.text) for piece in row) for row in canvas.rows()}


def test_pieces_side_by_side_of_one_role_are_one() -> None:
    canvas = Canvas(8, 1)
    after = canvas.pieces(
        1, 0, (Piece("ab", Role.TEXT), Piece("c", Role.TEXT), Piece("d", Role.KEY))
    )
    assert after == 5
    assert canvas.rows() == (
        (
            Piece(" ", Role.TABLE),
            Piece("abc", Role.TEXT),
            Piece("d", Role.KEY),
            Piece("   ", Role.TABLE),
        ),
    )


@given(st.integers(-4, 12), st.text(max_size=12))
def test_no_text_on_a_canvas_is_a_command_to_the_terminal(x: int, text: str) -> None:
    canvas = Canvas(12, 1)
    canvas.put(x, 0, text, Role.TEXT)
    assert not UNSEEN.search("".join(piece.text for piece in canvas.rows()[0]))


def test_a_control_character_is_shown_as_its_number() -> None:
    canvas = Canvas(30, 1)
    after = canvas.put(0, 0, "\x1b]52;c;eA==\x07", Role.TEXT)
    assert canvas.text() == "<U+001B>]52;c;eA==<U+0007>"
    assert after == len(canvas.text())


def test_what_is_beyond_the_edges_is_cut_off() -> None:
    canvas = Canvas(4, 2)
    canvas.put(-2, 0, "abcd", Role.TEXT)
    canvas.put(2, 1, "efgh", Role.TEXT)
    canvas.put(0, 7, "nowhere", Role.TEXT)
    assert canvas.text() == "cd\n  ef"


def test_half_a_wide_sign_is_never_shown() -> None:
    canvas = Canvas(5, 1)
    canvas.put(-1, 0, "李", Role.TEXT)
    canvas.put(4, 0, "雷", Role.TEXT)
    assert canvas.text() == ""
    canvas.put(1, 0, "李", Role.TEXT)
    canvas.put(2, 0, "x", Role.TEXT)
    assert canvas.text() == "  x"


def test_a_sign_without_width_joins_the_one_before() -> None:
    canvas = Canvas(6, 1)
    canvas.put(0, 0, "e\u0301李\u0301x", Role.TEXT)
    assert canvas.text() == "e\u0301李\u0301x"
    assert widths(canvas) == {6}


@given(WRITINGS)
def test_every_row_is_as_wide_as_the_canvas_whatever_is_written(
    writings: list[tuple[int, int, str, Role]],
) -> None:
    canvas = Canvas(9, 3)
    for x, y, text, role in writings:
        canvas.put(x, y, text, role)
        assert widths(canvas) == {9}


def test_one_canvas_lies_over_another() -> None:
    below, above = Canvas(5, 3, Role.DIM), Canvas(2, 1)
    above.put(0, 0, "ab", Role.KEY)
    for y in range(3):
        below.put(0, y, "·····", Role.DIM)
    below.paste(above, 4, 1)
    assert below.text() == "·····\n····a\n·····"
