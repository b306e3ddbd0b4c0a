"""`saratoga-server`: opens the house and keeps it open until told to stop.

The one place that knows every part: settings in, store and door open, and all of them closed
again in order.
"""

import asyncio
import os
import ssl
import sys
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Final

import click

from saratoga_protocol.refusals import RESTARTING
from saratoga_server.admin.backup_commands import backup, restore
from saratoga_server.admin.commands import admin
from saratoga_server.duties import DutyEnded, call_off
from saratoga_server.edge.gateway import Door, Gateway
from saratoga_server.edge.http import HttpPages
from saratoga_server.gauges.metrics import Metrics
from saratoga_server.gauges.vitals import Vitals
from saratoga_server.house.house import House
from saratoga_server.house.opening import open_house
from saratoga_server.house.timekeeper import Timekeeper
from saratoga_server.logs import EventLog, set_up_logs
from saratoga_server.naming.names import reserved_names
from saratoga_server.own_store.embedded import EmbeddedStore
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.process import systemd
from saratoga_server.process.files import allow_all_files
from saratoga_server.process.garbage import spare_what_stays
from saratoga_server.process.inheritance import FAILED, READY, Parent
from saratoga_server.process.metrics_door import MetricsDoor
from saratoga_server.process.parent import keep_house
from saratoga_server.process.stopping import Stop
from saratoga_server.settings import (
    CannotOpen,
    LogFormat,
    Settings,
    cannot_listen,
    settings_options,
)
from saratoga_server.store.connection import open_store
from saratoga_server.store.health import Health

STOP_WITHIN: Final = 20.0
"""Seconds for an orderly end; then the process ends all the same."""

SWITCH_EVERY: Final = 0.001
"""Seconds: the event loop waits no longer for its turn beside the thread that counts up a race."""

READY_LINE: Final = "saratoga-server ready "
"""What is printed before the address when players may come."""

TROUBLE: Final = (StoreRefused, StoreUnavailable, CannotOpen, DutyEnded, ssl.SSLError)
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


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if settings.tls_cert is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(settings.tls_cert, settings.tls_key)
    return context


def _say_ready(where: str, parent: Parent | None) -> None:
    if parent is not None:
        parent.say(READY, where)
        return
    click.echo(f"{READY_LINE}{where}")
    sys.stdout.flush()
    systemd.tell(systemd.READY)


async def _open_door(gateway: Gateway, settings: Settings, parent: Parent | None) -> int:
    try:
        if parent is not None:
            return await gateway.open(parent.doors(), parent.census())
        return await gateway.open()
    except OSError as fault:
        raise cannot_listen(settings, fault) from None


async def serve(settings: Settings, parent: Parent | None = None) -> None:
    """Keep this process's house open until it is told to stop: by signal, input, or parent.

    Raises `DutyEnded` if it closed for another reason.
    """
    stop = Stop()
    stop.hear_signals()
    stop.hear_hangup()
    if settings.until_eof:
        await stop.hear_input()
    if parent:
        parent.on_end(stop.retire)
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
        gateway = Gateway(house, _door(settings), HttpPages(house), metrics)
        vitals = Vitals(house, Health(store.primaries).look, metrics)
        door = MetricsDoor(metrics, settings)
        if parent is None or not parent.inheritance.successor:
            door.open()
        try:
            port = await _open_door(gateway, settings, parent)
            duties = [
                asyncio.create_task(Timekeeper(house, store.tables.due).keep()),
                asyncio.create_task(gateway.watch()),
                asyncio.create_task(gateway.stay_alive()),
                asyncio.create_task(house.news.keep()),
                asyncio.create_task(vitals.keep()),
                asyncio.create_task(door.keep_open()),
                asyncio.create_task(systemd.stay_alive()),
            ]
            if parent is not None:
                duties.append(asyncio.create_task(parent.beat()))
            spare_what_stays()
            where = settings.invitation(port)
            log.info("open", address=where, store=settings.store_shown)
            _say_ready(where, parent)
            # before somebody needs it who would have to wait
            house.errands.spawn(asyncio.to_thread(reserved_names))
            stopping = asyncio.create_task(stop.wanted.wait())
            await asyncio.wait([stopping, *duties], return_when=asyncio.FIRST_COMPLETED)
            has_failed = not stop.wanted.is_set()
            systemd.tell(systemd.STOPPING)
            if stop.unannounced:
                # whoever follows waits for the port
                house.errands.spawn(door.close())
            await _close(house, gateway, stop, settings.drain_delay, [*duties, stopping])
            if has_failed:
                raise DutyEnded
        finally:
            await door.close()


async def _close(
    house: House, gateway: Gateway, stop: Stop, delay: float, duties: Sequence[asyncio.Task[object]]
) -> None:
    """Let nobody in, finish what is under way, send everybody to come back elsewhere."""
    log.info("closing", connections=house.metrics.connections)
    house.leaving, house.metrics.is_ready = True, False
    hurry = asyncio.create_task(stop.at_once.wait())
    closing = asyncio.create_task(_see_out(house, gateway, 0 if stop.unannounced else delay))
    await asyncio.wait([closing, hurry], return_when=asyncio.FIRST_COMPLETED)
    if not closing.done():
        log.warning("closed_in_haste")
        gateway.cut()
    for fault in await call_off([*duties, hurry, closing]):
        log.error("house_fault", fault=fault)
    log.info("closed")


async def _see_out(house: House, gateway: Gateway, delay: float) -> None:
    # players go on as before while balancers notice
    await asyncio.sleep(delay)
    house.draining = True
    gateway.stop_listening()
    try:
        async with asyncio.timeout(STOP_WITHIN):
            await gateway.see_out(RESTARTING, house.is_racing)
            await gateway.close(RESTARTING)
            await house.stop()
    except TimeoutError:
        log.warning("closed_in_haste")
        gateway.cut()


def _door(settings: Settings) -> Door:
    return Door(
        host=settings.host,
        port=settings.port,
        tls=_tls(settings),
        origins=settings.origins,
        rate=settings.rate,
        burst=settings.burst,
        trusted_proxies=settings.trusted_proxies,
        per_address=settings.limits_per_address,
    )


def _program() -> str:
    return f"saratoga-server {version('saratoga')}"


def _run(work: Coroutine[None, None, None]) -> None:
    sys.setswitchinterval(SWITCH_EVERY)
    allow_all_files()
    try:
        import uvloop  # not there on every system, and not needed
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


async def _keep_workers(settings: Settings) -> None:
    await keep_house(
        settings, _store_url, STOP_WITHIN, lambda where: _say_ready(where, parent=None)
    )


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


admin.add_command(backup)
admin.add_command(restore)
main.add_command(admin)

if __name__ == "__main__":
    main()
