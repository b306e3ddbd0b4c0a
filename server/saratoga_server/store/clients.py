"""redis-py clients of a store, with a bounded pool, timeouts, no retries, replies as bytes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.keys import MARK
from saratoga_server.store.link import CLIENT_NAME
from saratoga_server.store.sentinels import Sentinels

STORE_TIMEOUT: Final = 6.0
"""Seconds of retries before the store counts as unavailable; enough for a restart of the store.

It covers waiting for a table's lock and for the store together. Otherwise ten callers at one table
would wait one after another, the last one for a minute.
"""

CONNECT_TIMEOUT: Final = 2.0
"""Seconds in which a connection must be made."""
REPLY_TIMEOUT: Final = 2.0
"""Seconds without a reply after which a connection counts as dead."""
POOL_SIZE: Final = 32

REPLICA_TIMEOUT: Final = 1_000
"""Milliseconds to wait for the replicas before a write is sent again."""


class Sending:
    """A mixin for redis-py's connections: sending reports a lost connection, and can be cancelled.

    redis-py takes an idle connection that was reset for usable, and uvloop raises a `RuntimeError` when such
    a connection is written to: that is a `ConnectionError`. On Python 3.11 `asyncio.wait_for`, which redis-py
    uses, swallows a cancellation in the turn of the event loop in which the command is written.
    """

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        task = asyncio.current_task()
        before = task.cancelling() if task else 0
        try:
            await super().send_packed_command(command, check_health)  # type: ignore[misc]
        except (RuntimeError, RedisError) as error:  # redis-py has closed the connection
            if task and task.cancelling() > before:
                raise asyncio.CancelledError from error
            if isinstance(error, RuntimeError):
                raise RedisConnectionError(f"the connection was closed: {error}") from error
            raise
        if task and task.cancelling() > before:
            # the reply, which comes nevertheless, must not be taken for that to another command
            await super().disconnect(nowait=True)  # type: ignore[misc]
            raise asyncio.CancelledError


class _TcpConnection(Sending, Connection):
    pass


class _TlsConnection(Sending, SSLConnection):
    pass


class _UnixConnection(Sending, UnixDomainSocketConnection):
    pass


class _ElectedConnection(Sending, Connection):
    """A connection to whichever process of the store the Sentinels name as the primary."""

    def __init__(self, *, sentinels: Sentinels, **settings: Any) -> None:
        super().__init__(redis_connect_func=_expect_primary, **settings)
        self._sentinels = sentinels

    async def connect_check_health(
        self, check_health: bool = True, retry_socket_connect: bool = True
    ) -> None:
        if not self.is_connected:
            try:
                self.host, self.port = await self._sentinels.primary()
            except StoreUnavailable as error:
                raise RedisConnectionError(str(error)) from error
        await super().connect_check_health(check_health, retry_socket_connect)


async def _expect_primary(connection: Connection) -> None:
    """Log in; raise `ConnectionError` if the process is not a primary."""
    await connection.on_connect()
    await connection.send_command("ROLE")
    if (await connection.read_response())[0] != b"master":
        raise RedisConnectionError("the store's primary has become a replica")


_KINDS: Final[dict[type, type]] = {
    Connection: _TcpConnection,
    SSLConnection: _TlsConnection,
    UnixDomainSocketConnection: _UnixConnection,
}


def open_client(url: str, sentinels: Sentinels | None = None) -> "Redis":
    """Return a client of the store at that address. Raises `StoreRefused` if it is invalid.

    With `sentinels`, each connection goes to the process that they name.
    """
    elected = {} if sentinels is None else {"sentinels": sentinels}
    try:
        pool: BlockingConnectionPool = BlockingConnectionPool.from_url(
            url,
            max_connections=POOL_SIZE,
            timeout=STORE_TIMEOUT,
            decode_responses=False,
            protocol=2,
            socket_timeout=REPLY_TIMEOUT,
            socket_connect_timeout=CONNECT_TIMEOUT,
            retry=Retry(NoBackoff(), 0),
            client_name=CLIENT_NAME,
            driver_info=None,  # or redis-py reads its version from disk for every connection
            **elected,
        )
    except ValueError as error:  # the value of an option
        raise StoreRefused(f"The address of the store is not valid: {error} Correct it.") from None
    pool.connection_class = _ElectedConnection if sentinels else _KINDS[pool.connection_class]
    return Redis.from_pool(pool)


@dataclass(frozen=True, slots=True, eq=False)
class Primary:
    """The store process that takes writes, as one address or the Sentinels name it."""

    name: str
    """The address for the log, without a password."""
    locate: Callable[[], Awaitable[str]] = field(repr=False)
    """Return the address of the process, as it is now. Raises `StoreUnavailable`."""
    client: "Redis" = field(repr=False)
    """The client for everything but commits and subscriptions. It does not retry."""
    members: Sequence[str] = field(repr=False)
    """The addresses of the primary and, if Sentinels watch it, its replicas, as they were at the start."""

    @property
    def confirmations(self) -> int:
        """The number of replicas that must have a write: with the primary, a majority of the members."""
        return len(self.members) // 2

    async def forget_idle(self) -> None:
        """Close the client's idle connections: after an error another process may be the primary."""
        with suppress(RedisError, OSError):
            await self.client.connection_pool.disconnect(inuse_connections=False)


def primary_at(url: str) -> Primary:
    """Return the primary at an address. Raises `StoreRefused` if the address is invalid."""

    async def given() -> str:
        return url

    return Primary(_name(url), given, open_client(url), (url,))


async def elected_primary(url: str) -> Primary:
    """Return the primary that the Sentinels at an address name, now and later.

    Raises `StoreRefused` unless they are laid out for it, `StoreUnavailable` if most do not answer.
    """
    sentinels = Sentinels(url)
    members = await sentinels.check_layout()

    async def elected() -> str:
        return sentinels.url_of(*await sentinels.primary())

    return Primary(_name(url), elected, open_client(members[0], sentinels), members)


def _name(url: str) -> str:
    return url.partition("://")[2].partition("?")[0].rpartition("@")[2]


def confirmation_commands(replicas: int) -> tuple[tuple[str | int, ...], ...]:
    """Return the commands to send after a write on the same connection; none for no replica.

    WAIT counts the replicas that have the last write of its own connection. A repeated write changes nothing,
    and Valkey would answer at once, so a mark is written first.
    """
    return (("SET", MARK, 1), ("WAIT", replicas, REPLICA_TIMEOUT)) if replicas else ()


def is_confirmed(replies: Sequence[Any], replicas: int) -> bool:
    """Return whether the replies to these commands say that so many replicas have the write."""
    if not replicas:
        return True
    marked, count = replies
    return (marked is True or marked == b"OK") and isinstance(count, int) and count >= replicas


@asynccontextmanager
async def opened_client(url: str, failure: str) -> AsyncIterator["Redis"]:
    """Yield a client of one store, and close it. Errors: `StoreUnavailable` with `failure`."""
    client = open_client(url)
    try:
        yield client
    except RedisError as error:
        raise StoreUnavailable(f"{failure}: {error}") from error
    finally:
        await client.aclose(close_connection_pool=True)
        # asyncio closes a socket one turn of the loop after its transport
        await asyncio.sleep(0)
