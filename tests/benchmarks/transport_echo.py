"""An echo server on our own transport, without codec, limits, rules, tables or store.

The first two bytes of a message are the size of the response, as in `echo_server.py`. The program prints its
port when ready.
"""

from typing import cast

import uvloop
from websockets.http11 import Request, Response

from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.live.session import Session
from saratoga_server.metrics.counters import Metrics
from saratoga_server.transport.command_runner import CommandRunner
from saratoga_server.transport.connection import PlayerConnection
from saratoga_server.transport.gateway import Gateway, GatewaySettings

PAYLOAD = bytes(4096)


class Nobody:
    """The handler behind the gateway, which is only told who comes and goes."""

    def connected(self, session: Session) -> None:
        session.player = "somebody"

    async def disconnected(self, session: Session) -> None:
        pass

    def now(self) -> int:
        return 0


class Echo:
    """A runner that echoes messages unchanged."""

    def begin(self, client: PlayerConnection, session: Session, message: bytes | str) -> None:
        assert isinstance(message, bytes)
        client.send(PAYLOAD[: int.from_bytes(message[:2], "big")])


async def no_page(request: Request) -> Response:
    raise AssertionError("no page is asked for")


async def main() -> None:
    settings = GatewaySettings(host="127.0.0.1", port=0, rate=0, per_address=None)
    gateway = Gateway(cast(Dispatcher, Nobody()), settings, no_page, Metrics())
    gateway.runner = cast(CommandRunner, Echo())
    print(await gateway.open(), flush=True)
    # without `keep_alive`, whose events would be counted as responses
    await gateway.watch()


if __name__ == "__main__":
    uvloop.run(main())
