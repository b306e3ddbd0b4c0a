"""When to stop: told once, in order; told again, at once."""

import asyncio
import os
import signal

import pytest

from saratoga_server.process.stopping import Stop


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_asks_once_and_then_at_once(sign: signal.Signals) -> None:
    stop = Stop()
    stop.hear_signals()
    os.kill(os.getpid(), sign)
    async with asyncio.timeout(10):
        await stop.wanted.wait()
        assert not stop.at_once.is_set()
        os.kill(os.getpid(), sign)
        await stop.at_once.wait()
    assert not stop.unannounced


async def test_the_end_of_the_terminal_is_no_impatience() -> None:
    stop = Stop()
    stop.hear_hangup()
    # a shell that ends sends it as well as the kernel
    for _ in range(2):
        stop.wanted.clear()
        os.kill(os.getpid(), signal.SIGHUP)
        async with asyncio.timeout(10):
            await stop.wanted.wait()
    assert not stop.at_once.is_set()


async def test_whoever_was_told_not_to_mind_the_terminal_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signal, "getsignal", lambda sign: signal.SIG_IGN)
    stop = Stop()
    stop.hear_hangup()
    loop = asyncio.get_running_loop()
    assert not loop.remove_signal_handler(signal.SIGHUP)


def test_who_retires_needs_no_announcement() -> None:
    stop = Stop()
    stop.retire()
    assert stop.wanted.is_set()
    assert stop.unannounced


def test_whoever_was_asked_and_then_loses_its_parent_still_ends_in_order() -> None:
    stop = Stop()
    stop.ask()
    stop.retire()
    assert not stop.unannounced
    assert not stop.at_once.is_set()


def test_whoever_retires_and_is_asked_then_still_ends_in_order() -> None:
    stop = Stop()
    stop.retire()
    stop.ask()
    assert not stop.at_once.is_set()
    stop.ask()
    assert stop.at_once.is_set()
