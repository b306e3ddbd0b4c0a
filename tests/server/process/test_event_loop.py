"""Running the event loop."""

import asyncio
import sys

import pytest
import uvloop

from saratoga_server.process.event_loop import run_event_loop

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
