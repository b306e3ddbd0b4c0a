"""Calls that take too long are cancelled and reported as an unavailable store."""

import asyncio

import pytest

from saratoga_server.ports import StoreUnavailable
from saratoga_server.store_timeout import STORE_TIMEOUT, within_timeout


async def test_what_is_not_done_in_time_is_given_up() -> None:
    with pytest.raises(StoreUnavailable, match="in time"):
        async with within_timeout(0.001):
            await asyncio.Event().wait()


async def test_a_cancelled_call_raises_only_its_cancellation() -> None:
    async def waits() -> None:
        async with within_timeout(STORE_TIMEOUT):
            await asyncio.Event().wait()

    task = asyncio.create_task(waits())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
