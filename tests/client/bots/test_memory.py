"""A bot remembers what it has seen and knows nothing else."""

from kit.positions import draw, played
from saratoga_client.bots.memory import Memory, recall, remember
from saratoga_rules.cards import HIDDEN
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.judge import play
from saratoga_rules.moves import DRAW, REDEAL, Move, parse_move
from saratoga_rules.position import Position
from saratoga_rules.views import redact

CANFIELD = GAMES["canfield"]
START = deal_for_key(CANFIELD, practice_key("memory"))


def after(*moves: Move) -> tuple[Position, Memory]:
    position, memory = START, Memory()
    for move in moves:
        following = play(CANFIELD, position, move)
        memory = remember(CANFIELD, memory, redact(position), move, redact(following))
        position = following
    return position, memory


def test_the_stock_is_unknown_in_the_first_pass() -> None:
    position, memory = after(DRAW, DRAW)
    assert set(recall(redact(position), memory).stock) == {HIDDEN}


def test_after_a_redeal_the_stock_is_remembered_in_its_order() -> None:
    position, memory = after(*[DRAW] * 12, REDEAL)
    assert recall(redact(position), memory).stock == position.stock == START.stock


def test_cards_drawn_again_are_no_longer_in_the_remembered_stock() -> None:
    position, memory = after(*[DRAW] * 12, REDEAL, DRAW, DRAW)
    assert recall(redact(position), memory).stock == position.stock == START.stock[6:]


def test_the_reserve_below_its_top_card_stays_unknown() -> None:
    position, memory = after(*[DRAW] * 12, REDEAL)
    reserve = recall(redact(position), memory).reserve
    assert reserve == (HIDDEN,) * 12 + position.reserve[-1:]


def test_a_remembered_stock_of_another_size_is_ignored() -> None:
    view = redact(START)
    assert recall(view, Memory(stock=START.stock[1:])) == view


def test_drawing_known_cards_is_no_progress_and_drawing_new_ones_is() -> None:
    _, first_time = after(*[DRAW] * 12)
    _, second_time = after(*[DRAW] * 12, REDEAL, DRAW, DRAW)
    assert first_time.idle == 0
    assert second_time.idle == 3


def test_a_card_of_a_column_that_turns_up_is_progress_and_is_remembered_as_the_last_move() -> None:
    game = GAMES["klondike"]
    before = draw(game, "t1: AS | 8H\nt2: 9S\nt3: 2S 3H")
    memory = Memory(idle=5, most_banked=1, fewest_in_hand=1)
    turned = played(game, before, "t1>t2")
    memory = remember(game, memory, redact(before), parse_move("t1>t2"), redact(turned))
    assert (memory.turned_up, memory.idle) == (True, 0)
    banked = played(game, turned, "t1>up")
    memory = remember(game, memory, redact(turned), parse_move("t1>up"), redact(banked))
    assert not memory.turned_up
