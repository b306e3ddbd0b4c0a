"""An echo server for comparison, which prints its port when ready: `python echo_server.py bare|bytes|commands`.

- `bare`: `websockets` on uvloop, without anything else. The first two bytes of a message are the size of the
  response.
- `bytes`: the same on our own gateway and connections, without codec and limits.
- `commands`: the gateway as the server runs it, with codec and limits, but without rules, tables or store. Every
  move is answered at once, and its field `after` is the size of the response.
"""

import asyncio
import sys
from functools import cache
from typing import cast

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from saratoga_protocol.codec import CODECS, MSGPACK
from saratoga_protocol.commands import Command, MakeMove
from saratoga_protocol.events import Event, Refused
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.live.session import Session
from saratoga_server.metrics import Metrics
from saratoga_server.transport.command_runner import CommandRunner
from saratoga_server.transport.connection import PlayerConnection
from saratoga_server.transport.gateway import Gateway, GatewaySettings

PAYLOAD = bytes(4096)


def response(message: bytes | str) -> bytes:
    assert isinstance(message, bytes)
    return PAYLOAD[: int.from_bytes(message[:2], "big")]


async def echo(connection: ServerConnection) -> None:
    async for message in connection:
        await connection.send(response(message))


@cache
def answer_of(size: int) -> Event:
    """Return an event that is encoded in `size` bytes."""
    empty = Refused(code="wrong_phase", message="")
    # the header of a text of more than 31 bytes is one or two bytes longer
    padding = size - len(CODECS[MSGPACK].encode(empty)) - (1 if size < 256 else 2)
    return Refused(code="wrong_phase", message="x" * padding)


class Echo:
    """The handler of all commands behind the gateway: it echoes every move."""

    def connected(self, session: Session) -> None:
        session.player = "somebody"

    def begin_move(self, session: Session, command: MakeMove) -> Event:
        return answer_of(command.after)

    async def answer(self, session: Session, command: Command) -> Event:
        raise AssertionError("only moves are sent")

    async def disconnected(self, session: Session) -> None:
        pass

    def now(self) -> int:
        return 0


class BytesRunner:
    """A runner that echoes messages unchanged."""

    def begin(self, client: PlayerConnection, session: Session, message: bytes | str) -> None:
        client.send(response(message))


async def no_page(request: Request) -> Response:
    raise AssertionError("no page is asked for")


async def main(kind: str) -> None:
    if kind == "bare":
        names = [Subprotocol(MSGPACK)]
        server = await serve(
            echo, "127.0.0.1", 0, compression=None, subprotocols=names, backlog=1024
        )
        port = next(iter(server.sockets)).getsockname()[1]
    else:
        settings = GatewaySettings(host="127.0.0.1", port=0, rate=0, per_address=None)
        gateway = Gateway(cast(Dispatcher, Echo()), settings, no_page, Metrics())
        if kind == "bytes":
            gateway.runner = cast(CommandRunner, BytesRunner())
        port = await gateway.open()  # without `watch`, whose events would count as responses
    print(port, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
