"""What the server sets in its process: the event loop, the limit on open files, the garbage collection."""

import asyncio
import gc
import resource
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvloop

from kit.server_process import running_server
from saratoga_server.process import (
    OLDER,
    YOUNGEST,
    collect_rarely,
    freeze_startup_objects,
    run_event_loop,
)

# Running the event loop


SYSTEMS_OWN = sys.getswitchinterval()


@pytest.mark.parametrize("is_installed", [True, False])
def test_the_server_runs_on_uvloop_where_it_is_installed(
    is_installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_installed:
        monkeypatch.setitem(sys.modules, "uvloop", None)
    on_uvloop: list[bool] = []

    async def work() -> None:
        on_uvloop.append(isinstance(asyncio.get_running_loop(), uvloop.Loop))

    try:
        run_event_loop(work())
        assert sys.getswitchinterval() == pytest.approx(0.001)
    finally:
        sys.setswitchinterval(SYSTEMS_OWN)
    assert on_uvloop == [is_installed]


# The server raises its limit on open files


FEW = 512


@pytest.fixture
def few() -> Iterator[int]:
    """Lower the soft limit on open files, also for child processes; yield the hard limit."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, most))
    try:
        yield most
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def files_of(process: int) -> tuple[int, int]:
    """Return the soft and the hard limit on open files of a process."""
    limits = Path(f"/proc/{process}/limits").read_text(encoding="ascii")
    (line,) = (line for line in limits.splitlines() if line.startswith("Max open files"))
    now, most = line.split()[3:5]
    return int(now), int(most)


async def test_a_server_that_is_started_with_a_low_limit_raises_it(few: int) -> None:
    async with running_server() as server_process:
        assert files_of(server_process.pid) == (few, few)


# Objects made during the start are exempt from garbage collection; later ones are not


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
