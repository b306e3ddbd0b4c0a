"""Repeatable chance."""

from saratoga_client.bots.chance import percent


def test_a_number_depends_only_on_the_values_and_their_order() -> None:
    assert percent("a", 1) == percent("a", 1)
    assert percent("a", "b") != percent("b", "a")


def test_every_number_from_0_to_99_comes_up() -> None:
    assert {percent(number) for number in range(2000)} == set(range(100))
