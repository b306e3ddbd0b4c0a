"""A bench of rate limiters for each test."""

import pytest

from kit.limiters import Bench


@pytest.fixture
def bench() -> Bench:
    return Bench()
