"""A fixture that creates rate limiters on an invented clock."""

import pytest

from kit.limiters import Bench


@pytest.fixture
def bench() -> Bench:
    return Bench()
