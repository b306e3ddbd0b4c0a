import pytest

from saratoga_rules.moves import (
    COLUMN_INDEX,
    COLUMN_NAMES,
    Carry,
    Draw,
    Redeal,
    parse_move,
)


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("draw", Draw()),
        ("redeal", Redeal()),
        ("w>up", Carry("w", "up")),
        ("r>down", Carry("r", "down")),
        ("t12>t1", Carry("t12", "t1")),
        ("t3>t5:4", Carry("t3", "t5", 4)),
        ("t3>t5:13", Carry("t3", "t5", 13)),
        ("up.S>t2", Carry("up.S", "t2")),
    ],
)
def test_moves_are_read_as_they_are_written(text: str, move: object) -> None:
    assert parse_move(text) == move
    assert str(parse_move(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Draw",
        "draw ",
        "draw\n",
        "t1",
        "t1>",
        "t0>t1",
        "t01>t1",
        "t1>t100",
        "t1>t2:1",
        "t1>t2:0",
        "t1>t2:02",
        "t1>t2:100",
        "t1>t2:-1",
        "t1>w",
        "t1>r",
        "s>t1",
        "up>t1",
        "up.X>t1",
        "upXS>t1",
        "down.S>t1",
        "t1>up.S",
        "t1 > t2",
        "t1>t2\n",
        "t\u0661>t2",
        "7H>t2",
        "x" * 5000,
    ],
)
def test_a_text_that_is_not_a_move_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="is not a move") as refused:
        parse_move(text)
    assert len(str(refused.value)) < 200


def test_a_move_knows_the_columns_it_goes_between() -> None:
    assert (Carry("t3", "t12").origin, Carry("t3", "t12").destination) == (2, 11)
    assert (Carry("w", "up").origin, Carry("w", "up").destination) == (-1, -1)
    assert [COLUMN_INDEX[name] for name in COLUMN_NAMES[:3]] == [0, 1, 2]
