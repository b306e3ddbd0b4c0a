"""An echo server for comparison, which prints its port when ready: `python echo_server.py bare|bytes`.

- `bare`: `websockets` on uvloop, without anything else. The first two bytes of a message are the size of the
  response.
- `bytes`: the same on our own gateway and connections, without codec and limits.
"""

import asyncio
import sys
from typing import cast

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from saratoga_protocol.codec import MSGPACK
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


class Echo:
    """The handler of all commands behind the gateway, and the runner that echoes messages before they get there."""

    def connected(self, session: Session) -> None:
        session.player = "somebody"

    def begin(self, client: PlayerConnection, session: Session, message: bytes | str) -> None:
        client.send(response(message))

    async def disconnected(self, session: Session) -> None:
        pass

    def now(self) -> int:
        return 0


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
        gateway.runner = cast(CommandRunner, Echo())
        port = await gateway.open()  # without `watch`, whose events would count as responses
    print(port, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
