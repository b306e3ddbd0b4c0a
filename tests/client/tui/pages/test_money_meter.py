import pytest

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.tui.pages.money_meter import draw_amounts, draw_bar, draw_meter, money_role
from saratoga_client.tui.pages.symbols import LETTERS
from saratoga_client.wording import money_meter
from saratoga_rules.games import GAMES


def test_the_meter_has_the_count_the_bar_and_the_tick() -> None:
    canvas = Canvas(22, 4)
    row = draw_meter(canvas, 1, 0, 20, money_meter(GAMES["canfield"], 26), LETTERS)
    assert row == 3
    assert canvas.text() == " banked 26/52\n ====|=====..........\n     |10 = even\n"


def test_the_amounts_are_what_was_paid_and_won_and_the_difference() -> None:
    canvas = Canvas(12, 3)
    assert draw_amounts(canvas, 0, 0, money_meter(GAMES["canfield"], 12)) == 3
    assert canvas.text() == "paid  -$50\nwon   +$60\nnet   +$10"


@pytest.mark.parametrize("name", GAMES)
def test_a_bar_of_any_width_passes_the_tick_exactly_when_the_money_does(name: str) -> None:
    game = GAMES[name]
    for width in range(8, 50):
        for banked in range(game.goal.cards + 1):
            canvas = Canvas(width + 1, 1)
            money = money_meter(game, banked)
            tick = draw_bar(canvas, 0, 0, width, money, LETTERS)
            text = canvas.text()
            before, after = text[:tick], text[tick + 1 :]
            assert (set(before) <= {"="}, "=" in after) == (money.net >= 0, money.net > 0)


def test_a_loss_has_another_role_than_a_gain() -> None:
    assert [money_role(amount) for amount in (-5, 0, 5)] == [
        Role.MONEY_DOWN,
        Role.MONEY_UP,
        Role.MONEY_UP,
    ]
