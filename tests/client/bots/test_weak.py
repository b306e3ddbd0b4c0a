"""The weak bot's choices."""

from dataclasses import replace

from kit.positions import draw
from saratoga_client.bots.memory import Memory
from saratoga_client.bots.weak import MOST_IDLE_MOVES, MOST_PASSES, choose_weakly
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves
from saratoga_rules.moves import REDEAL, parse_move
from saratoga_rules.views import View, redact

AISLERIOT, CANFIELD = GAMES["canfield-aisleriot"], GAMES["canfield"]


def test_it_sometimes_overlooks_a_card_that_it_can_bank() -> None:
    view = redact(draw(CANFIELD, "t1: 9C\nwaste: AS\nstock: 2C 5D 9H\nbase: A"))
    moves = {choose_weakly(CANFIELD, view, Memory(variation=number)).move for number in range(20)}
    assert parse_move("w>up") in moves
    assert len(moves) > 1


def test_it_never_takes_a_card_back_from_a_foundation() -> None:
    view = redact(draw(AISLERIOT, "t1: 6H\nup: S5\nbase: A"))
    assert {str(move)[:5] for move in legal_moves(AISLERIOT, view)} == {"up.S>"}
    assert choose_weakly(AISLERIOT, view, Memory()).move is None


def waste_only(passes: int) -> View:
    return redact(draw(CANFIELD, f"waste: 2S 3S\nbase: A\npass: {passes}"))


def test_it_makes_no_redeal_after_a_few_passes() -> None:
    assert REDEAL in legal_moves(CANFIELD, waste_only(MOST_PASSES))
    early, late = (
        {
            choose_weakly(CANFIELD, waste_only(passes), Memory(variation=number)).move
            for number in range(20)
        }
        for passes in (1, MOST_PASSES)
    )
    assert REDEAL in early
    assert REDEAL not in late


def test_it_cashes_out_after_too_many_moves_without_progress() -> None:
    view = redact(draw(CANFIELD, "t1: 9C\nwaste: AS\nbase: A"))
    memory = replace(Memory(), idle=MOST_IDLE_MOVES)
    assert choose_weakly(CANFIELD, view, memory).move is None
