"""`saratoga-server`: opens the house and keeps it open until told to stop.

The one place that knows every part: settings in, store and door open, and all of them closed
again in order.
"""

import asyncio
import signal
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Final

import click

from saratoga_protocol.refusals import RESTARTING
from saratoga_server.admin import admin
from saratoga_server.duties import call_off
from saratoga_server.embedded import EmbeddedStore
from saratoga_server.gateway import Door, Gateway
from saratoga_server.house import House
from saratoga_server.http import HttpPages
from saratoga_server.logs import EventLog, set_up_logs
from saratoga_server.metrics import Metrics, MetricsPage, serve_metrics
from saratoga_server.names import reserved_names
from saratoga_server.opening import open_house
from saratoga_server.orders import Orders
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.settings import LogFormat, Settings, settings_options
from saratoga_server.store.channel import listen
from saratoga_server.store.connection import open_store
from saratoga_server.store.health import Health
from saratoga_server.timekeeper import Timekeeper
from saratoga_server.vitals import Vitals

STOP_WITHIN: Final = 20.0
"""Seconds for an orderly end; then the process ends all the same."""

log = EventLog("server")


class CannotOpen(Exception):
    """The house cannot open; the text says why, and what to do."""


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


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if settings.tls_cert is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(settings.tls_cert, settings.tls_key)
    return context


def _metrics_page(settings: Settings, metrics: Metrics) -> MetricsPage | None:
    if settings.metrics_port is None:
        return None
    try:
        page = serve_metrics(metrics, settings.metrics_port, settings.node, settings.metrics_host)
    except OSError as fault:
        raise CannotOpen(
            f"The metrics port {settings.metrics_port} cannot be opened ({fault.strerror}). "
            "Choose another with --metrics-port, or say --metrics-port off."
        ) from None
    log.info("metrics_open", port=page.port)
    return page


async def _open_door(gateway: Gateway, settings: Settings) -> int:
    try:
        return await gateway.open()
    except OSError as fault:
        raise CannotOpen(
            f"{settings.host}:{settings.port} cannot be opened ({fault.strerror or fault}). "
            "Choose another with --host and --port."
        ) from None


class _AtEnd(asyncio.Protocol):
    """Waits for the end of a pipe; what comes before it is for nobody."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then

    def connection_lost(self, exc: Exception | None) -> None:
        self._then()


async def serve(settings: Settings) -> None:
    """Keep the house open until SIGTERM or SIGINT, or, if so set, until nobody holds our input."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, stopping.set)
    if settings.until_eof:
        await loop.connect_read_pipe(lambda: _AtEnd(stopping.set), sys.stdin)
    metrics = Metrics()
    async with (
        _store_url(settings) as url,
        open_store(
            url,
            settings.durability,
            trust_store=settings.trust_store,
            on_batch=metrics.batches.observe,
        ) as store,
    ):
        house = await open_house(store, settings.node, _program(), metrics)
        orders = Orders(house.floor, house.lobby, house.archive, house.hub)
        gateway = Gateway(house, _door(settings), HttpPages(house), metrics)
        vitals = Vitals(house, Health(store.primaries).look, metrics)
        page = _metrics_page(settings, metrics)
        try:
            port = await _open_door(gateway, settings)
            duties = [
                asyncio.create_task(Timekeeper(house, store.tables.due).keep()),
                asyncio.create_task(gateway.watch()),
                asyncio.create_task(gateway.stay_alive()),
                asyncio.create_task(listen(url, orders.obey)),
                asyncio.create_task(vitals.keep()),
            ]
            where = settings.invitation(port)
            log.info("open", address=where, store=settings.store_shown)
            click.echo(f"saratoga-server ready {where}")
            sys.stdout.flush()
            # before somebody needs it who would have to wait
            house.errands.spawn(asyncio.to_thread(reserved_names))
            stop = asyncio.create_task(stopping.wait())
            await asyncio.wait([stop, *duties], return_when=asyncio.FIRST_COMPLETED)
            await _close(house, gateway, [*duties, stop])
        finally:
            if page is not None:
                await asyncio.to_thread(page.close)


async def _close(house: House, gateway: Gateway, duties: Sequence[asyncio.Task[object]]) -> None:
    """Let nobody in, finish what is under way, send everybody to come back elsewhere."""
    log.info("closing", connections=house.metrics.connections)
    house.draining = True
    house.metrics.is_ready = False
    try:
        async with asyncio.timeout(STOP_WITHIN):
            await gateway.close(RESTARTING)
            await house.stop()
    except TimeoutError:
        log.warning("closed_in_haste")
    for fault in await call_off(duties):
        log.error("house_fault", fault=fault)
    log.info("closed")


def _door(settings: Settings) -> Door:
    return Door(
        host=settings.host,
        port=settings.port,
        tls=_tls(settings),
        origins=settings.origins,
        rate=settings.rate,
        burst=settings.burst,
    )


def _program() -> str:
    return f"saratoga-server {version('saratoga')}"


def _run(settings: Settings) -> None:
    try:
        import uvloop  # not there on every system, and not needed
    except ImportError:
        asyncio.run(serve(settings))
    else:
        uvloop.run(serve(settings))


@click.group(invoke_without_command=True)
@click.version_option(version("saratoga"), prog_name="saratoga-server")
@settings_options
@click.pass_context
def main(context: click.Context, settings: Settings) -> None:
    """Open a house: friends race the same patience deal here, with `saratoga`.

    Without options it listens on this machine, port 7470, and keeps its own store.
    """
    context.obj = settings
    if context.invoked_subcommand is not None:
        return
    set_up_logs(
        as_json=settings.log_format is LogFormat.JSON,
        level=settings.log_level,
        node=settings.node,
    )
    try:
        _run(settings)
    except (StoreRefused, StoreUnavailable, CannotOpen, ssl.SSLError) as fault:
        raise click.ClickException(str(fault)) from None


main.add_command(admin)

if __name__ == "__main__":
    main()
