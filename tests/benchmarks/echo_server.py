"""An echo server for comparison, which prints its port when ready: `websockets` on uvloop, and nothing else.

The first two bytes of a message are the size of the response.
"""

import asyncio

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from saratoga_protocol.codec import MSGPACK

PAYLOAD = bytes(4096)


async def echo(connection: ServerConnection) -> None:
    async for message in connection:
        assert isinstance(message, bytes)
        await connection.send(PAYLOAD[: int.from_bytes(message[:2], "big")])


async def main() -> None:
    names = [Subprotocol(MSGPACK)]
    server = await serve(echo, "127.0.0.1", 0, compression=None, subprotocols=names, backlog=1024)
    print(next(iter(server.sockets)).getsockname()[1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main())
