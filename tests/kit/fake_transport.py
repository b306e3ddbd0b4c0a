"""A connection without a network: tests feed it bytes, and it keeps what the server writes."""

import asyncio
from collections import Counter
from time import monotonic
from typing import cast

from saratoga_protocol.codec import CODECS, MSGPACK
from saratoga_server.limits import Quota, RateLimiter
from saratoga_server.live.session import Session
from saratoga_server.transport.connection import PlayerConnection
from saratoga_server.transport.gateway import Gateway


class FakeTransport(asyncio.Transport):
    """A transport that keeps all bytes that the server writes."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.has_ended = False
        self.is_paused = False
        self.closed = False
        self.held = 0
        """The size of the write buffer in bytes."""
        self.fault: Exception | None = None
        """If set, every write raises this error."""
        self.wrote = asyncio.Event()

    def get_write_buffer_size(self) -> int:
        return self.held

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closed
        if self.fault is not None:
            raise self.fault
        self.wrote.set()
        self.written += bytes(data)

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.has_ended = True

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False


class FakeOwner:
    """An owner of connections that keeps the messages they receive."""

    def __init__(self) -> None:
        self.messages: list[bytes | str] = []
        self.answers_at_once = True
        self.ends: list[Session] = []
        self.losses = 0
        self.slow_readers = 0
        self.refusals = Counter[str]()

    def connected(self, connection: PlayerConnection) -> Quota:
        limiter = RateLimiter(
            monotonic, factor=None, rate=0, on_refused=lambda action: self.refusals.update([action])
        )
        return limiter.open(connection.address)

    @property
    def runner(self) -> "FakeOwner":
        return self

    def begin(self, connection: PlayerConnection, session: Session, message: bytes | str) -> None:
        self.messages.append(message)
        if not self.answers_at_once:
            connection.answering()

    def stopped_reading(self) -> None:
        self.slow_readers += 1

    def lost(self, connection: PlayerConnection) -> None:
        self.losses += 1

    def ended(self, session: Session) -> None:
        self.ends.append(session)


def open_connection(
    owner: FakeOwner, transport: FakeTransport | None = None
) -> tuple[PlayerConnection, FakeTransport]:
    """Return a connection whose session has begun, and its transport."""
    transport = transport or FakeTransport()
    connection = PlayerConnection(cast(Gateway, owner))
    connection.connection_made(transport)
    session = Session(connection=connection, codec=CODECS[MSGPACK], address="192.0.2.1", number=1)
    connection.opened(session)
    return connection, transport


async def settle() -> None:
    """Run the event loop until all scheduled callbacks have run."""
    for _ in range(200):
        await asyncio.sleep(0)
