"""A connection to the store that calls back directly, without tasks, futures or queues."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import hiredis

_NOT_ENOUGH: Final = object()

Reply = Any
"""A reply: bytes, a number, a list of them, None, or a `hiredis.ReplyError`."""


def encode_command(*words: str | int | bytes) -> bytes:
    packed: bytes = hiredis.pack_command(words)  # type: ignore[arg-type] # its stub: one word only
    return packed


class RespConnection(asyncio.Protocol):
    """A connection for packed commands: calls `on_reply` with every reply, and `on_lost` once."""

    def __init__(
        self,
        transport: asyncio.Transport,
        on_reply: Callable[[Reply], None],
        on_lost: Callable[[], None],
    ) -> None:
        """Take over a transport that `dial` has opened."""
        self._on_reply = on_reply
        self._on_lost = on_lost
        self._reader = hiredis.Reader(notEnoughData=_NOT_ENOUGH)
        self._transport = transport
        self._is_open = True
        transport.set_protocol(self)

    def send(self, request: bytes) -> None:
        self._transport.write(request)

    def abort(self) -> None:
        """Abort the connection; nothing is reported after that."""
        self._is_open = False
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        reply = self._reader.gets()
        while reply is not _NOT_ENOUGH and self._is_open:
            self._on_reply(reply)
            reply = self._reader.gets()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._is_open:
            self._is_open = False
            self._on_lost()
