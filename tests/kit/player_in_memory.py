"""Players that call a server in the test's own process, without sockets.

Each player has a `Session` of its own, whose connection keeps the frames that the server sends.
Nothing is awaited except the server itself.
"""

from dataclasses import dataclass, field

from kit.players import Player, Received
from saratoga_protocol.codec import CODECS
from saratoga_protocol.commands import AnyCommand
from saratoga_protocol.events import AnyEvent
from saratoga_protocol.refusals import CloseCode
from saratoga_protocol.version import MSGPACK
from saratoga_server.live.session import Session
from saratoga_server.transport.commands import Commands


@dataclass
class RecordingConnection:
    """A connection that keeps what is sent over it."""

    received: Received
    closed: list[CloseCode] = field(default_factory=list)
    is_open: bool = True

    def send(self, frame: bytes | str) -> None:
        self.received.add(frame)

    def close(self, code: CloseCode) -> None:
        self.closed.append(code)

    leave = close


class MemoryTransport:
    """Hands commands to a server in the test's own task."""

    def __init__(self, server: Commands, subprotocol: str = MSGPACK) -> None:
        self.received = Received(CODECS[subprotocol])
        self.connection = RecordingConnection(self.received)
        self.session = Session(
            connection=self.connection, codec=self.received.codec, address="-", number=1
        )
        self._server = server
        server.connected(self.session)

    async def exchange(self, command: AnyCommand) -> AnyEvent:
        # through both codecs, as over a socket
        codec = self.received.codec
        read = codec.decode_command(codec.encode_command(command))
        response = await self._server.answer(self.session, read)
        self.session.send(response)
        return response

    async def disconnect(self) -> None:
        """Tell the server that the connection is lost."""
        await self._server.disconnected(self.session)


class MemoryPlayer(Player):
    """A player without a socket."""
