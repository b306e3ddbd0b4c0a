"""What the house counts."""

from saratoga_server.metrics.counters import Histogram


def test_an_observation_at_a_bound_falls_below_it() -> None:
    tally = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 99.0):
        tally.observe(value)
    assert tally.buckets() == [("1.0", 2.0), ("2.0", 4.0), ("+Inf", 5.0)]
    assert (tally.count, tally.total) == (5, 104.0)
