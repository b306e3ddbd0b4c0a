import doctest

from saratoga_client.review import times


def test_durations_are_rounded_down_to_tenths_of_a_second() -> None:
    assert doctest.testmod(times).failed == 0
    assert times.duration_text(59_999) == "59.9 s"
