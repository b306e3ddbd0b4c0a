"""The line of rules on a board: where it lies, and what it says."""

import pytest

from kit.positions import draw
from saratoga_client.board_view.layout import lay_out
from saratoga_client.board_view.rule_line import rule_rows
from saratoga_client.rules_text import column_rules
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.views import View, redact

ALTERNATING = "Columns build down in alternating colours, K on A."


def view_of(name: str, picture: str) -> View:
    return redact(draw(GAMES[name], picture))


def rows_of(name: str, picture: str, width: int = 55, height: int = 21) -> dict[int, str]:
    game, view = GAMES[name], view_of(name, picture)
    return dict(rule_rows(game, view, lay_out(game, view, width, height, None)))


@pytest.mark.parametrize(
    ("name", "picture", "first", "second"),
    [
        ("canfield", "reserve: 4S\nt1: 5H", ALTERNATING, "A space is filled from the reserve."),
        ("canfield", "t1: 5H", ALTERNATING, "A space takes only the top card of the waste."),
        ("lady-palk", "t1: 5H", "Columns build down in any suit.", "A space takes a king, or a packet headed by one."),
        ("caprice", "stock: 2C\nt1: 5H", "Columns build up or down in suit.", "A space is filled from the stock."),
        ("caprice", "t1: 5H", "Columns build up or down in suit.", "A space takes anything that may be carried."),
    ],
)  # fmt: skip
def test_the_last_rows_say_how_columns_build_and_what_fills_a_space_now(
    name: str, picture: str, first: str, second: str
) -> None:
    assert rows_of(name, picture) in ({19: first, 20: second}, {20: f"{first} {second}"})


@pytest.mark.parametrize("name", GAMES)
def test_every_game_says_it_at_the_deal_beside_the_panel_of_a_race(name: str) -> None:
    game = GAMES[name]
    view = redact(deal_for_key(game, practice_key("test")))
    rows = rule_rows(game, view, lay_out(game, view, 55, 21, None))
    assert " ".join(rows.values()) == " ".join(column_rules(game, view))


def test_a_wide_board_says_it_in_one_line() -> None:
    assert rows_of("canfield", "t1: 5H", width=110) == {
        20: f"{ALTERNATING} A space takes only the top card of the waste."
    }


def test_a_board_whose_cards_need_every_row_has_no_line() -> None:
    cards = " ".join(rank + suit for suit in "SHCD" for rank in "KQJT98765432A")
    assert rows_of("lady-palk", f"t1: {cards}") == {}
    assert rows_of("lady-palk", "t1: 5H") != {}


@pytest.mark.parametrize("name", sorted(GAMES))
@pytest.mark.parametrize("length", range(1, 27))
def test_no_card_lies_in_a_row_of_the_text(name: str, length: int) -> None:
    suits = "SH" if GAMES[name].packs == 1 else "SHCD"
    cards = [rank + suit for suit in suits for rank in "KQJT98765432A"][:length]
    view = view_of(name, f"t2: {' '.join(cards)}")
    layout = lay_out(GAMES[name], view, 55, 21, None)
    rows = rule_rows(GAMES[name], view, layout)
    assert not [tile for tile in layout.tiles for y in rows if tile.y <= y < tile.y + tile.height]
