import doctest

from saratoga_client.review import times


def test_times_are_written_as_said() -> None:
    assert doctest.testmod(times).failed == 0
    assert times.clock(3_599_999) == "59:59"
    assert times.lasting(59_999) == "59.9 s"
