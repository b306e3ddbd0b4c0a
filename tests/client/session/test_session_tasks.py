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
    chores = SessionTasks(lambda trouble: InWords(str(trouble)))
    chores.open()
    order: list[int] = []

    async def fail(number: int) -> None:
        order.append(number)
        raise Unreachable("ws://house.invalid", f"reason {number}")

    for number in (1, 2):
        chores.begin(fail(number))
    with pytest.raises(InWords, match="reason 1"):
        await chores.until_the_end()
    await chores.stop()
    assert order == [1, 2]


async def test_a_fault_of_this_program_is_not_hidden(caplog: pytest.LogCaptureFixture) -> None:
    chores = SessionTasks(lambda trouble: trouble)
    chores.open()

    async def stumble() -> None:
        raise ZeroDivisionError

    chores.begin(stumble())
    with pytest.raises(ZeroDivisionError):
        await chores.until_the_end()
    assert "a fault while attending" in caplog.text


async def test_only_the_first_word_on_the_end_counts() -> None:
    chores = SessionTasks(lambda trouble: trouble)
    chores.finish(ClientClosed("before it was opened"))
    chores.open()
    chores.finish()
    chores.finish(ClientClosed("too late"))
    await chores.until_the_end()


async def test_nothing_goes_on_after_the_end() -> None:
    chores = SessionTasks(lambda trouble: trouble)
    chores.open()
    stopped: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("stopped")

    chores.begin(wait())
    await breathe()
    await chores.stop()
    assert stopped == ["stopped"]


async def test_a_chore_that_is_stopped_before_it_began_is_closed() -> None:
    async def never() -> None:
        raise AssertionError

    chores, chore = SessionTasks(lambda fault: fault), never()
    chores.begin(chore)
    await chores.stop()
    assert inspect.getcoroutinestate(chore) == inspect.CORO_CLOSED
