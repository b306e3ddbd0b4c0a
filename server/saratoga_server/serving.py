"""One process's house on its store: opened, kept open until told to stop, closed in order.

The one place that knows every part.
"""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from importlib.metadata import version

from saratoga_protocol.refusals import RESTARTING
from saratoga_server.cancellation import TaskEnded, cancel_all
from saratoga_server.composition import compose
from saratoga_server.config import Settings, cannot_listen
from saratoga_server.domain.usernames import draw_up_tables
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.live.scheduler import Scheduler
from saratoga_server.logs import EventLog
from saratoga_server.metrics.counters import Metrics
from saratoga_server.metrics.sampler import Sampler
from saratoga_server.process import systemd
from saratoga_server.process.garbage import spare_what_stays
from saratoga_server.process.inheritance import Parent
from saratoga_server.process.metrics_door import MetricsDoor
from saratoga_server.process.stopping import STOP_WITHIN, Stop
from saratoga_server.store.connection import Store
from saratoga_server.store.health import Health
from saratoga_server.transport.gateway import Door, Gateway
from saratoga_server.transport.http_api import HttpPages

log = EventLog("server")


async def keep_open(
    settings: Settings,
    store: Store,
    metrics: Metrics,
    stop: Stop,
    parent: Parent | None,
    ready: Callable[[str], None],
) -> None:
    """Keep the house open until it is told to stop; `ready` is told where players come in.

    Raises `TaskEnded` if it closed for another reason, and `CannotOpen`.
    """
    house = await compose(store, settings.node, program(), metrics)
    gateway = Gateway(house, _door(settings), HttpPages(house), metrics)
    vitals = Sampler(house, Health(store.primaries).look, metrics)
    door = MetricsDoor(metrics, settings)
    if parent is None or not parent.inheritance.successor:
        door.open()
    try:
        port = await _open_door(gateway, settings, parent)
        duties = [
            asyncio.create_task(Scheduler(house, store.tables.due).keep()),
            asyncio.create_task(gateway.watch()),
            asyncio.create_task(gateway.keepalive.run()),
            asyncio.create_task(house.news.keep()),
            asyncio.create_task(vitals.keep()),
            asyncio.create_task(door.keep_open()),
            asyncio.create_task(systemd.stay_alive()),
        ]
        if parent is not None:
            duties.append(asyncio.create_task(parent.beat()))
        where = settings.invitation(port)
        log.info("open", address=where, store=settings.store_shown)
        ready(where)
        house.background_tasks.spawn(_settle_in())
        stopping = asyncio.create_task(stop.wanted.wait())
        await asyncio.wait([stopping, *duties], return_when=asyncio.FIRST_COMPLETED)
        has_failed = not stop.wanted.is_set()
        systemd.tell(systemd.STOPPING)
        if stop.unannounced:
            # whoever follows waits for the port
            house.background_tasks.spawn(door.close())
        await _close(house, gateway, stop, settings.drain_delay, [*duties, stopping])
        if has_failed:
            raise TaskEnded
    finally:
        await door.close()


async def _settle_in() -> None:
    """Do what players should not have to wait for: neither before the house opens nor later."""
    await asyncio.to_thread(draw_up_tables)
    spare_what_stays()


async def _open_door(gateway: Gateway, settings: Settings, parent: Parent | None) -> int:
    try:
        return await gateway.open()
    except OSError as fault:
        raise cannot_listen(settings, fault) from None


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


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if settings.tls_cert is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(settings.tls_cert, settings.tls_key)
    return context


def program() -> str:
    """What players are told that they talk to."""
    return f"saratoga-server {version('saratoga')}"


async def _close(
    house: Dispatcher,
    gateway: Gateway,
    stop: Stop,
    delay: float,
    duties: Sequence[asyncio.Task[object]],
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
    for fault in await cancel_all([*duties, hurry, closing]):
        log.error("house_fault", fault=fault)
    log.info("closed")


async def _see_out(house: Dispatcher, gateway: Gateway, delay: float) -> None:
    # players go on as before while balancers notice
    await asyncio.sleep(delay)
    house.draining = True
    gateway.stop_listening()
    try:
        async with asyncio.timeout(STOP_WITHIN):
            await gateway.drain(RESTARTING, house.is_racing)
            await gateway.close(RESTARTING)
            await house.stop()
    except TimeoutError:
        log.warning("closed_in_haste")
        gateway.cut()
