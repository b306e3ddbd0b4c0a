"""Several processes that are one house: a parent that starts them, and starts again who ends.

The parent binds the port and opens the embedded store; its workers listen on the sockets that they
inherit, so who waits to be let in is let in by another if one is killed. The parent reads no frame
and knows no race: what it can get wrong is little, and it hardly ever needs to be another version.

    SIGTERM, SIGINT     every worker ends in order; sent again, at once
    SIGHUP              one worker after the other is replaced: first the new one is ready, then the
                        old one sends its players to the others. After an upgrade the new ones are
                        the new program. If one does not come up, the old ones stay.

A worker that dies is followed by another, at once and then after growing pauses; one that hangs is killed.
If the parent dies, its workers notice and end in order.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct, field

from saratoga_server.cancellation import cancel_all, pause
from saratoga_server.config import CannotStart
from saratoga_server.logs import EventLog
from saratoga_server.process.stopping import Stop
from saratoga_server.process.worker import Post, Worker, start_worker

LONGEST_PAUSE: Final = 10.0
"""Seconds before a worker that dies again and again is started again."""

FIRST_PAUSE: Final = 0.5

STEADY_AFTER: Final = 30.0
"""Seconds; who lived so long has not died of starting."""

GRACE: Final = 5.0
"""Seconds more than a worker takes at most to end in order; then it is killed."""

AT_ONCE: Final = 3.0
"""Seconds for who is told to end at once."""

HANGS_AFTER: Final = 30.0
"""Seconds without a sign of life, of which there is one every two."""

LISTENS_FOR: Final = 1.0
"""Seconds."""

log = EventLog("workers")


def pause_after(failures: int) -> float:
    """Seconds to wait after that many deaths in a row, none after the first."""
    return 0.0 if failures <= 1 else min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - 2, 30))


class _Place(Struct):
    """A post, and who holds it."""

    post: Post
    worker: Worker
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while another comes to the post."""


class Workers:
    """All workers of one house."""

    def __init__(
        self,
        posts: Sequence[Post],
        *,
        ends_within: float,
        command: Sequence[str] = (),
        on_gone: Callable[[Post], None] = lambda post: None,
    ) -> None:
        """`on_gone` is told of a post that nobody holds for the moment."""
        self._posts = posts
        self._ends_within = ends_within
        self._command = command
        self._on_gone = on_gone
        self._places: list[_Place] = []
        self._leaving: set[Worker] = set()

    async def open(self) -> str:
        """Start all; returns where players come in. Raises `CannotStart`, and then none is left."""
        ready: list[asyncio.Task[str]] = []
        try:
            for post in self._posts:
                worker = await self._started(post)
                self._places.append(_Place(post, worker))
            ready = [asyncio.create_task(place.worker.ready()) for place in self._places]
            addresses = await asyncio.gather(*ready)
        except BaseException:
            await cancel_all(ready)
            await self._end_all(lambda worker: worker.kill(), within=AT_ONCE)
            raise
        for place in self._places:
            log.info("worker_ready", worker=place.post.node, pid=place.worker.pid)
        return addresses[0]

    def pids(self) -> list[int]:
        """Who holds the posts at present, in their order."""
        return [place.worker.pid for place in self._places]

    async def keep(self) -> None:
        """Start again who ends; for ever."""
        async with asyncio.TaskGroup() as group:
            for place in self._places:
                group.create_task(self._keep(place))
                group.create_task(self._watch(place))

    async def _watch(self, place: _Place) -> None:
        """Kill a worker that hangs: its players have long gone elsewhere."""
        while True:
            await pause(HANGS_AFTER / 10)
            worker = place.worker
            if worker.silent_for() < HANGS_AFTER:
                continue
            # perhaps it was this process that stood still, and there is much to hear
            await asyncio.sleep(LISTENS_FOR)
            if worker.silent_for() >= HANGS_AFTER:
                log.error("worker_hangs", worker=place.post.node, pid=worker.pid)
                worker.kill()

    async def _keep(self, place: _Place) -> None:
        failures = 0
        clock = asyncio.get_running_loop().time
        while True:
            began, worker = clock(), place.worker
            await asyncio.wait([worker.ended])
            async with place.lock:
                if place.worker is not worker:
                    continue
                self._on_gone(place.post)
                failures = 1 if clock() - began > STEADY_AFTER else failures + 1
                log.error("worker_died", worker=place.post.node, pid=worker.pid, how=worker.how())
                await worker.gone(AT_ONCE)
                while True:
                    await asyncio.sleep(pause_after(failures))
                    try:
                        place.worker = await self._started(place.post)
                    except CannotStart as fault:
                        failures += 1
                        _failed(place.post, fault)
                    else:
                        break
                await self._came_up(place.worker)

    async def _started(self, post: Post, *, successor: bool = False) -> Worker:
        """Start a process at the post; if that is called off half-way, it leaves with the others."""
        starting = asyncio.ensure_future(
            start_worker(post, successor=successor, command=self._command)
        )
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            with contextlib.suppress(CannotStart):
                self._leaving.add(await starting)
            raise

    async def _came_up(self, worker: Worker) -> bool:
        try:
            await worker.ready()
        except CannotStart as fault:
            _failed(worker.post, fault)
            worker.kill()
            return False
        log.info("worker_ready", worker=worker.post.node, pid=worker.pid)
        return True

    async def replace_all(self) -> bool:
        """Let another come to every post, one after the other; False if one does not come up."""
        log.info("replacing_workers")
        for place in self._places:
            async with place.lock:
                if not await self._replaced(place):
                    log.error("workers_not_replaced", worker=place.post.node)
                    return False
        log.info("workers_replaced")
        return True

    async def _replaced(self, place: _Place) -> bool:
        try:
            successor = await self._started(place.post, successor=True)
        except CannotStart as fault:
            _failed(place.post, fault)
            return False
        self._leaving.add(successor)
        try:
            if not await self._came_up(successor):
                await successor.gone(AT_ONCE)
                return False
            old, place.worker = place.worker, successor
            self._leaving.add(old)
            old.retire()
            await old.gone(self._ends_within + GRACE)
            self._leaving.discard(old)
        finally:
            if place.worker is successor or successor.ended.done():
                self._leaving.discard(successor)
        return True

    async def close(self, stop: Stop) -> None:
        """Let all end in order, or at once if that is asked for meanwhile."""
        closing = asyncio.create_task(
            self._end_all(lambda worker: worker.stop(), within=self._ends_within + GRACE)
        )
        hurry = asyncio.create_task(stop.at_once.wait())
        await asyncio.wait([closing, hurry], return_when=asyncio.FIRST_COMPLETED)
        if not closing.done():
            await self._end_all(lambda worker: worker.stop(), within=AT_ONCE)
        await closing
        await cancel_all([hurry])

    async def _end_all(self, tell: Callable[[Worker], None], within: float) -> None:
        everybody = [place.worker for place in self._places] + list(self._leaving)
        for worker in everybody:
            tell(worker)
        await asyncio.gather(*(worker.gone(within) for worker in everybody))


def _failed(post: Post, fault: CannotStart) -> None:
    log.error("worker_failed", worker=post.node, reason=str(fault))
