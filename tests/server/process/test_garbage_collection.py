"""Objects made during the start are exempt from garbage collection; later ones are not."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from saratoga_server.process.garbage_collection import (
    OLDER,
    YOUNGEST,
    collect_rarely,
    freeze_startup_objects,
)


class Cycle:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def as_before() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.enable()
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("as_before")
def test_frozen_objects_are_not_collected_and_later_cycles_are() -> None:
    kept = Cycle()
    freeze_startup_objects()
    assert gc.get_freeze_count() > 0
    assert all(each is not kept for each in gc.get_objects())
    later = weakref.ref(Cycle())
    made = [[number] for number in range(2 * YOUNGEST)]
    assert made
    assert later() is None


@pytest.mark.usefixtures("as_before")
def test_the_collector_is_turned_on_with_higher_thresholds() -> None:
    gc.disable()
    collect_rarely()
    assert gc.isenabled()
    assert gc.get_threshold() == (YOUNGEST, OLDER, OLDER)
