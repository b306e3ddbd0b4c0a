import pytest

from kit.positions import draw
from saratoga_client.input.move_text import card_name
from saratoga_client.input.scene import Scene, scene_of
from saratoga_client.input.selection import (
    Selection,
    banked_or_placed,
    either,
    picked,
    revalidated,
    selection_text,
)
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, REDEAL
from saratoga_rules.views import redact


def scene(name: str, picture: str) -> Scene:
    return scene_of(GAMES[name], redact(draw(GAMES[name], picture)), card_name)


def test_a_selection_keeps_what_the_board_still_allows() -> None:
    seen = scene("lafayette", "stock: 2C\nt1: AS\nt2: 7S\nt3: 8H")
    for selection in (
        Selection(picked="t2"),
        Selection(lit=DRAW),
        Selection(aim="up"),
        Selection(picked="t2", size=1),
    ):
        assert revalidated(seen, selection) == selection


@pytest.mark.parametrize(
    "selection",
    [
        Selection(picked="t3", quick=True),
        Selection(picked="w", quick=True),
        Selection(picked="nowhere", quick=True),
        Selection(picked="t2", size=2, quick=True),
        Selection(lit=REDEAL, quick=True),
        Selection(aim="down", quick=True),
    ],
)
def test_a_selection_drops_what_the_board_no_longer_allows(selection: Selection) -> None:
    seen = scene("lafayette", "stock: 2C\nt1: AS\nt2: 7S\nt3: 8H JH\nt4: 9C")
    assert revalidated(seen, selection) == Selection(quick=True)


def test_a_pile_without_moves_leaves_the_selection_unchanged() -> None:
    seen = scene("lafayette", "t1: AS\nt2: 7S\nt3: 8H")
    selection = Selection(picked="t1")
    result = picked(seen, selection, "w")
    assert result.selection == selection
    assert result.says == "The waste is empty."


def test_a_card_that_fits_both_foundations_waits_for_the_player_to_choose() -> None:
    seen = scene("lafayette", "t1: 7S\nup: S6\ndown: S6")
    result = banked_or_placed(seen, Selection(picked="t1"))
    assert result.move is None
    assert result.says == "7♠ fits both foundations: f banks it up, g down."


def test_a_card_with_several_targets_waits_for_the_player_to_choose() -> None:
    seen = scene("lafayette", "t1: 7S\nt2: 8H\nt3: 8D")
    result = banked_or_placed(seen, Selection(picked="t1"))
    assert result.move is None
    assert result.says == "7♠ from column 1: press 2 or 3; esc drops."


@pytest.mark.parametrize(
    ("picture", "size", "expected"),
    [
        ("t1: JS TD\nt2: JC", None, "10♦ from column 1: press 2; esc drops."),
        (
            "t1: JS TD\nt2: QC",
            None,
            "2 cards, J♠ to 10♦ from column 1: press 2; esc drops.",
        ),
        (
            "t1: JS TD\nt2: QC\nt3: JD",
            None,
            "Column 1: 2 takes 2, 3 takes 1; esc drops. + - choose how many.",
        ),
        (
            "t1: JS TD\nt2: QC\nt3: JD",
            1,
            "10♦ from column 1: press 3; esc drops. + - choose how many.",
        ),
        (
            "t1: 2C KS QH JS TD\nt2: JC\nt4: 2S\nt5: JD\nt6: QC",
            None,
            "Column 1: press 2, 3, 5, 6, 7 or 8. + - choose how many.",
        ),
    ],
)
def test_the_text_of_a_selection_names_its_targets(
    picture: str, size: int | None, expected: str
) -> None:
    assert (
        selection_text(scene("lady-palk", picture), Selection(picked="t1", size=size)) == expected
    )


def test_alternatives_are_joined_with_or() -> None:
    assert [either(list(keys)) for keys in ("", "1", "12", "12f")] == ["", "1", "1 or 2", "1, 2 or f"]  # fmt: skip
