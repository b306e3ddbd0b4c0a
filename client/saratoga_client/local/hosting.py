"""A house on this machine for friends: found or opened, and by which address they reach it."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from saratoga_client.local.origins import is_this_machine
from saratoga_client.local.paths import data_folder
from saratoga_client.local.server_process import running_server
from saratoga_client.output import say
from saratoga_client.problems import Exit, Problem

PORT: Final = 7470

EVERY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - friends on the same network are to come in
THIS_MACHINE: Final = "127.0.0.1"

ELSEWHERE: Final = ("192.0.2.1", 9)
"""An address that is kept for examples (RFC 5737): it decides the route, and is sent nothing."""

ANSWERS_WITHIN: Final = 2.0
"""Seconds in which a house on this machine says that it is one."""

ALIVE: Final = b'"alive"'
"""What a house says on `/healthz`."""

_QUESTION: Final = "GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
_LONGEST_ANSWER: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A house on this machine."""

    own: str
    """How this machine reaches it."""
    friends: str
    """How friends do."""
    is_ours: bool
    """It was opened by this program and closes with it."""
    warning: str = ""
    """Why friends may not reach it, and what to do."""


@asynccontextmanager
async def local_server(
    public_url: str = "",
    wanted_port: int | None = None,
    report: Callable[[str], None] = say,
    listen: str = EVERY_ADDRESS,
) -> AsyncIterator[LocalServer]:
    """The house that runs here, or one opened for as long as this is entered. Raises `Problem`.

    It is at the wanted port and no other; if none is wanted, at the usual one or any free one. A house
    that is opened listens at the address `listen`: every one, or this machine's own behind a proxy.
    `report` shows the player what happens.
    """
    port = PORT if wanted_port is None else wanted_port
    if await is_server(THIS_MACHINE, port):
        report(f"A house runs on this machine already, at port {port}; this table will be there.")
        yield await _found(public_url, port)
        return
    chosen = port if is_free(port) else 0
    if not chosen and wanted_port is not None:
        raise Problem(
            f"Port {port} of this machine is taken by another program.",
            "Say another --port, or none to have any that is free.",
            Exit.UNREACHABLE,
        )
    if not chosen:
        report(f"Port {port} of this machine is taken by another program; taking any free one.")
    report("Opening a house on this machine ...")
    flags = ("--host", listen, "--port", str(chosen), "--metrics-port", "off")
    async with running_server(data_folder(), flags=flags) as ready:
        taken = urlsplit(ready).port
        assert taken is not None, "the ready line names the port"
        yield _house(public_url, taken, is_ours=True, listen=listen)
        report("Closing the house ...")


async def _found(public_url: str, port: int) -> LocalServer:
    house = _house(public_url, port, is_ours=False)
    address = lan_address()
    if public_url or address is None or await is_server(address, port):
        return house
    return LocalServer(
        own=house.own,
        friends=house.friends,
        is_ours=False,
        warning=(
            "The house that runs here listens for this machine alone. To let friends in, stop it "
            "and say this again, or start it with --host 0.0.0.0."
        ),
    )


def _house(
    public_url: str, port: int, *, is_ours: bool, listen: str = EVERY_ADDRESS
) -> LocalServer:
    own = f"ws://{THIS_MACHINE}:{port}"
    address = lan_address() if listen == EVERY_ADDRESS else None
    warning = ""
    if address is None and not public_url:
        why = (
            "This machine is in no network"
            if listen == EVERY_ADDRESS
            else f"It listens at {listen}"
        )
        warning = (
            f"{why}, so only this machine can come. "
            "Where friends reach it, say so with --public-url."
        )
    friends = public_url or f"ws://{address or THIS_MACHINE}:{port}"
    return LocalServer(own=own, friends=friends, is_ours=is_ours, warning=warning)


async def friends_address(server: str) -> str:
    """How friends reach a house that this machine reaches at `server`.

    The same, unless that is an address of this machine alone and the house answers in its network too.
    """
    parts = urlsplit(server)
    if parts.scheme != "ws" or not is_this_machine(server):
        return server
    address, port = lan_address(), parts.port or 80
    if address is None or not await is_server(address, port):
        return server
    return f"ws://{address}:{port}{parts.path.rstrip('/')}"


def lan_address() -> str | None:
    """This machine's address in its network, as its route to other machines has it; `None`: in none.

    Connecting a datagram socket chooses the route and sends nothing.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ELSEWHERE)
            address: str = probe.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith(("127.", "0.")) else address


def is_free(port: int) -> bool:
    """Whether nobody listens at this port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # as servers do: a port whose last user has just gone counts as free
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((EVERY_ADDRESS, port))
        except OSError:
            return False
    return True


async def is_server(host: str, port: int) -> bool:
    """Whether a house answers there."""
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
