"""The link: a connection to the store for moves alone, by callback, without tasks or futures.

redis-py parses the address; the socket, the login and the replies are our own code, because at few
tables redis-py costs twice as much as the rest of a move.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import hiredis
from redis.asyncio import Redis
from redis.asyncio.connection import SSLConnection

from saratoga_server.ports import StoreUnavailable

CLIENT_NAME: Final = "saratoga"
"""The name of our connections in `CLIENT LIST`."""

REPLY_TIMEOUT: Final = 2.0
"""Seconds for all replies to a request; a connection that takes longer counts as dead."""

_KEEPALIVE: Final = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
"""TCP keep-alive options (seconds, seconds, count), set if the system has them."""

_NOT_ENOUGH: Final = object()

Reply = Any
"""A reply: bytes, a number, a list of them, None, or a `hiredis.ReplyError`."""


def encode_command(*words: str | int | bytes) -> bytes:
    packed: bytes = hiredis.pack_command(words)  # type: ignore[arg-type] # its stub: one word only
    return packed


class Link(asyncio.Protocol):
    """A connection for one request at a time, of one or more commands."""

    def __init__(self) -> None:
        self.on_lost: Callable[[str], None] = lambda reason: None
        """Called once with the reason when the connection is lost, not after `abort`."""
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(notEnoughData=_NOT_ENOUGH)
        self._transport: asyncio.Transport | None = None
        self._replies: list[Reply] = []
        self._replies_due = 0
        self._done: Callable[[list[Reply]], None] = lambda replies: None
        self._sent_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        """One timer for many requests, because setting a timer for each request costs more."""

    @property
    def is_lost(self) -> bool:
        return self._transport is None

    def request(self, packed: bytes, replies: int, done: Callable[[list[Reply]], None]) -> None:
        """Send packed commands; `done` is called with their replies, so many as `replies`."""
        self._replies = []
        self._replies_due = replies
        self._done = done
        self._sent_at = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_at(self._sent_at + REPLY_TIMEOUT, self._check_timeout)
        assert self._transport is not None, "a request on a lost link"
        self._transport.write(packed)

    async def ask(self, commands: Sequence[tuple[str | int, ...]]) -> list[Reply]:
        """Send commands; return their replies. Raises `StoreUnavailable` if the link is lost."""
        if self.is_lost:
            raise StoreUnavailable("the store does not answer: it closed the connection")
        answered: asyncio.Future[list[Reply]] = self._loop.create_future()

        def lost(reason: str) -> None:
            if not answered.done():
                answered.set_exception(StoreUnavailable(f"the store does not answer: {reason}"))

        def answer(replies: list[Reply]) -> None:
            if not answered.done():  # the task that asks may have been cancelled in this turn
                answered.set_result(replies)

        self.on_lost = lost
        packed = b"".join(encode_command(*each) for each in commands)
        self.request(packed, len(commands), answer)
        return await answered

    def abort(self) -> None:
        """Close the link; nothing is reported after that."""
        self._replies_due = 0
        self.on_lost = lambda reason: None
        if self._timer is not None:
            self._timer.cancel()
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is not a subclass

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        try:
            while self._replies_due and (reply := self._reader.gets()) is not _NOT_ENOUGH:
                self._replies.append(reply)
                self._replies_due -= 1
                if not self._replies_due:
                    self._done(self._replies)
        except hiredis.ProtocolError as error:
            self._lose(f"another program answers: {error}")

    def connection_lost(self, exc: Exception | None) -> None:
        self._lose("the connection was lost")

    def _check_timeout(self) -> None:
        self._timer = None
        if not self._replies_due:
            return
        deadline = self._sent_at + REPLY_TIMEOUT
        if self._loop.time() >= deadline:
            self._lose("no reply in time")
        else:
            self._timer = self._loop.call_at(deadline, self._check_timeout)

    def _lose(self, reason: str) -> None:
        on_lost = self.on_lost
        self.abort()
        on_lost(reason)


async def dial(url: str) -> Link:
    """Connect to a store, log in and select the database.

    Raises `StoreUnavailable` if that fails, or if it is a replica. Has no timeout for connecting.
    """
    settings: Mapping[str, Any] = Redis.from_url(url).get_connection_kwargs()
    try:
        link = await connect(settings, is_tls=url.startswith("rediss://"))
    except OSError as error:
        raise StoreUnavailable(f"the store does not answer: {error}") from error
    try:
        *replies, role = await link.ask((*greeting(settings), ("ROLE",)))
        if errors := [each for each in (*replies, role) if isinstance(each, hiredis.ReplyError)]:
            raise StoreUnavailable(f"the store does not answer: {errors[0]}")
        if role[0] != b"master":
            raise StoreUnavailable("the store does not answer: it is a replica")
    except BaseException:
        link.abort()
        raise
    return link


async def connect(settings: Mapping[str, Any], *, is_tls: bool = False) -> Link:
    """Connect to the `host` and `port`, or the `path`, in redis-py's settings. Raises `OSError`."""
    loop = asyncio.get_running_loop()
    if "path" in settings:
        _, link = await loop.create_unix_connection(Link, settings["path"])
        return link
    host, port = settings.get("host", "localhost"), settings.get("port", 6379)
    transport, link = await loop.create_connection(
        Link, host, port, ssl=_tls_context(settings) if is_tls else None
    )
    connected = transport.get_extra_info("socket")
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return link


def _tls_context(settings: Mapping[str, Any]) -> ssl.SSLContext:
    """Return the TLS context for the `ssl_*` options of the address, by default a strict one."""
    options = {name: value for name, value in settings.items() if name.startswith("ssl_")}
    context = SSLConnection(**options).ssl_context.get()
    assert isinstance(context, ssl.SSLContext)
    return context


def greeting(settings: Mapping[str, Any]) -> list[tuple[str | int, ...]]:
    """Return the commands that name a connection, log in and select the database."""
    commands: list[tuple[str | int, ...]] = [("CLIENT", "SETNAME", CLIENT_NAME)]
    user, password = settings.get("username"), settings.get("password")
    if user or password:
        login = (user, password or "") if user else (password,)
        commands.insert(0, ("AUTH", *login))
    if settings.get("db"):
        commands.append(("SELECT", settings["db"]))
    return commands
