"""Signals request a shutdown; a second one forces it."""

import asyncio
import os
import signal

import pytest

from saratoga_server.cancellation import TaskEnded
from saratoga_server.process import shutdown as module
from saratoga_server.process.shutdown import Shutdown


@pytest.mark.parametrize("stop_signal", [signal.SIGTERM, signal.SIGINT])
async def test_the_first_signal_requests_a_shutdown_and_the_second_forces_it(
    stop_signal: signal.Signals,
) -> None:
    shutdown = Shutdown()
    shutdown.listen_for_signals()
    os.kill(os.getpid(), stop_signal)
    async with asyncio.timeout(10):
        await shutdown.requested.wait()
        assert not shutdown.forced.is_set()
        os.kill(os.getpid(), stop_signal)
        await shutdown.forced.wait()


async def test_a_hangup_never_forces_a_shutdown() -> None:
    shutdown = Shutdown()
    shutdown.listen_for_signals()
    # kernel and shell each send SIGHUP when a terminal is closed
    for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM):
        shutdown.requested.clear()
        os.kill(os.getpid(), number)
        async with asyncio.timeout(10):
            await shutdown.requested.wait()
    assert not shutdown.forced.is_set()


async def test_a_hangup_that_was_ignored_from_the_start_stays_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.SIG_IGN)
    Shutdown().listen_for_signals()
    assert not asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)


async def hang(steps: list[str]) -> None:
    """Wait for ever, in two steps, as closing does while the store hangs."""
    try:
        await asyncio.Event().wait()
    finally:
        steps.append("drained")
        try:
            await asyncio.Event().wait()
        finally:
            steps.append("closed")


async def test_a_shutdown_that_hangs_is_cancelled_step_by_step_when_its_time_is_over(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("STOP_WITHIN", "ABORT_WITHIN", "_STEP_WITHIN"):
        monkeypatch.setattr(module, name, 0.01)
    shutdown = Shutdown()
    steps: list[str] = []
    limited = asyncio.create_task(shutdown.limit(hang(steps), 0.0))
    await asyncio.sleep(0)
    assert steps == []
    shutdown.requested.set()
    async with asyncio.timeout(10):
        await limited
    assert steps == ["drained", "closed"]
    assert [record.getMessage() for record in caplog.records] == ["server_aborted"]


async def test_a_second_signal_does_not_wait_for_the_time() -> None:
    shutdown = Shutdown()
    steps: list[str] = []
    shutdown.requested.set()
    shutdown.forced.set()
    async with asyncio.timeout(module.STOP_WITHIN - module.ABORT_WITHIN):
        await shutdown.limit(hang(steps), 600.0)
    assert steps == ["drained", "closed"]


async def test_a_shutdown_in_time_ends_as_its_work_does() -> None:
    async def fail() -> None:
        raise LookupError("no such folder")

    with pytest.raises(LookupError, match="no such folder"):
        await Shutdown().limit(fail(), 0.0)
    await Shutdown().limit(asyncio.sleep(0), 0.0)


async def test_a_failed_task_ends_the_server_with_an_error_even_if_closing_hangs() -> None:
    shutdown = Shutdown()
    shutdown.fail()
    shutdown.forced.set()
    with pytest.raises(TaskEnded):
        await shutdown.limit(hang([]), 0.0)
    with pytest.raises(TaskEnded):
        await shutdown.limit(asyncio.sleep(0), 0.0)
