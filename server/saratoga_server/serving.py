"""Serve players: open the store, the node and the port, and close them in order."""

import asyncio
import gc
import os
import secrets
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from typing import Final

from saratoga_protocol.commands import player_id
from saratoga_protocol.events import Announcement
from saratoga_protocol.refusals import RESTARTING
from saratoga_server.background_tasks import cancel_all, pause
from saratoga_server.config import Config
from saratoga_server.domain.usernames import load_tables
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.live.broadcaster import send_to_all
from saratoga_server.logs import EventLog
from saratoga_server.metrics import Metrics
from saratoga_server.node import Node
from saratoga_server.ports import Durability, StoreUnavailable
from saratoga_server.process import (
    STOPPING,
    announce,
    cannot_listen,
    feed_watchdog,
    notify,
)
from saratoga_server.run import Shutdown
from saratoga_server.store.opening import open_store
from saratoga_server.transport.gateway import Gateway, gateway_settings
from saratoga_server.transport.http_api import HttpPages
from saratoga_server.transport.web_files import load_web_files, web_folder

CLOSE_WITHIN: Final = 12.0
"""Seconds for connections to close; those that are still open then are reset. See `STOP_WITHIN`."""

BOT_HOST_TOKEN: Final = "SARATOGA_BOT_HOST_TOKEN"  # noqa: S105 - a variable's name
"""The environment variable with the token of the bot host."""

RESTART_PAUSE: Final = 10.0
"""Seconds before a bot host that has ended is started again."""

log = EventLog("server")
_bots_log = EventLog("bots")


async def serve_players(
    config: Config,
    url: str,
    embedded: EmbeddedStore | None,
    metrics: Metrics,
    shutdown: Shutdown,
) -> None:
    """Open store and port, and serve players until shutdown is requested or a task ends.

    Raises `StoreRefused`, `StoreUnavailable`, `StartupError`.
    """
    settings = gateway_settings(config)
    lost = asyncio.Event()  # set when the store has lost writes

    def on_lost() -> None:
        metrics.store_losses.inc(config.durability is not Durability.FAST)
        lost.set()

    async with open_store(
        url,
        config.durability,
        trust_store=config.trust_store,
        on_batch=metrics.batches.observe,
        on_lost=on_lost,
        memory=embedded.ledger if embedded else None,
    ) as store:
        supervision = [*store.watching, *([embedded.supervision] if embedded else [])]

        token = secrets.token_hex(32)  # of the bot host that this server starts
        node = await Node.opened(
            store,
            config.node,
            program(),
            metrics,
            ranked_tables=config.ranked,
            owner=config.owner,
            own_bot_host=player_id(token) if config.bots else "",
        )
        pages = HttpPages(node, load_web_files(web_folder()), settings.hosts)
        gateway = Gateway(node.dispatcher, settings, pages, metrics)
        with cannot_listen(
            f"{config.host}:{config.port}", "Choose another with --host and --port."
        ):
            port = await gateway.open()
        work = (
            node.scheduler.run(),
            gateway.watch(),
            node.listener.run(),
            metrics.keep_sampling(node),
            _follow_losses(node, lost),
            *([keep_bot_host(config, port, token)] if config.bots else ()),
            feed_watchdog(),
        )
        tasks = [*supervision, *map(asyncio.create_task, work)]
        address = config.invitation(port)
        log.info("server_open", address=address, store=config.store_shown)
        requested = asyncio.create_task(shutdown.requested.wait())
        await announce(address)
        node.background_tasks.spawn(_finish_startup())
        await asyncio.wait([requested, *tasks], return_when=asyncio.FIRST_COMPLETED)
        if not shutdown.requested.is_set():
            shutdown.fail()
        notify(STOPPING)
        if config.until_eof:
            await _say_goodbye(node)
        await _close(node, gateway, config.drain_delay, [*tasks, requested])


def program() -> str:
    """Return the program's name and version, as sent to clients."""
    return f"saratoga-server {version('saratoga')}"


async def _follow_losses(node: Node, lost: asyncio.Event) -> None:
    """Read all that the node holds again whenever the store has lost writes."""
    while True:
        await lost.wait()
        lost.clear()
        await node.read_again()


async def _finish_startup() -> None:
    """Do slow startup work that no player should wait for, right after the server has opened."""
    await asyncio.to_thread(load_tables)
    # modules live as long as the process: after the start, 300 of 60,000 objects are garbage
    gc.freeze()


async def _close(
    node: Node, gateway: Gateway, delay: float, tasks: Iterable[asyncio.Task[object]]
) -> None:
    """Drain and close; reset the connections that are open then, or when this is cancelled."""
    log.info("server_closing", connections=len(gateway.connections))
    node.readiness.is_stopping = True
    node.metrics.ready.set(0)
    try:
        await _drain(node, gateway, delay)
    finally:
        gateway.cut()
        for error in await cancel_all(tasks):
            log.error("server_fault", fault=error)
    log.info("server_closed")


async def _say_goodbye(node: Node) -> None:
    """Say to everyone who has closed the server, which runs in its owner's program."""
    with suppress(StoreUnavailable):
        row = await node.store.players.load_player(node.owner) if node.owner else None
        if row is not None and row.name:
            text = f"{row.name} has closed the server."
            send_to_all(node.broadcaster.sessions, Announcement(text=text))


async def _drain(node: Node, gateway: Gateway, delay: float) -> None:
    """Stop accepting connections, finish commands under way, and send players to another node."""
    # load balancers notice that this node is not ready; players play on meanwhile
    await asyncio.sleep(delay)
    node.readiness.is_draining = True
    gateway.stop_listening()
    try:
        async with asyncio.timeout(CLOSE_WITHIN):
            await gateway.drain(RESTARTING, node.dispatcher.is_racing)
            await gateway.close(RESTARTING)
            await node.stop()
    except TimeoutError:
        log.warning("server_aborted")


# The server's own bot host: the client's `saratoga bot --serve` as a child process


async def keep_bot_host(config: Config, port: int, token: str) -> None:
    """Run a bot host with this token at the port, again whenever it ends, until cancelled."""
    while True:
        try:
            await _run_bot_host(config, port, token)
        except OSError as error:
            _bots_log.warning("bot_host_failed", reason=str(error))
        await pause(RESTART_PAUSE)


async def _run_bot_host(config: Config, port: int, token: str) -> None:
    """Run the bot host until it ends; log what it says."""
    # the bots' secrets lie in the server's folder, unless a folder is set for all programs
    home = {"SARATOGA_HOME": str(config.data.absolute())}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "saratoga_client"),
        *("bot", "--serve", "--until-eof", "--server", config.address_here(port)),
        stdin=PIPE,  # its end ends the bot host, even if this process is killed
        stdout=DEVNULL,
        stderr=PIPE,
        env={**home, **os.environ, BOT_HOST_TOKEN: token},
        start_new_session=True,  # Ctrl-C reaches only the server
    )
    try:
        assert process.stderr is not None
        async for line in process.stderr:
            _bots_log.warning("bot_host", text=line.decode(errors="replace").rstrip())
        _bots_log.warning("bot_host_ended", status=await process.wait())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
