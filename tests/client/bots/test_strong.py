"""The strong bot's choices."""

from dataclasses import replace

from kit.positions import draw
from saratoga_client.bots.memory import Memory
from saratoga_client.bots.strong import MOST_IDLE_MOVES, choose_strongly
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, parse_move
from saratoga_rules.views import View, redact

LAFAYETTE = GAMES["lafayette"]


def view_of(picture: str) -> View:
    return redact(draw(LAFAYETTE, picture))


def test_it_banks_a_card_that_it_can_bank() -> None:
    choice = choose_strongly(LAFAYETTE, view_of("t1: 9C\nwaste: AS\nstock: 2C 5D 9H"), Memory())
    assert choice.move == parse_move("w>up")


def test_it_draws_if_no_move_is_an_improvement_and_the_next_card_is_unknown() -> None:
    choice = choose_strongly(LAFAYETTE, view_of("t1: 5H\nt2: 7H\nstock: 2C 9H JD"), Memory())
    assert choice.move == DRAW


def test_it_follows_its_plan_while_the_plan_is_legal() -> None:
    view = view_of("t1: 9C\nt2: 8H\nstock: 2C 9H JD")
    plan = (parse_move("t2>t1"), DRAW)
    choice = choose_strongly(LAFAYETTE, view, Memory(plan=plan))
    assert choice.move == plan[0]
    assert choice.memory.plan == plan[1:]


def test_it_cashes_out_after_too_many_moves_without_progress() -> None:
    view = view_of("t1: 9C\nwaste: AS\nstock: 2C 5D 9H")
    memory = replace(Memory(), idle=MOST_IDLE_MOVES)
    assert choose_strongly(LAFAYETTE, view, memory).move is None
