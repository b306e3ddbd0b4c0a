"""Signals request a shutdown; a second one forces it."""

import asyncio
import os
import signal

import pytest

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
