"""A connection to the store for one request at a time: it reports all replies, or a failure."""

import asyncio
from collections.abc import Callable
from typing import Final

from saratoga_server.store.resp_connection import Reply, RespConnection

REPLY_TIMEOUT: Final = 2.0
"""Seconds for all replies to a request; a connection that takes longer counts as dead."""


class RequestConnection:
    """A connection that calls `on_replies` with the replies to a request, or `on_lost`."""

    def __init__(
        self,
        transport: asyncio.Transport,
        on_replies: Callable[[list[Reply]], None],
        on_lost: Callable[[str], None],
    ) -> None:
        self._on_replies = on_replies
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._connection = RespConnection(transport, self._on_reply, self._on_closed)
        self._replies: list[Reply] = []
        self._replies_due = 0
        self._sent_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        """One timer for many requests, because setting a timer for each request costs more."""

    def send(self, request: bytes, replies: int) -> None:
        """Send one or more packed commands; `replies` is their number."""
        self._replies = []
        self._replies_due = replies
        self._sent_at = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_at(self._sent_at + REPLY_TIMEOUT, self._check_timeout)
        self._connection.send(request)

    def abort(self) -> None:
        """Abort the connection; nothing is reported after that."""
        if self._timer is not None:
            self._timer.cancel()
        self._connection.abort()

    def _on_reply(self, reply: Reply) -> None:
        replies = self._replies
        replies.append(reply)
        if len(replies) == self._replies_due:
            self._replies_due = 0
            self._on_replies(replies)

    def _check_timeout(self) -> None:
        self._timer = None
        if not self._replies_due:
            return
        deadline = self._sent_at + REPLY_TIMEOUT
        if self._loop.time() >= deadline:
            self.abort()
            self._on_lost("no reply in time")
        else:
            self._timer = self._loop.call_at(deadline, self._check_timeout)

    def _on_closed(self) -> None:
        self.abort()
        self._on_lost("the connection was lost")
