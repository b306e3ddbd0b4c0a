"""Run the server: start its store, import the rest meanwhile, serve until shut down."""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Final

from prometheus_client import start_http_server

from saratoga_server.background_tasks import TaskEnded
from saratoga_server.config import Config, StartupError
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.logs import EventLog
from saratoga_server.metrics import Metrics
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.process import STDIN, cannot_listen, run_program

EXPECTED_ERRORS: Final = (StoreRefused, StoreUnavailable, StartupError, TaskEnded)
"""Errors whose text tells the operator what to do; they end the server without a traceback."""

SERVING: Final = "saratoga_server.serving"
"""The module that needs most of the others."""

STOP_WITHIN: Final = 20.0
"""Seconds from the request, and a delay that the operator chose, to the end of the process."""

ABORT_WITHIN: Final = 3.0
"""The part of `STOP_WITHIN` that is kept for an end without order."""

_STEP_WITHIN: Final = 1.0
"""Seconds for one step of an end without order, such as the end of the embedded store."""

log = EventLog("server")


# Requests to stop the server, by signal or by the end of standard input, and their time limit


class Shutdown:
    """Events that are set when the server should stop, and when it should stop at once."""

    def __init__(self) -> None:
        self.requested = asyncio.Event()
        self.forced = asyncio.Event()
        """Set by the second SIGTERM or SIGINT: stop without draining."""
        self._was_signalled = False
        self._has_failed = False

    def listen_for_signals(self) -> None:
        """Handle SIGTERM and SIGINT, and SIGHUP unless it was ignored from the start (`nohup`)."""
        loop = asyncio.get_running_loop()
        for stop_signal in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(stop_signal, self._signalled)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            # SIGHUP never forces: kernel and shell both send one when a terminal is closed
            loop.add_signal_handler(signal.SIGHUP, self.requested.set)

    def listen_for_stdin_eof(self) -> None:
        """Request a shutdown when standard input, a pipe or a file, ends."""
        loop = asyncio.get_running_loop()
        # a thread, because uvloop aborts the process if standard input is not a pipe
        threading.Thread(target=self._read_stdin, args=(loop,), name="stdin", daemon=True).start()

    def _read_stdin(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop has ended before
            with suppress(OSError), open(STDIN, "rb", closefd=False) as stdin:
                # OSError: a terminal that was closed
                while stdin.read1():
                    pass  # what it says means nothing
            loop.call_soon_threadsafe(self.requested.set)

    def fail(self) -> None:
        """Request a shutdown because a background task has ended."""
        self._has_failed = True
        self.requested.set()

    async def limit(self, work: Coroutine[None, None, None], delay: float) -> None:
        """Run `work`, and return or raise what it does; cancel it when a shutdown takes too long.

        `delay`: the operator's delay in seconds. Raises `TaskEnded` after `fail`.
        """
        running = asyncio.create_task(work)
        overdue = asyncio.create_task(self._overdue(delay + STOP_WITHIN - ABORT_WITHIN))
        await asyncio.wait([running, overdue], return_when=asyncio.FIRST_COMPLETED)
        overdue.cancel()
        if not running.done():
            log.warning("server_aborted")
        while not running.done():
            # each step of closing may wait, and is cancelled in turn
            running.cancel()
            await asyncio.wait([running], timeout=_STEP_WITHIN)
        if not running.cancelled():
            running.result()
        if self._has_failed:
            raise TaskEnded

    async def _overdue(self, seconds: float) -> None:
        """Return when a shutdown that was requested is forced, or has taken so many seconds."""
        await self.requested.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.forced.wait()

    def _signalled(self) -> None:
        if self._was_signalled:
            self.forced.set()
        self._was_signalled = True
        self.requested.set()


# The server


def run(config: Config) -> None:
    """Run the server until shutdown is requested. Raises `SystemExit` if it cannot run."""
    run_program(config, serve, EXPECTED_ERRORS)


async def serve(config: Config, metrics: Metrics) -> None:
    """Open the server, run it until shutdown is requested, and close it.

    Raises one of `EXPECTED_ERRORS` if it cannot start; `TaskEnded` if a background task ended.
    """
    shutdown = Shutdown()
    shutdown.listen_for_signals()
    if config.until_eof:
        shutdown.listen_for_stdin_eof()
    await shutdown.limit(_serve(config, metrics, shutdown), config.drain_delay)


async def _serve(config: Config, metrics: Metrics, shutdown: Shutdown) -> None:
    async with _metrics_server(config, metrics), _store_address(config) as (url, embedded):
        # not before: the embedded store starts while it is imported
        from saratoga_server.serving import serve_players

        await serve_players(config, url, embedded, metrics, shutdown)


@asynccontextmanager
async def _store_address(config: Config) -> AsyncIterator[tuple[str, EmbeddedStore | None]]:
    """Yield the store's address, and the embedded store if it is that one."""
    if config.redis is not None:
        yield config.redis, None
        return
    embedded = EmbeddedStore(
        config.store_folder, config.durability, while_starting=partial(import_module, SERVING)
    )
    async with embedded as url:
        log.info("store_open", folder=str(config.store_folder))
        yield url, embedded


@asynccontextmanager
async def _metrics_server(config: Config, metrics: Metrics) -> AsyncIterator[None]:
    """Serve the metrics until the context exits, if they are enabled."""
    if config.metrics_port is None:
        yield
        return
    with cannot_listen(
        f"The metrics address {config.metrics_host}:{config.metrics_port}",
        "Choose another with --metrics-host and --metrics-port, or turn metrics off with "
        "--metrics-port off.",
    ):
        server, thread = start_http_server(
            config.metrics_port, config.metrics_host, metrics.registry
        )
    log.info("metrics_open", port=server.server_port)
    try:
        yield
    finally:
        await asyncio.to_thread(server.shutdown)  # half a second at most
        server.server_close()
        thread.join()
