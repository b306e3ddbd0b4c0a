"""A process of the server, from its settings to its end: alone, as the parent of workers, or as one of them.

Half a second's worth of program is loaded by whom it is for, and while there is something to wait for:
what a parent does by a parent, and all that serves players while the store comes up (`serving`).
"""

import asyncio
import os
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Final

import click

from saratoga_server.cancellation import TaskEnded
from saratoga_server.config import CannotStart, LogFormat, Settings
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.logs import EventLog, set_up_logs
from saratoga_server.metrics.counters import Metrics
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.process import systemd
from saratoga_server.process.files import allow_all_files
from saratoga_server.process.inheritance import FAILED, READY, Parent
from saratoga_server.process.nowhere import send_nowhere
from saratoga_server.process.stopping import STOP_WITHIN, Stop

SWITCH_EVERY: Final = 0.001
"""Seconds: the event loop waits no longer for its turn beside the thread that counts up a race."""

READY_LINE: Final = "saratoga-server ready "
"""What is printed before the address when players may come."""

TROUBLE: Final = (StoreRefused, StoreUnavailable, CannotStart, TaskEnded, ssl.SSLError)
"""Why a house cannot open, or stay open; each says what to do."""

log = EventLog("server")


@asynccontextmanager
async def _store_url(settings: Settings) -> AsyncIterator[str]:
    """Where the store is: the one that was named, or the embedded one, running while needed."""
    if settings.redis is not None:
        yield settings.redis
        return
    folder = settings.store_folder
    async with EmbeddedStore(folder, settings.durability) as url:
        log.info("store_open", folder=str(folder))
        yield url


def _say_ready(where: str, parent: Parent | None) -> None:
    if parent is not None:
        parent.say(READY, where)
        return
    try:
        click.echo(f"{READY_LINE}{where}")
        sys.stdout.flush()
    except OSError as fault:
        # a terminal that was just closed, a full disk: the house is open all the same
        log.warning("ready_unsaid", text=str(fault))
        send_nowhere(sys.stdout.fileno())
    systemd.tell(systemd.READY)


async def serve(settings: Settings, parent: Parent | None = None) -> None:
    """Keep this process's house open until it is told to stop: by signal, input, or parent.

    Raises `TaskEnded` if it closed for another reason.
    """
    stop = Stop()
    stop.hear_signals()
    stop.hear_hangup()
    if settings.until_eof:
        await stop.hear_input()
    if parent:
        parent.on_end(stop.retire)
    metrics = Metrics()
    connecting = _loaded(_connection)
    async with _store_url(settings) as url:
        connection = await connecting
        loading = _loaded(_serving)
        async with connection.open_store(
            url,
            settings.durability,
            trust_store=settings.trust_store,
            on_batch=metrics.batches.observe,
        ) as store:
            serving = await loading
            await serving.keep_open(
                settings, store, metrics, stop, parent, lambda where: _say_ready(where, parent)
            )


def _loaded(load: Callable[[], ModuleType]) -> "asyncio.Task[ModuleType]":
    """Have a part of the program loaded while the event loop waits for something else."""
    return asyncio.create_task(asyncio.to_thread(load))


def _connection() -> ModuleType:
    # while the embedded store comes up
    from saratoga_server.store import opening

    return opening


def _serving() -> ModuleType:
    # while the store is looked over and is given its Functions
    from saratoga_server import serving

    return serving


async def _keep_workers(settings: Settings) -> None:
    # by the parent alone
    from saratoga_server.process.parent import keep_house

    await keep_house(
        settings, _store_url, STOP_WITHIN, lambda where: _say_ready(where, parent=None)
    )


def _run(work: Coroutine[None, None, None]) -> None:
    sys.setswitchinterval(SWITCH_EVERY)
    allow_all_files()
    try:
        import uvloop  # not there on every system, and not needed
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


def start(settings: Settings) -> None:
    """Keep a house open as it is set; returns when it is closed.

    Raises `click.ClickException`, which says what to do, or in a worker, whose parent says it, `SystemExit`.
    """
    parent = Parent.of(os.environ)
    if parent is not None:
        settings = parent.inheritance.over(settings)
    set_up_logs(
        as_json=settings.log_format is LogFormat.JSON,
        level=settings.log_level,
        node=settings.node,
    )
    try:
        _run(_keep_workers(settings) if settings.workers else serve(settings, parent))
    except TROUBLE as fault:
        if parent is not None:
            # the parent says it, once for all
            parent.say(FAILED, str(fault))
            raise SystemExit(1) from None
        raise click.ClickException(str(fault)) from None
