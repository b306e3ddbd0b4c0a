"""The background tasks of a table session, and the end of the session."""

import asyncio
import inspect

import pytest

from kit.stepped_connection import run_ready_tasks
from saratoga_client.net.errors import Unreachable
from saratoga_client.session.session_tasks import SessionTasks


class Explained(Exception):
    """An error with a message for the player."""


async def test_the_first_error_of_a_task_ends_the_session_explained() -> None:
    tasks = SessionTasks(lambda error: Explained(str(error)))
    order: list[int] = []

    async def fail(number: int) -> None:
        order.append(number)
        raise Unreachable("ws://server.invalid", f"reason {number}")

    for number in (1, 2):
        tasks.start(fail(number))
    with pytest.raises(Explained, match="reason 1"):
        await tasks.wait_for_end()
    await tasks.cancel()
    assert order == [1, 2]


async def test_an_unexpected_error_of_a_task_is_raised_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tasks = SessionTasks(lambda error: error)

    async def stumble() -> None:
        raise ZeroDivisionError

    tasks.start(stumble())
    with pytest.raises(ZeroDivisionError):
        await tasks.wait_for_end()
    assert "unexpected error in a background task" in caplog.text


async def test_cancelling_stops_every_task() -> None:
    tasks = SessionTasks(lambda error: error)
    stopped: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("stopped")

    tasks.start(wait())
    await run_ready_tasks()
    await tasks.cancel()
    assert stopped == ["stopped"]


async def test_work_that_is_cancelled_before_its_first_step_is_closed() -> None:
    async def never() -> None:
        raise AssertionError

    tasks, work = SessionTasks(lambda fault: fault), never()
    tasks.start(work)
    await tasks.cancel()
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED
