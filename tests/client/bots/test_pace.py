"""The pauses before a bot's moves: steady, or like a person's."""

from statistics import mean

import pytest

from kit.positions import draw
from saratoga_client.bots.choice import Choice
from saratoga_client.bots.memory import Memory, remember
from saratoga_client.bots.pace import (
    AT_THE_DEAL,
    BEFORE_CASHING_OUT,
    REST,
    VARIATION,
    Pace,
    human_pace,
    steady_pace,
)
from saratoga_client.bots.strong import choose_strongly
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.judge import play
from saratoga_rules.moves import DRAW, Move, parse_move
from saratoga_rules.views import View, redact

CANFIELD = GAMES["canfield"]
BANK, PLAY, EMPTY = parse_move("w>up"), parse_move("w>t1"), parse_move("r>up")

VIEW = redact(draw(CANFIELD, "t1: 9C\nt2: 5S\nt3: KD\nt4: 7D\nwaste: 8H AS\nstock: 2C 5D\nbase: A"))
EASY = redact(draw(CANFIELD, "t1: 9C\nt2: 9S\nt3: KD\nt4: KH\nwaste: 8H\nbase: A"))
HARD = redact(draw(CANFIELD, "t1: 9C\nt2: 8D\nt3: 7C\nt4: 6D\nwaste: 8H\nbase: A"))


def usual(view: View, move: Move | None, pace: Pace = human_pace, **memory: object) -> float:
    """Return the mean pause of many bots before a move."""
    return mean(
        pace(CANFIELD, view, each, Choice(move, each))
        for each in (Memory(variation=number, **memory) for number in range(300))  # type: ignore[arg-type]
    )


def pauses_of_race(game: Game, number: int, pace: Pace = human_pace) -> list[float]:
    """Return the strong bot's pauses from the deal to the end of its board."""
    position, memory = deal_for_key(game, practice_key(f"pace {number}")), Memory(variation=number)
    pauses: list[float] = []
    while not game.goal(position):
        view = redact(position)
        choice = choose_strongly(game, view, memory)
        pauses.append(pace(game, view, memory, choice))
        if choice.move is None:
            break
        position = play(game, position, choice.move)
        memory = remember(game, choice.memory, view, choice.move, redact(position))
    return pauses


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_the_strong_bot_makes_half_a_move_to_just_over_one_a_second(game: Game) -> None:
    for number in range(1, 9):
        pauses = pauses_of_race(game, number)
        assert 0.5 <= len(pauses) / sum(pauses) <= 1.2


def test_the_pauses_of_a_race_differ_as_a_person_s_do() -> None:
    pauses = sorted(pauses_of_race(CANFIELD, 1))
    assert pauses[-1] > 4 * pauses[len(pauses) // 2]
    assert pauses[len(pauses) // 2] > 1.4 * pauses[len(pauses) // 10]


def test_the_pauses_depend_only_on_what_the_bot_sees_and_on_its_variation() -> None:
    assert pauses_of_race(CANFIELD, 2) == pauses_of_race(CANFIELD, 2)
    first, second = (
        human_pace(CANFIELD, VIEW, Memory(variation=number), Choice(DRAW, Memory()))
        for number in (1, 2)
    )
    assert first != second


def test_the_bot_looks_at_the_deal_before_its_first_move() -> None:
    assert usual(VIEW, BANK) > 2 * usual(VIEW, BANK, last=PLAY)
    for number in range(50):
        memory = Memory(variation=number)
        pause = human_pace(CANFIELD, VIEW, memory, Choice(BANK, memory))
        assert pause >= AT_THE_DEAL * (1 - VARIATION)


def test_a_bank_after_a_bank_is_quicker_than_any_other_move() -> None:
    quick = usual(VIEW, BANK, last=BANK)
    assert quick < usual(VIEW, DRAW, last=BANK)
    assert quick < usual(VIEW, BANK, last=PLAY)


def test_a_choice_between_many_carries_takes_longer() -> None:
    assert usual(EASY, PLAY, last=PLAY) < usual(HARD, PLAY, last=PLAY)


def test_a_long_plan_takes_longer_to_find_and_is_then_carried_out_faster() -> None:
    last = Memory(last=PLAY)
    alone = human_pace(CANFIELD, VIEW, last, Choice(PLAY, Memory()))
    planned = human_pace(CANFIELD, VIEW, last, Choice(PLAY, Memory(plan=(DRAW, BANK))))
    assert alone < planned
    assert usual(VIEW, PLAY, last=DRAW, plan=(PLAY,)) < usual(VIEW, PLAY, last=DRAW)


def test_a_card_that_was_turned_up_is_looked_at() -> None:
    known = draw(CANFIELD, "stock: 2C 5D").stock
    assert usual(VIEW, DRAW, last=DRAW, stock=known) < usual(VIEW, DRAW, last=DRAW)
    assert usual(VIEW, DRAW, last=PLAY) < usual(VIEW, DRAW, last=EMPTY)
    assert usual(VIEW, DRAW, last=PLAY) < usual(VIEW, DRAW, last=PLAY, turned_up=True)


def test_the_bot_thinks_before_it_cashes_out() -> None:
    assert usual(VIEW, None, last=DRAW) > BEFORE_CASHING_OUT * (1 - VARIATION)


def test_the_bot_rests_now_and_then() -> None:
    pauses = [
        human_pace(CANFIELD, VIEW, memory, Choice(DRAW, memory))
        for memory in (Memory(last=PLAY, variation=number) for number in range(500))
    ]
    assert 0 < sum(pause > REST for pause in pauses) < 50


def test_a_steady_pace_makes_as_many_moves_a_second_as_it_was_given() -> None:
    pauses = pauses_of_race(CANFIELD, 3, steady_pace(4))
    assert mean(pauses) == pytest.approx(1 / 4, rel=0.1)
    assert max(pauses) <= (1 + VARIATION) / 4


def test_a_steady_pace_of_0_makes_no_pauses() -> None:
    assert set(pauses_of_race(CANFIELD, 3, steady_pace(0))) == {0.0}
