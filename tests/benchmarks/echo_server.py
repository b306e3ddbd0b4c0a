"""An echo server for comparison: `websockets` on uvloop, without anything else.

The first two bytes of a message are the size of the response. The program prints its port when ready.
"""

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

PAYLOAD = bytes(4096)


async def echo(connection: ServerConnection) -> None:
    async for message in connection:
        assert isinstance(message, bytes)
        await connection.send(PAYLOAD[: int.from_bytes(message[:2], "big")])


async def main() -> None:
    async with serve(
        echo,
        "127.0.0.1",
        0,
        compression=None,
        subprotocols=[Subprotocol("saratoga.v1.msgpack")],
        backlog=1024,
    ) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
