"""What stays is looked at no more, and what is made later is still found."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from saratoga_server.process.garbage import OLDER, YOUNG, look_seldom, spare_what_stays


class Knot:
    """Something that holds itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def as_before() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("as_before")
def test_what_is_there_is_spared_and_a_knot_tied_later_is_undone() -> None:
    kept = Knot()
    spare_what_stays()
    assert gc.get_freeze_count() > 0
    assert all(each is not kept for each in gc.get_objects())
    later = weakref.ref(Knot())
    made = [[number] for number in range(2 * YOUNG)]
    assert made
    assert later() is None


@pytest.mark.usefixtures("as_before")
def test_a_program_that_is_being_loaded_is_looked_at_seldom() -> None:
    look_seldom()
    assert gc.isenabled()
    assert gc.get_threshold() == (YOUNG, OLDER, OLDER)
