"""The one connection on which moves are committed, at the least cost redis-py allows.

redis-py opens it (addresses, TLS, passwords); then the bytes are ours: requests go out as they are
packed, replies come in through hiredis, and no task stands between the two.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import hiredis
from redis.asyncio.client import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from saratoga_server.ports import StoreUnavailable

_NOT_ENOUGH: Final = object()

Reply = Any
"""Bytes, a number, a list of them, None, or a `hiredis.ReplyError`."""


class Line(asyncio.Protocol):
    """Sends packed commands; hands every reply to `on_reply`, and the end to `on_lost`, once."""

    def __init__(
        self, on_reply: Callable[[Reply], None], on_lost: Callable[["Line"], None]
    ) -> None:
        self._on_reply = on_reply
        self._on_lost = on_lost
        self._reader = hiredis.Reader(notEnoughData=_NOT_ENOUGH)
        self._transport: Any = None
        self._writer: Any = None

    async def open(self, client: "Redis") -> None:
        """Connect with the client's settings; raise `StoreUnavailable` if that fails."""
        pool = client.connection_pool
        settings: dict[str, Any] = {**pool.connection_kwargs, "retry": Retry(NoBackoff(), 0)}
        connection = pool.connection_class(**settings)
        try:
            await connection.connect()
        except BaseException as error:
            await connection.disconnect(nowait=True)
            if isinstance(error, RedisError | OSError):
                raise StoreUnavailable(f"the store does not answer: {error}") from error
            raise
        # redis-py has no public way to hand its socket over; a writer let go would close it
        self._writer, connection._writer, connection._reader = connection._writer, None, None  # noqa: SLF001
        self._transport = self._writer.transport
        self._transport.set_protocol(self)

    @property
    def is_open(self) -> bool:
        return self._transport is not None

    def send(self, request: bytes) -> None:
        assert self._transport is not None
        self._transport.write(request)

    def abort(self) -> None:
        """Drop the connection at once, and hear no more of it."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        reply = self._reader.gets()
        while reply is not _NOT_ENOUGH and self._transport is not None:
            self._on_reply(reply)
            reply = self._reader.gets()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._transport = None
            self._on_lost(self)
