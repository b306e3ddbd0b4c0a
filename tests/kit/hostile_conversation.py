"""One connection of a hostile client: frames sent, and every response checked."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast, get_args

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from kit.decoding import TRACE
from saratoga_protocol import commands
from saratoga_protocol.codec import CODECS, Frame
from saratoga_protocol.events import AnyEvent, Refused
from saratoga_protocol.refusals import REASONS

BOUND: Final = 60.0
"""Seconds for a response: a bound that no test should reach."""

MARKS: Final = 9_007_000_000_000_000
"""The lowest id of a heartbeat behind a batch; other commands have lower ids."""

EVENTS: Final = get_args(AnyEvent)


class HostileConversation:
    """One connection of a hostile client; it checks the response to every frame."""

    def __init__(
        self, socket: ClientConnection, subprotocol: str, learn: Callable[[AnyEvent], None]
    ) -> None:
        self._socket = socket
        self.subprotocol = subprotocol
        self._codec = CODECS[subprotocol]
        self._learn = learn
        self.sent = 0
        self.answers: Counter[str] = Counter()
        self._mark = MARKS
        """The id of the heartbeat behind the last batch."""

    @property
    def close_code(self) -> int:
        """The code that closed the connection, 0 if none was sent."""
        return self._socket.close_code or 0

    async def send(self, frame: Frame) -> None:
        """Send a frame without waiting for its response."""
        await self._socket.send(frame)
        self.sent += 1

    async def exchange(self, frames: list[Frame]) -> None:
        """Send frames and wait until each is answered; raises `ConnectionClosed`."""
        self._mark += 1
        mark = commands.Heartbeat(id=self._mark)
        for frame in frames:
            await self.send(frame)
        await self._socket.send(self._codec.encode_command(mark))
        answers = 0
        async with asyncio.timeout(BOUND):
            while True:
                event = self._read(await self._socket.recv())
                if getattr(event, "re", None) == self._mark:
                    break
                if isinstance(event, Refused) or getattr(event, "re", None) is not None:
                    answers += 1
        assert answers == len(frames), (answers, frames)

    def _read(self, frame: Frame) -> AnyEvent:
        event = self._codec.decode_event(frame)
        assert isinstance(event, EVENTS), frame
        if isinstance(event, Refused):
            assert event.code in REASONS, event
            assert event.code != "server_fault", event
            assert not TRACE.search(event.message), event
            self.answers[event.code] += 1
        else:
            self.answers[type(event).__name__] += 1
        read = cast(AnyEvent, event)
        self._learn(read)
        return read

    async def end(self) -> None:
        """Close the connection, and check the events that arrive until its end."""
        await self._socket.close()
        with suppress(ConnectionClosed):
            async with asyncio.timeout(BOUND):
                while True:
                    self._read(await self._socket.recv())
