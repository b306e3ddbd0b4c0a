"""The counters of a node."""

from saratoga_server.metrics.counters import Histogram


def test_an_observation_at_a_bound_counts_in_its_bucket() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 99.0):
        histogram.observe(value)
    assert histogram.buckets() == [("1.0", 2.0), ("2.0", 4.0), ("+Inf", 5.0)]
    assert (histogram.count, histogram.total) == (5, 104.0)
