"""The parent of a house of several processes: binds, opens the store, keeps the workers.

See `workers` for what it does when it is told something.
"""

import asyncio
import os
import signal
import socket
import stat
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from saratoga_server.cancellation import TaskEnded, cancel_all
from saratoga_server.config import Settings, cannot_listen
from saratoga_server.logs import EventLog
from saratoga_server.process import systemd
from saratoga_server.process.census import Census
from saratoga_server.process.fair_door import bind
from saratoga_server.process.nowhere import send_nowhere
from saratoga_server.process.stopping import Stop
from saratoga_server.process.worker import Post
from saratoga_server.process.workers import Workers

log = EventLog("parent")

StoreUrl = Callable[[Settings], AbstractAsyncContextManager[tuple[str, list["asyncio.Task[None]"]]]]


def posts(
    settings: Settings, doors: tuple[int, ...], store: str | None, census: int | None = None
) -> list[Post]:
    """Who is wanted: numbered names, and metrics ports in a row."""
    first = settings.metrics_port
    return [
        Post(
            node=f"{settings.node}.{place + 1}",
            metrics_port=first + place if first else first,
            doors=doors,
            store=store,
            place=place,
            places=settings.workers,
            census=census,
        )
        for place in range(settings.workers)
    ]


async def keep_house(
    settings: Settings, store: StoreUrl, ends_within: float, ready: Callable[[str], None]
) -> None:
    """Keep the house open until told to stop; `ready` is told where players come in.

    Raises `CannotOpen`, `TaskEnded`, and what `store` raises.
    """
    stop, again = Stop(), asyncio.Event()
    stop.hear_signals()
    _hear_hangup(stop, again)
    if settings.until_eof:
        await stop.hear_input()
    # bound here, listened on by the workers: until the first is ready nobody is kept waiting
    bound = await _bound(settings)
    census, file = Census.made(settings.workers)

    def unbind() -> None:
        for door in bound:
            door.close()

    try:
        doors = tuple(door.fileno() for door in bound)
        async with store(settings) as (url, _):
            inherited = url if settings.redis is None else None
            workers = Workers(
                posts(settings, doors, inherited, file.fileno()),
                ends_within=ends_within + settings.drain_delay,
                on_gone=lambda post: census.gone(post.place),
            )
            await _kept(workers, stop, again, unbind, ready)
    finally:
        unbind()
        census.close()
        file.close()


async def _bound(settings: Settings) -> list[socket.socket]:
    try:
        return await bind(settings.host, settings.port)
    except OSError as fault:
        raise cannot_listen(settings, fault) from None


async def _kept(
    workers: Workers,
    stop: Stop,
    again: asyncio.Event,
    unbind: Callable[[], None],
    ready: Callable[[str], None],
) -> None:
    opening = asyncio.create_task(workers.open())
    stopping = asyncio.create_task(stop.wanted.wait())
    await asyncio.wait([opening, stopping], return_when=asyncio.FIRST_COMPLETED)
    duties: list[asyncio.Task[None]] = []
    try:
        if not opening.done():
            await cancel_all([opening])
            return
        ready(await opening)
        duties = [
            asyncio.create_task(workers.keep()),
            asyncio.create_task(_replace_when_told(workers, again)),
            asyncio.create_task(systemd.stay_alive()),
        ]
        await asyncio.wait([stopping, *duties], return_when=asyncio.FIRST_COMPLETED)
        log.info("closing")
        systemd.tell(systemd.STOPPING)
        if not stop.wanted.is_set():
            raise TaskEnded
    finally:
        for fault in await cancel_all([stopping, *duties]):
            log.error("house_fault", fault=fault)
        # when the workers have closed theirs too, nobody is kept waiting in vain
        unbind()
        await workers.close(stop)
        log.info("closed")


async def _replace_when_told(workers: Workers, again: asyncio.Event) -> None:
    while True:
        await again.wait()
        again.clear()
        systemd.tell(systemd.reloading())
        await workers.replace_all()
        systemd.tell(systemd.READY)


def _hear_hangup(stop: Stop, again: asyncio.Event) -> None:
    """SIGHUP is the wish for new workers, or the end of the terminal that we were started at."""
    at_terminal = sys.stdin is not None and os.isatty(sys.stdin.fileno())

    def heard() -> None:
        if at_terminal and not os.isatty(sys.stdin.fileno()):
            _leave_terminal()
            stop.retire()
        else:
            again.set()

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, heard)


def _leave_terminal() -> None:
    """What is still to be said to a terminal that is gone goes nowhere, and is no fault at the end."""
    send_nowhere(*(each for each in (1, 2) if stat.S_ISCHR(os.fstat(each).st_mode)))
