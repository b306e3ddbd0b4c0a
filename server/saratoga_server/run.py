"""Run the server: start the embedded store, import the rest meanwhile, serve until shutdown is requested."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from typing import Final

from saratoga_server.cancellation import TaskEnded
from saratoga_server.config import Config, StartupError
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.logs import EventLog
from saratoga_server.metrics import Metrics, serve_metrics
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.process import cannot_listen, run_program
from saratoga_server.shutdown import Shutdown

EXPECTED_ERRORS: Final = (StoreRefused, StoreUnavailable, StartupError, TaskEnded)
"""Errors whose text tells the operator what to do; they end the server without a traceback."""

SERVING: Final = "saratoga_server.serving"
"""The module that needs most of the others."""

log = EventLog("server")


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
        server = serve_metrics(metrics, config.metrics_host, config.metrics_port)
    log.info("metrics_open", port=server.port)
    try:
        yield
    finally:
        await asyncio.to_thread(server.close)
