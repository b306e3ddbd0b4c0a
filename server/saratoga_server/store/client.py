"""The client of the store, for everything but commits and subscriptions.

redis-py's connections, with a bounded pool, timeouts and replies as bytes; the primary, as an
address or the Sentinels name it; our Functions, which are loaded into it; and calls that are sent
again after a transient error. So only calls that are safe to repeat may be made.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    BusyLoadingError,
    MasterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.keys import MARK
from saratoga_server.store.link import CLIENT_NAME
from saratoga_server.store.save import Save
from saratoga_server.store.sentinels import Sentinels

if TYPE_CHECKING:
    from saratoga_server.store.guard import StoreGuard


# Errors

TRANSIENT: Final = (
    "LOADING", "BUSY", "READONLY", "OOM", "MISCONF", "NOREPLICAS", "MASTERDOWN", "UNBLOCKED",
)  # fmt: skip
"""The first words of error replies after which the same command may succeed a little later."""

_TRANSIENT_ERRORS: Final = (BusyLoadingError, MasterDownError, OutOfMemoryError, ReadOnlyError)
"""redis-py's exceptions for such errors; their texts lack the first word."""

FUNCTION_MISSING: Final = "Function not found"
"""The error reply if the Functions were flushed or a new primary never had them."""


def is_transient(error: str | Exception) -> bool:
    """Return whether the command may succeed if it is sent again after a pause."""
    text = str(error)
    return isinstance(error, _TRANSIENT_ERRORS) or text.partition(" ")[0] in TRANSIENT


def is_function_missing(error: str | Exception) -> bool:
    return FUNCTION_MISSING in str(error)


# Our Functions: their names end in a hash of their text, so no release calls another's

VERSION_MARK: Final = "@VERSION@"
_FOLDER: Final = files("saratoga_server.store").joinpath("functions")
_FILES: Final = ("save", "boards", "audit")


def _read(name: str) -> str:
    return _FOLDER.joinpath(f"{name}.lua").read_text()


_TEXT: Final = _read("common") + "".join(f"\ndo\n{_read(name)}end\n" for name in _FILES)

VERSION: Final = sha256(_TEXT.encode()).hexdigest()[:10]
SOURCE: Final = _TEXT.replace(VERSION_MARK, VERSION)
"""The source code of the library."""


def function_name(name: str) -> str:
    """Return the name of one of our Functions in the store."""
    return f"{name}_{VERSION}"


# Connections

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

    redis-py takes an idle connection that was reset for usable, and uvloop raises a `RuntimeError`
    when such a connection is written to: that is a `ConnectionError`. On Python 3.11
    `asyncio.wait_for`, which redis-py uses, swallows a cancellation in the turn of the event loop
    in which the command is written.
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
    """The addresses of the primary and, under Sentinels, its replicas, as at the start."""

    @property
    def confirmations(self) -> int:
        """The replicas that must have a write: with the primary, a majority of the members."""
        return len(self.members) // 2

    async def forget_idle(self) -> None:
        """Close idle connections: after an error another process may be the primary."""
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

    WAIT counts the replicas that have the last write of its own connection. A repeated write
    changes nothing, and Valkey would answer at once, so a mark is written first.
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


# Calls

_FIRST_PAUSE: Final = 0.02
_LONGEST_PAUSE: Final = 0.25
"""The longest pause, in seconds, between two attempts of a call."""
_NO_ANSWER: Final = "the store does not answer"
_SCAN: Final = 1_000
"""Keys visited in one step of SCAN."""

Part = str | bytes | int | float
Answer = Any
"""A reply from redis-py: bytes, numbers, lists of them, or None."""

T = TypeVar("T")


