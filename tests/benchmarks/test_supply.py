"""Tests that the number of waiting tables suits the speed of the machine."""

from benchmarks.supply import FIRST_GUESS_OF_ALL, LEAST_SPARE, MORE, MOVES_OF_A_TABLE, Supply


def test_at_first_it_is_guessed() -> None:
    assert Supply().waiting(64, 1.7) == round(FIRST_GUESS_OF_ALL * 1.7 / MOVES_OF_A_TABLE - 32)


def test_then_it_is_known_for_each_number_of_tables() -> None:
    supply = Supply()
    supply.saw(64, 34_000)
    supply.saw(64, 20_000)
    assert supply.waiting(64, 1.0) == round(34_000 * MORE / MOVES_OF_A_TABLE - 32)
    assert supply.waiting(16, 1.0) == Supply().waiting(16, 1.0)
    supply.saw(16, 3_000)
    assert supply.waiting(16, 1.0) < Supply().waiting(16, 1.0)


def test_if_they_were_too_few_twice_as_many_moves_are_reckoned_with() -> None:
    supply = Supply()
    supply.was_short(64)
    assert supply.rate(64) == 2 * FIRST_GUESS_OF_ALL
    supply.was_short(64)
    assert supply.rate(64) == 4 * FIRST_GUESS_OF_ALL


def test_a_few_always_wait() -> None:
    assert Supply().waiting(256, 0.5) == LEAST_SPARE
