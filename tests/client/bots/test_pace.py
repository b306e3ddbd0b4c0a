"""A bot's pauses: steady, or like a person's."""

from statistics import mean

import pytest

from saratoga_client.bots.choose import Choice, Memory, choose_strongly, remember
from saratoga_client.bots.player import VARIATION, Pace, human_pace, steady_pace
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import DRAW
from saratoga_rules.play import is_won, play
from saratoga_rules.position import redact

CANFIELD = GAMES["canfield"]


def pauses_of_race(game: Game, number: int, pace: Pace = human_pace) -> list[float]:
    """Return the strong bot's pauses from the deal to the end of its board."""
    position, memory = deal_for_key(game, practice_key(f"pace {number}")), Memory(variation=number)
    pauses: list[float] = []
    while not is_won(game, position):
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
    view = redact(deal_for_key(CANFIELD, practice_key("pace")))
    first, second = (
        human_pace(CANFIELD, view, Memory(variation=number), Choice(DRAW, Memory()))
        for number in (1, 2)
    )
    assert first != second


def test_a_steady_pace_makes_as_many_moves_a_second_as_it_was_given() -> None:
    pauses = pauses_of_race(CANFIELD, 3, steady_pace(4))
    assert mean(pauses) == pytest.approx(1 / 4, rel=0.1)
    assert max(pauses) <= (1 + VARIATION) / 4
