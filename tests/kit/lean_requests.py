"""Send a racer's commands over a `LeanSocket` and match the responses by id."""

import asyncio
import hashlib
import secrets
from collections.abc import Callable

import msgspec

from kit.lean_socket import LeanSocket
from saratoga_protocol import commands, events

ANSWERED_WITHIN = 60.0
"""Longest time in seconds to wait for a response; a bound, not a measurement."""

MOVE_ON = frozenset({"board_over", "race_over", "not_racing", "no_such_race", "wrong_phase"})
"""Codes of refusals of a move that arrived after its board had ended."""

AWAY = "store_unavailable"
REPEATED_AFTER = 0.25
"""Seconds before a command is repeated."""

_ENCODE = msgspec.msgpack.Encoder().encode


class LeanRequests:
    """The commands of one player to a server, over one socket or several in turn."""

    def __init__(self) -> None:
        self.socket: LeanSocket | None = None
        self.on_unavailable: Callable[[], None] = lambda: None
        """Called before a command is repeated because the server could not reach its store."""
        self._last = b""
        self.last_id = 0
        self._answers: dict[int, asyncio.Future[events.AnyEvent]] = {}
        self._nonce = b""
        self._showing: asyncio.Future[events.AnyEvent] | None = None

    def send(self, kind: type[commands.Command], **fields: object) -> int:
        """Send a command without waiting for the response; returns its size in bytes."""
        assert self.socket is not None
        self.last_id += 1
        frame = self._last = _ENCODE(kind(id=self.last_id, **fields))
        self.socket.send(frame)
        return len(frame)

    def repeat_newest(self, command_id: int) -> None:
        """Repeat a command after `REPEATED_AFTER` seconds, under the same id, if it is the newest.

        The server does not carry out a command twice.
        """
        self.on_unavailable()
        frame, socket = self._last, self.socket

        def send() -> None:
            if self.socket is socket is not None:
                socket.send(frame)

        if command_id == self.last_id:
            asyncio.get_running_loop().call_later(REPEATED_AFTER, send)

    async def ask(self, kind: type[commands.Command], **fields: object) -> events.AnyEvent:
        """Send a command and wait for the response; repeat it while the store is unavailable."""
        async with asyncio.timeout(ANSWERED_WITHIN):
            answer = self._expect(self.last_id + 1)
            self.send(kind, **fields)
            command_id, frame = self.last_id, self._last
            while is_unavailable(response := await answer):
                self.on_unavailable()
                await asyncio.sleep(REPEATED_AFTER)
                if self.socket is None:
                    return response
                answer = self._expect(command_id)
                self.socket.send(frame)
            return response

    async def get_ready(self, table: events.Table) -> None:
        """Send `ready` for the table's next race, with a new nonce."""
        self._nonce = secrets.token_bytes(16)
        done = await self.ask(
            commands.Ready,
            table=table.code,
            commitment=table.commitment,
            nonce_hash=hashlib.sha256(self._nonce).hexdigest(),
        )
        assert isinstance(done, events.Done), done

    def reveal(self, table: events.Table) -> None:
        """Reveal the nonce without waiting for the response."""
        showing = self.ask(commands.Reveal, table=table.code, nonce=self._nonce.hex())
        self._showing = asyncio.ensure_future(showing)
        # a lost connection is reported elsewhere
        self._showing.add_done_callback(lambda shown: shown.cancelled() or shown.exception())

    def is_answer(self, event: events.AnyEvent) -> bool:
        """Deliver a response to the command it answers; return False if it answers none."""
        waiter = self._answers.pop(event.re, None) if event.re is not None else None
        if waiter is not None and not waiter.done():
            waiter.set_result(event)
        return waiter is not None

    def fail(self, fault: Exception) -> None:
        """Fail every command that waits for a response."""
        for waiter in self._answers.values():
            if not waiter.done():
                waiter.set_exception(fault)
        self._answers.clear()

    def _expect(self, command_id: int) -> "asyncio.Future[events.AnyEvent]":
        answer: asyncio.Future[events.AnyEvent] = asyncio.get_running_loop().create_future()
        self._answers[command_id] = answer
        return answer


def is_unavailable(response: events.AnyEvent) -> bool:
    """Return whether a response says that the server could not reach its store."""
    return isinstance(response, events.Refused) and response.code == AWAY
