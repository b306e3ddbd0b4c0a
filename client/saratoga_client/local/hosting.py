"""A server on this machine for friends: find or start the server, and find its addresses."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from saratoga_client.local.origins import is_this_machine
from saratoga_client.local.paths import data_folder
from saratoga_client.local.server_process import running_server
from saratoga_client.local.settings import last_choices
from saratoga_client.output import say
from saratoga_client.problems import Exit, Problem

PORT: Final = 7470

EVERY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - friends in the same network must be able to connect
THIS_MACHINE: Final = "127.0.0.1"

ELSEWHERE: Final = ("192.0.2.1", 9)
"""A documentation address (RFC 5737) that selects the network route; nothing is sent to it."""

ANSWERS_WITHIN: Final = 2.0
"""Timeout in seconds for the answer of a server on this machine."""

ALIVE: Final = b'"alive"'
"""A part of the server's response on `/healthz`."""

_QUESTION: Final = "GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
_LONGEST_ANSWER: Final = 4096


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

    Without `wanted_port` the server has the port of the last server, if that was on this machine, or
    else the default port, or any free port if that is taken. So the host stays the same player.
    A new server listens at the address `listen`. `report` shows progress to the player. Raises
    `Problem`, also if another program has the wanted port.
    """
    port = last_port() if wanted_port is None else wanted_port
    if await is_server(THIS_MACHINE, port):
        report(f"A server runs on this machine already, at port {port}; your table will be there.")
        address, why = lan_address(), ""
        if address is not None and not public_url and not await is_server(address, port):
            address, why = None, RUNNING_PRIVATELY
        yield _at_port(port, public_url, address, why, is_ours=False)
        return
    if not is_free(port):
        if wanted_port is not None:
            raise Problem(
                f"Port {port} of this machine is in use by another program.",
                "Choose another --port, or omit --port to use any free one.",
                Exit.UNREACHABLE,
            )
        report(f"Port {port} of this machine is in use by another program; using any free port.")
        port = 0
    report("Starting a server on this machine ...")
    flags: tuple[str, ...] = ("--host", listen, "--port", str(port), "--metrics-port", "off")
    if public_url:
        flags += ("--origin", page_origin(public_url))
    async with running_server(data_folder(), flags=flags) as running:
        address, why = lan_address(), ""
        if listen != EVERY_ADDRESS:
            address, why = None, f"The server listens at {listen}, {ONLY_HERE}"
        yield _at_port(running.port, public_url, address, why, is_ours=True)
        report("Stopping the server ...")


def _at_port(
    port: int, public_url: str, address: str | None, why: str, *, is_ours: bool
) -> LocalServer:
    """Return the server at a port; `address` is this machine's for friends, or `why` says that it has none."""
    own = f"ws://{THIS_MACHINE}:{port}"
    friends = public_url or (f"ws://{address}:{port}" if address else own)
    warning = "" if friends != own else why or f"This machine is not on a network, {ONLY_HERE}"
    return LocalServer(own=own, friends=friends, is_ours=is_ours, warning=warning)


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

    Return the same address without user name and password, unless it works only on this machine and the server
    also answers at the machine's network address.
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


def is_free(port: int) -> bool:
    """Return whether no program listens at this port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Servers use SO_REUSEADDR too, so a port that was closed a moment ago counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((EVERY_ADDRESS, port))
        except OSError:
            return False
    return True


async def is_server(host: str, port: int) -> bool:
    """Return whether a Saratoga server answers at that address."""
    try:
        async with asyncio.timeout(ANSWERS_WITHIN):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(_QUESTION.format(host=host).encode())
                answer = b""
                while len(answer) < _LONGEST_ANSWER and (some := await reader.read(1024)):
                    answer += some
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False
    return ALIVE in answer
