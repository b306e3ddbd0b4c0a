"""Long searches that test whether a board is stuck, run in slices in the background."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from saratoga_rules.stuck.stuck import DEFAULT_LIMIT, INLINE_LIMIT, StuckSearch
from saratoga_server.background_tasks import BackgroundTasks, run_logged

SLICE: Final = INLINE_LIMIT // 2
"""Arrangements searched in one slice: well under 2 ms of the event loop."""

MOST_REMEMBERED: Final = 4096

Subject = tuple[str, str, int]
"""The key of a search: race, player, and the length of the board's log."""


class StuckSearches:
    """The searches of this node, run one at a time, while their positions last."""

    def __init__(self, background_tasks: BackgroundTasks) -> None:
        self._background_tasks = background_tasks
        self._turn = asyncio.Semaphore(1)
        self._started: dict[Subject, None] = {}
        self._is_stopped = False

    def search(
        self,
        subject: Subject,
        search: StuckSearch,
        is_wanted: Callable[[], bool],
        end_board: Callable[[], Awaitable[object]],
    ) -> None:
        """Search while `is_wanted` returns true; if the board is proved stuck, call `end_board`.

        A position is searched only once, unless `end_board` failed.
        """
        if subject in self._started or self._is_stopped:
            return
        self._started[subject] = None
        if len(self._started) > MOST_REMEMBERED:
            del self._started[next(iter(self._started))]
        self._background_tasks.spawn(self._search(subject, search, is_wanted, end_board))

    async def _search(
        self,
        subject: Subject,
        search: StuckSearch,
        is_wanted: Callable[[], bool],
        end_board: Callable[[], Awaitable[object]],
    ) -> None:
        is_stuck = None
        async with self._turn:
            for _ in range(DEFAULT_LIMIT // SLICE):
                if is_stuck is not None or self._is_stopped or not is_wanted():
                    break
                is_stuck = search.advance(SLICE)
                await asyncio.sleep(0)
        if is_stuck and not await run_logged(end_board()):
            self._started.pop(subject, None)

    def stop(self) -> None:
        """Stop all searches."""
        self._is_stopped = True
