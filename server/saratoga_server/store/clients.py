"""redis-py clients of a store, with a bounded pool, timeouts, no retries, replies as bytes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.dial import CLIENT_NAME

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


_KINDS: Final[dict[type, type]] = {
    Connection: _TcpConnection,
    SSLConnection: _TlsConnection,
    UnixDomainSocketConnection: _UnixConnection,
}


def open_client(url: str) -> "Redis":
    """Return a client of the store at that address. Raises `StoreRefused` if it is invalid."""
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
        )
    except ValueError as error:  # the value of an option
        raise StoreRefused(f"The address of the store is not valid: {error} Correct it.") from None
    pool.connection_class = _KINDS[pool.connection_class]
    return Redis.from_pool(pool)


@dataclass(frozen=True, slots=True, eq=False)
class Primary:
    """The store process that takes writes, as one address names it; it may have replicas."""

    name: str
    """The address for the log, without a password."""
    url: str = field(repr=False)
    client: "Redis" = field(repr=False)
    """The client for everything but commits and subscriptions. It does not retry."""


def primary_at(url: str) -> Primary:
    """Return the primary at an address. Raises `StoreRefused` if the address is invalid."""
    name = url.partition("://")[2].partition("?")[0].rpartition("@")[2]
    return Primary(name, url, open_client(url))


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
