"""The even bot's choices."""

from kit.positions import draw
from saratoga_client.bots.even import choose_evenly
from saratoga_client.bots.memory import Memory
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW, parse_move
from saratoga_rules.views import View, redact

LAFAYETTE = GAMES["lafayette"]

BANK = parse_move("w>up")


def view_of(picture: str) -> View:
    return redact(draw(LAFAYETTE, picture))


def test_it_usually_banks_a_card_and_overlooks_it_now_and_then() -> None:
    view = view_of("t1: 9C\nwaste: AS\nstock: 2C 5D 9H")
    made = [choose_evenly(LAFAYETTE, view, Memory(variation=each)).move for each in range(300)]
    assert set(made) == {BANK, DRAW}
    assert made.count(DRAW) < made.count(BANK) / 5


def test_it_overlooks_nothing_when_there_is_nothing_to_draw() -> None:
    view = view_of("t1: 9C\nwaste: AS")
    memories = (Memory(variation=number, idle=40) for number in range(300))
    assert {choose_evenly(LAFAYETTE, view, memory).move for memory in memories} == {BANK}


def test_it_follows_its_plan_while_the_plan_is_legal() -> None:
    view = view_of("t1: 9C\nt2: 8H\nwaste: 4S")
    plan = (parse_move("t2>t1"), DRAW)
    choice = choose_evenly(LAFAYETTE, view, Memory(plan=plan))
    assert choice.move == plan[0]
    assert choice.memory.plan == plan[1:]


def test_it_does_not_use_the_remembered_stock() -> None:
    view = view_of("t1: 5H\nt2: 7H\nstock: 2C 9H AD")
    stock = draw(LAFAYETTE, "stock: 2C 9H AD").stock
    for number in range(50):
        remembering = choose_evenly(LAFAYETTE, view, Memory(variation=number, stock=stock))
        assert remembering.move == choose_evenly(LAFAYETTE, view, Memory(variation=number)).move


def test_it_stops_when_it_finds_nothing_and_sees_no_point_in_another_pass() -> None:
    view = view_of("t1: 5H\nt2: 7H\nwaste: 9H")
    assert choose_evenly(LAFAYETTE, view, Memory(idle=40)).move is None
