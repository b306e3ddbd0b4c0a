"""The lock of a board: taken at once if it is free, otherwise in order."""

import asyncio

from saratoga_server.live.board_lock import BoardLock


async def test_a_free_lock_is_taken_at_once_and_keeps_others_out() -> None:
    lock = BoardLock()
    assert lock.try_acquire()
    assert not lock.try_acquire()
    other = asyncio.create_task(lock.acquire())
    await asyncio.sleep(0)
    assert not other.done()
    lock.release()
    await other
    assert not lock.try_acquire(), "the waiter holds it"


async def test_a_released_lock_goes_to_the_waiter_first() -> None:
    lock = BoardLock()
    assert lock.try_acquire()
    waiting = asyncio.create_task(lock.acquire())
    await asyncio.sleep(0)
    lock.release()
    # the waiter has not run yet, but the lock was handed to it
    assert not lock.try_acquire()
    await waiting


async def test_waiters_get_the_lock_in_the_order_they_came() -> None:
    lock = BoardLock()
    assert lock.try_acquire()
    order: list[int] = []

    async def enter(number: int) -> None:
        async with lock:
            order.append(number)

    entering = [asyncio.create_task(enter(number)) for number in range(3)]
    await asyncio.sleep(0)
    lock.release()
    await asyncio.gather(*entering)
    assert order == [0, 1, 2]


async def test_a_cancelled_waiter_leaves_the_lock_to_others() -> None:
    lock = BoardLock()
    assert lock.try_acquire()
    waiting = asyncio.create_task(lock.acquire())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    lock.release()
    assert lock.try_acquire()


async def test_a_lock_handed_to_a_cancelled_waiter_goes_to_the_next() -> None:
    lock = BoardLock()
    assert lock.try_acquire()
    first, second = (asyncio.create_task(lock.acquire()) for _ in range(2))
    await asyncio.sleep(0)
    lock.release()
    first.cancel()
    assert not lock.try_acquire()
    await asyncio.gather(first, return_exceptions=True)
    assert not lock.try_acquire()
    await second
    lock.release()
    assert lock.try_acquire()


async def test_the_lock_is_given_back_at_the_end_of_a_block() -> None:
    lock = BoardLock()
    async with lock:
        assert not lock.try_acquire()
    assert lock.try_acquire()
