"""Open the connections for commits and for subscriptions, without redis-py.

redis-py parses the address; the socket and the handshake are our own code.
"""

import asyncio
import socket
import ssl
from collections.abc import Mapping
from typing import Any, Final

import hiredis
from redis.asyncio import Redis

from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.resp_connection import encode_command

CLIENT_NAME: Final = "saratoga"
"""The name of our connections in `CLIENT LIST`."""

_VERIFY: Final = {
    "none": ssl.CERT_NONE,
    "optional": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
_KEEPALIVE: Final = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
"""TCP keep-alive options (seconds, seconds, count), set if the system has them."""


async def dial(url: str) -> asyncio.Transport:
    """Connect to a store, log in, select the database, and return the bare transport.

    Raises `StoreUnavailable` if that fails, or if it is a replica. Has no timeout.
    """
    settings: Mapping[str, Any] = Redis.from_url(url).get_connection_kwargs()
    commands = _greeting(settings)
    handshake = _Handshake(len(commands))
    try:
        transport = await _connect(url, settings, handshake)
    except OSError as error:
        raise StoreUnavailable(f"the store does not answer: {error}") from error
    try:
        transport.write(b"".join(encode_command(*each) for each in commands))
        await handshake.ended.wait()
        if handshake.error or transport.is_closing():
            reason = handshake.error or "it closed the connection"
            raise StoreUnavailable(f"the store does not answer: {reason}")
    except BaseException:
        transport.abort()
        raise
    return transport


async def _connect(
    url: str, settings: Mapping[str, Any], handshake: asyncio.Protocol
) -> asyncio.Transport:
    loop = asyncio.get_running_loop()
    if "path" in settings:
        transport, _ = await loop.create_unix_connection(lambda: handshake, settings["path"])
        return transport
    transport, _ = await loop.create_connection(
        lambda: handshake,
        settings.get("host", "localhost"),
        settings.get("port", 6379),
        ssl=_tls_context(settings) if url.startswith("rediss://") else None,
    )
    connected = transport.get_extra_info("socket")
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return transport


def _greeting(settings: Mapping[str, Any]) -> list[tuple[str | int, ...]]:
    """Return the first commands of a connection."""
    commands: list[tuple[str | int, ...]] = [("CLIENT", "SETNAME", CLIENT_NAME), ("ROLE",)]
    user, password = settings.get("username"), settings.get("password")
    if user or password:
        login = (user, password or "") if user else (password,)
        commands.insert(0, ("AUTH", *login))
    if settings.get("db"):
        commands.append(("SELECT", settings["db"]))
    return commands


def _tls_context(settings: Mapping[str, Any]) -> ssl.SSLContext:
    """Return the TLS context for the `ssl_*` options of the address, by default a strict one."""
    context = ssl.create_default_context()
    verify = _VERIFY[settings.get("ssl_cert_reqs", "required")]
    context.check_hostname = verify != ssl.CERT_NONE and settings.get("ssl_check_hostname", True)
    context.verify_mode = verify
    for flag in settings.get("ssl_include_verify_flags", ()):
        context.verify_flags |= flag
    for flag in settings.get("ssl_exclude_verify_flags", ()):
        context.verify_flags &= ~flag
    if "ssl_certfile" in settings:
        context.load_cert_chain(
            settings["ssl_certfile"], settings.get("ssl_keyfile"), settings.get("ssl_password")
        )
    authorities = [settings.get(f"ssl_ca_{name}") for name in ("certs", "path", "data")]
    if any(authorities):
        context.load_verify_locations(*authorities)
    if "ssl_min_version" in settings:
        context.minimum_version = settings["ssl_min_version"]
    if "ssl_ciphers" in settings:
        context.set_ciphers(settings["ssl_ciphers"])
    return context


class _Handshake(asyncio.Protocol):
    """A protocol that waits for the replies to the first commands of a connection."""

    def __init__(self, replies: int) -> None:
        self._replies_due = replies
        self._reader = hiredis.Reader()
        self.error = ""
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (reply := self._reader.gets()) is not False:
            self._replies_due -= 1
            if isinstance(reply, hiredis.ReplyError):
                self.error = self.error or str(reply)
            elif isinstance(reply, list) and reply[0] != b"master":
                self.error = self.error or "it is a replica"
        if not self._replies_due:
            self.ended.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.error = self.error or str(exc or "it closed the connection")
        self.ended.set()