class StoreClient:
    """A client of the store that retries while the store restarts or fails over."""

    def __init__(self, primary: Primary, guard: "StoreGuard | None" = None) -> None:
        """While the guard refuses the store, no call is sent: the data may be another store's."""
        self.primary = primary
        self._guard = guard

    async def command(self, *parts: Part) -> Answer:
        """Send one command that only reads, or need not be durable; return the reply."""
        return await self._with_retries(lambda: self.primary.client.execute_command(*parts))

    async def commands(self, parts: Sequence[tuple[str | bytes | int, ...]]) -> list[Answer]:
        """Send several commands that only read, in one pipeline; return the replies in order."""

        async def send() -> list[Answer]:
            pipeline = self.primary.client.pipeline(transaction=False)
            for each in parts:
                pipeline.execute_command(*each)
            return list(await pipeline.execute())

        return await self._with_retries(send) if parts else []

    async def read(self, function: str, keys: Sequence[str], *args: str | bytes | int) -> Answer:
        """Call a Function that only reads, or need not be durable; return the reply."""
        parts = ("FCALL", function_name(function), len(keys), *keys, *args)
        return await self._with_retries(lambda: self._call(parts, 0))

    async def write(self, function: str, keys: Sequence[str], *args: str | bytes | int) -> Answer:
        """Call a Function; its writes are durable when this returns."""
        return await self.durable("FCALL", function_name(function), len(keys), *keys, *args)

    async def save(self, save: Save) -> Hashable | None:
        """Write what a `Save` has; return `None`, or the reason of the guard that does not hold."""
        if self._guard is not None:
            self._guard.note_write()
        return save.reason(await self.write("save", (), *save.packed()))

    async def durable(self, *parts: str | bytes | int) -> Answer:
        """Send a command; what it wrote, and the data that it found, are durable when this returns.

        Needed for data shown to a player as stored: another write may not be on a replica.
        """
        return await self._with_retries(lambda: self._call(parts, self.primary.confirmations))

    async def scan(self, pattern: str, kind: str) -> AsyncIterator[str]:
        """Yield the keys of a type that match a pattern; a key may be repeated, or damaged."""
        cursor = 0
        while True:
            parts = ("SCAN", cursor, "MATCH", pattern, "COUNT", _SCAN, "TYPE", kind)
            found_at, found = await self.command(*parts)
            for key in found:
                yield key.decode(errors="replace")
            cursor = int(found_at)
            if cursor == 0:
                break

    async def load_library(self) -> None:
        """Load our Functions into the store."""
        await self._with_retries(lambda: load_into(self.primary))

    async def _with_retries(self, send: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `send`, tried for `STORE_TIMEOUT`. Raises `StoreUnavailable`."""
        pause, reason = _FIRST_PAUSE, f"{_NO_ANSWER}: no reply in time"
        try:
            async with asyncio.timeout(STORE_TIMEOUT):
                while True:
                    try:
                        if self._guard is not None:
                            await self._guard.admit()
                        return await send()
                    except StoreUnavailable as refused:
                        reason = str(refused)
                    except (RedisConnectionError, RedisTimeoutError) as error:
                        reason = f"{_NO_ANSWER}: {error}"
                    except ResponseError as error:
                        if not is_transient(error):
                            raise
                        reason = f"{_NO_ANSWER}: {error}"
                    await self.primary.forget_idle()
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)
        except TimeoutError as error:
            raise StoreUnavailable(reason) from error

    async def _call(self, parts: tuple[Part, ...], replicas: int) -> Answer:
        """Send a command, and return the reply when so many replicas have what it wrote."""
        pipeline = self.primary.client.pipeline(transaction=False)
        pipeline.execute_command(*parts)
        for command in confirmation_commands(replicas):
            pipeline.execute_command(*command)
        answer, *replies = await pipeline.execute(raise_on_error=False)
        if isinstance(answer, ResponseError):
            if is_function_missing(answer):
                await load_into(self.primary)
                raise StoreUnavailable("the store had lost our Functions, which are there again")
            raise answer
        if not is_confirmed(replies, replicas):
            raise StoreUnavailable("too few replicas confirmed the write")
        return answer


async def load_into(primary: Primary) -> None:
    """Load our Functions into a store, without retries.

    The store writes this command to its append-only file and flushes the file before it answers. So
    loading the Functions on every new connection for commits also puts on the disk what an earlier
    run of the store has written and not flushed. Without it, a restarted store could acknowledge
    new moves while older ones, which it has read from the system's memory, are lost in a power cut.
    Do not skip it when the Functions exist.
    """
    await primary.client.execute_command("FUNCTION", "LOAD", "REPLACE", SOURCE)
