"""Requests to the store: all replies to a request arrive together, or the request fails with a reason."""

import asyncio
from typing import Any

from kit.stores import StoreServer
from saratoga_server.store.dial import dial
from saratoga_server.store.request_connection import RequestConnection
from saratoga_server.store.resp_connection import encode_command


async def test_the_replies_to_a_request_come_together(store_server: StoreServer) -> None:
    replies: asyncio.Queue[list[Any]] = asyncio.Queue()
    losses: list[str] = []
    transport = await dial(store_server.url)
    connection = RequestConnection(transport, replies.put_nowait, losses.append)
    async with asyncio.timeout(10):
        connection.send(encode_command("PING") + encode_command("INCR", "n"), 2)
        assert await replies.get() == [b"PONG", 1]
        connection.send(encode_command("INCR", "n"), 1)
        assert await replies.get() == [2]
    connection.abort()
    await asyncio.sleep(0)
    assert losses == []


async def test_the_end_of_the_store_is_the_reason_why_no_reply_comes(
    mortal_store: StoreServer,
) -> None:
    loss: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    transport = await dial(mortal_store.url)
    connection = RequestConnection(transport, lambda replies: None, loss.set_result)
    connection.send(encode_command("BLPOP", "nothing", 0), 1)
    mortal_store.kill()
    async with asyncio.timeout(10):
        assert await loss == "the connection was lost"
    await asyncio.sleep(0)
