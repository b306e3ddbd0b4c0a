import asyncio

from saratoga_server.cancellation import cancel_all, pause


async def swallow_one_cancellation(going_on: asyncio.Event) -> None:
    """Swallow a cancellation, as `asyncio.wait_for` of Python 3.11 sometimes does."""
    going_on.set()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return


async def test_a_duty_whose_cancellation_was_swallowed_ends_at_its_next_pause() -> None:
    going_on = asyncio.Event()
    rounds = 0

    async def duty() -> None:
        nonlocal rounds
        while True:
            rounds += 1
            await swallow_one_cancellation(going_on)
            await pause(0)

    task = asyncio.create_task(duty())
    await going_on.wait()
    assert await cancel_all([task]) == []
    assert task.cancelled()
    assert rounds == 1


async def test_a_task_that_swallows_its_cancellation_is_cancelled_again() -> None:
    going_on = asyncio.Event()

    async def duty() -> None:
        await swallow_one_cancellation(going_on)
        await asyncio.Event().wait()

    task = asyncio.create_task(duty())
    await going_on.wait()
    assert await cancel_all([task]) == []
    assert task.cancelled()


async def test_the_exception_of_a_failed_task_is_returned() -> None:
    fault = ValueError("lost the place")

    async def duty() -> None:
        raise fault

    async def good() -> None:
        return

    tasks = [asyncio.create_task(duty()), asyncio.create_task(good())]
    await asyncio.wait(tasks)
    assert await cancel_all(tasks) == [fault]


async def test_a_task_that_is_not_cancelled_goes_on() -> None:
    rounds = 0

    async def duty() -> None:
        nonlocal rounds
        for _ in range(3):
            rounds += 1
            await pause(0)

    await duty()
    assert rounds == 3
