"""The channel on which administrators' acts reach every node: pub/sub, with nothing kept.

A node that is cut off for a moment misses what was said meanwhile; see `nudges` for why it may.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from saratoga_server.duties import pause
from saratoga_server.logs import EventLog
from saratoga_server.nudges import CHANNEL, BadNudge, Nudge, decode_nudge, encode_nudge
from saratoga_server.store.link import Link, open_client

LOOK_EVERY: Final = 5.0
"""Seconds of silence after which the connection is tried."""

PAUSE: Final = 0.5
"""Seconds before a lost connection is opened again."""

_log = EventLog("nudges")


async def publish(link: Link, nudge: Nudge) -> int:
    """Tell every node; returns how many were listening. Raises `StoreUnavailable`."""
    return int(await link.command("PUBLISH", CHANNEL, encode_nudge(nudge)))


async def listen(
    url: str,
    on_nudge: Callable[[Nudge], Awaitable[None]],
    on_listening: Callable[[], None] = lambda: None,
) -> None:
    """Hear every nudge, for ever, over a connection of its own that is opened anew when lost.

    `on_listening` is called whenever it is open: what was said before then was not heard.
    """
    while True:
        client = open_client(url)
        try:
            await _listen(client, on_nudge, on_listening)
        except (RedisError, OSError) as fault:
            _log.warning("not_listening", reason=str(fault))
        finally:
            await client.aclose(close_connection_pool=True)
        await pause(PAUSE)


async def _listen(
    client: "Redis",
    on_nudge: Callable[[Nudge], Awaitable[None]],
    on_listening: Callable[[], None],
) -> None:
    async with client.pubsub() as heard:
        await heard.subscribe(CHANNEL)
        while True:
            await pause(0)
            message = await heard.get_message(timeout=LOOK_EVERY)
            if message is None:
                await heard.ping()
            elif message["type"] == "subscribe":
                on_listening()
            elif message["type"] == "message":
                await _hear(message["data"], on_nudge)


async def _hear(payload: bytes, on_nudge: Callable[[Nudge], Awaitable[None]]) -> None:
    try:
        nudge = decode_nudge(payload)
    except BadNudge as fault:
        _log.warning("nudge_unknown", reason=str(fault))
        return
    try:
        await on_nudge(nudge)
    except Exception as fault:  # the edge: whatever one nudge comes to, the next one is heard
        _log.error("nudge_not_obeyed", nudge=type(nudge).__name__, fault=fault)
