"""Turns at a board: at once where it is free, in order where it is not."""

import asyncio

from saratoga_server.live.board_lock import BoardLock


async def test_a_free_turn_is_taken_at_once_and_keeps_others_out() -> None:
    turn = BoardLock()
    assert turn.take_now()
    assert turn.locked()
    assert not turn.take_now()
    other = asyncio.create_task(turn.acquire())
    await asyncio.sleep(0)
    assert not other.done()
    turn.release()
    assert await other
    assert turn.locked()


async def test_nobody_gets_in_before_who_waits() -> None:
    turn = BoardLock()
    assert turn.take_now()
    waiting = asyncio.create_task(turn.acquire())
    await asyncio.sleep(0)
    turn.release()
    # it is free by now, but promised
    assert not turn.take_now()
    assert await waiting


async def test_who_gives_up_waiting_leaves_the_turn_to_others() -> None:
    turn = BoardLock()
    assert turn.take_now()
    waiting = asyncio.create_task(turn.acquire())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    turn.release()
    assert turn.take_now()


async def test_a_turn_that_was_promised_to_somebody_who_is_gone_goes_to_the_next() -> None:
    turn = BoardLock()
    assert turn.take_now()
    first, second = (asyncio.create_task(turn.acquire()) for _ in range(2))
    await asyncio.sleep(0)
    turn.release()
    first.cancel()
    assert not turn.take_now()
    await asyncio.gather(first, return_exceptions=True)
    assert not turn.take_now()
    assert await second


async def test_what_was_taken_so_is_taken_for_whoever_enters_the_usual_way() -> None:
    turn = BoardLock()
    assert turn.take_now()
    order = []

    async def enter() -> None:
        async with turn:
            order.append("entered")

    entering = asyncio.create_task(enter())
    await asyncio.sleep(0)
    order.append("left")
    turn.release()
    await entering
    assert order == ["left", "entered"]
    assert not turn.locked()
