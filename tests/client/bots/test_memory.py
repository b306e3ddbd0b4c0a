"""What a bot remembers, and what it must not know."""

from saratoga_client.bots.memory import Memory, recall, remember
from saratoga_rules.cards import HIDDEN
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.judge import play
from saratoga_rules.moves import DRAW, REDEAL, Move
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


def test_the_first_time_through_nobody_knows_the_stock() -> None:
    position, memory = after(DRAW, DRAW)
    assert set(recall(redact(position), memory).stock) == {HIDDEN}


def test_after_a_redeal_the_stock_is_remembered_in_its_order() -> None:
    position, memory = after(*[DRAW] * 12, REDEAL)
    assert recall(redact(position), memory).stock == position.stock == START.stock


def test_cards_drawn_again_are_no_longer_in_the_remembered_stock() -> None:
    position, memory = after(*[DRAW] * 12, REDEAL, DRAW, DRAW)
    assert recall(redact(position), memory).stock == position.stock == START.stock[6:]


def test_the_reserve_stays_unknown_but_for_its_top() -> None:
    position, memory = after(*[DRAW] * 12, REDEAL)
    reserve = recall(redact(position), memory).reserve
    assert reserve == (HIDDEN,) * 12 + position.reserve[-1:]


def test_a_stock_that_does_not_fit_the_memory_is_not_guessed() -> None:
    view = redact(START)
    assert recall(view, Memory(stock=START.stock[1:])) == view


def test_drawing_known_cards_is_idling_and_new_ones_are_not() -> None:
    _, first_time = after(*[DRAW] * 12)
    _, second_time = after(*[DRAW] * 12, REDEAL, DRAW, DRAW)
    assert first_time.idle == 0
    assert second_time.idle == 3
