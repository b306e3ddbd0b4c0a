"""Long searches for *stuck*, gone on with while nobody waits for them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from saratoga_rules.stuck import DEFAULT_LIMIT, INLINE_LIMIT, StuckSearch
from saratoga_server.background_tasks import run_logged

SLICE: Final = INLINE_LIMIT // 2
"""Arrangements that a slice looks at: well under 2 ms of the event loop."""

MOST_REMEMBERED: Final = 4096

Subject = tuple[str, str, int]
"""What is searched: race, player, and the length of the board's log."""


class StuckSearches:
    """One search at a time, in slices, each given up when its position is out of date."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Semaphore(1)
        self._taken_up: dict[Subject, None] = {}

    def go_on(
        self,
        subject: Subject,
        search: StuckSearch,
        is_wanted: Callable[[], bool],
        on_stuck: Callable[[], Awaitable[object]],
    ) -> None:
        """Search while `is_wanted`; if the position is proved stuck, `on_stuck` is called.

        A subject that was taken up before is passed over, unless `on_stuck` failed then.
        """
        if subject in self._taken_up:
            return
        self._taken_up[subject] = None
        if len(self._taken_up) > MOST_REMEMBERED:
            del self._taken_up[next(iter(self._taken_up))]
        task = asyncio.create_task(self._search(subject, search, is_wanted, on_stuck))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _search(
        self,
        subject: Subject,
        search: StuckSearch,
        is_wanted: Callable[[], bool],
        on_stuck: Callable[[], Awaitable[object]],
    ) -> None:
        verdict = None
        async with self._turn:
            for _ in range(DEFAULT_LIMIT // SLICE):
                if verdict is not None or not is_wanted():
                    break
                verdict = search.advance(SLICE)
                await asyncio.sleep(0)
        if verdict and not await run_logged(on_stuck()):
            self._taken_up.pop(subject, None)

    async def stop(self) -> None:
        """Give up all of them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
