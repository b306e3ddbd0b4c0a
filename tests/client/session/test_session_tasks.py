"""What goes on beside everything else, and how it ends."""

import asyncio
import inspect

import pytest

from kit.model_house import breathe
from saratoga_client.net.errors import ClientClosed, Unreachable
from saratoga_client.session.session_tasks import SessionTasks


class InWords(Exception):
    """A trouble as the player is told."""


async def test_the_first_trouble_ends_it_all_in_words() -> None:
    tasks = SessionTasks(lambda trouble: InWords(str(trouble)))
    order: list[int] = []

    async def fail(number: int) -> None:
        order.append(number)
        raise Unreachable("ws://house.invalid", f"reason {number}")

    for number in (1, 2):
        tasks.start(fail(number))
    with pytest.raises(InWords, match="reason 1"):
        await tasks.wait_for_end()
    await tasks.cancel()
    assert order == [1, 2]


async def test_a_fault_of_this_program_is_not_hidden(caplog: pytest.LogCaptureFixture) -> None:
    tasks = SessionTasks(lambda trouble: trouble)

    async def stumble() -> None:
        raise ZeroDivisionError

    tasks.start(stumble())
    with pytest.raises(ZeroDivisionError):
        await tasks.wait_for_end()
    assert "unexpected error in a background task" in caplog.text


async def test_only_the_first_word_on_the_end_counts() -> None:
    tasks = SessionTasks(lambda trouble: trouble)
    tasks.end()
    tasks.end(ClientClosed("too late"))
    await tasks.wait_for_end()


async def test_nothing_goes_on_after_the_end() -> None:
    tasks = SessionTasks(lambda trouble: trouble)
    stopped: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("stopped")

    tasks.start(wait())
    await breathe()
    await tasks.cancel()
    assert stopped == ["stopped"]


async def test_a_chore_that_is_stopped_before_it_began_is_closed() -> None:
    async def never() -> None:
        raise AssertionError

    tasks, work = SessionTasks(lambda fault: fault), never()
    tasks.start(work)
    await tasks.cancel()
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED
