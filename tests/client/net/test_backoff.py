from hypothesis import given
from hypothesis import strategies as st

from saratoga_client.net.backoff import Backoff


def test_the_first_wait_is_short_and_the_last_is_not_long() -> None:
    backoff = Backoff(first=0.1, largest=1.5)
    longest = [backoff.wait(failures, chance=lambda: 1.0) for failures in range(1, 8)]
    assert longest == [0.1, 0.2, 0.4, 0.8, 1.5, 1.5, 1.5]


@given(st.integers(1, 10**9), st.floats(0, 1))
def test_every_wait_is_within_its_limits(failures: int, chance: float) -> None:
    backoff = Backoff(first=0.1, largest=1.5, shortest=0.02)
    assert 0.02 <= backoff.wait(failures, lambda: chance) <= 1.5


def test_waits_are_random() -> None:
    backoff = Backoff(first=1.0, largest=8.0)
    assert backoff.wait(3, chance=lambda: 0.25) == 1.0
