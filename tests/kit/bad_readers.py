"""Guests who come in, ask for much, and then do not read it, each in a way of its own."""

import asyncio
import ssl
from collections.abc import Callable, Coroutine, Mapping
from contextlib import ExitStack

import msgspec

from kit.players import RECEIVED_WITHIN, token_of
from kit.raw_sockets import BINARY, SMALL_WINDOW, RawSocket, frame, raw_socket
from saratoga_protocol.commands import AnyCommand, Hello, WatchTable

ENOUGH = 1500
"""Questions whose answers are more than the kernel takes for anybody."""

TRICKLE_EVERY = 0.5
"""Seconds."""

HELD_UNREAD = 2 * SMALL_WINDOW
"""Bytes that the kernel takes for who reads nothing: it doubles what it is told."""


def said(command: AnyCommand) -> bytes:
    return frame(msgspec.msgpack.encode(command))


async def come_in(socket: RawSocket, name: str, code: str) -> None:
    """Say hello, and ask for more than will be read."""
    assert b" 101 " in await socket.shake_hands()
    asked = b"".join(said(WatchTable(id=number, table=code)) for number in range(2, ENOUGH))
    await socket.say(said(Hello(id=1, token=token_of(name), name=name)) + asked)


async def stops(socket: RawSocket, name: str, code: str) -> None:
    """Reads nothing at all."""
    await come_in(socket, name, code)
    assert await socket.dropped()


async def trickles(socket: RawSocket, name: str, code: str) -> None:
    """Reads on, and ever more slowly: its window opens again and again, for little."""
    await come_in(socket, name, code)
    read = 0
    async with asyncio.timeout(RECEIVED_WITHIN):
        while read <= HELD_UNREAD:
            piece = await socket.read(SMALL_WINDOW)
            assert piece, "gone while it read"
            read += len(piece)
        while not await socket.dropped(within=TRICKLE_EVERY):
            await socket.read(SMALL_WINDOW)


async def stops_in_mid_message(socket: RawSocket, name: str, code: str) -> None:
    """Has begun to say something, and neither ends it nor reads."""
    half = frame(b"\x83\xa4type", BINARY, fin=False)
    await come_in(socket, name, code)
    await socket.say(half)
    assert await socket.dropped()


async def stops_in_mid_frame(socket: RawSocket, name: str, code: str) -> None:
    """The same, in the middle of a frame."""
    await come_in(socket, name, code)
    await socket.say(said(WatchTable(id=ENOUGH, table=code))[:9])
    assert await socket.dropped()


async def stops_in_the_handshake(socket: RawSocket, name: str, code: str) -> None:
    """Says half a line."""
    await socket.say(b"GET / HTTP/1.1\r\nHost: ho")
    assert await socket.dropped()


async def says_nothing(socket: RawSocket, name: str, code: str) -> None:
    """Only connects."""
    assert await socket.dropped()


BadReader = Callable[[RawSocket, str, str], Coroutine[None, None, None]]

UNREADING: Mapping[str, BadReader] = {
    each.__name__: each for each in (stops, trickles, stops_in_mid_message, stops_in_mid_frame)
}
"""Gone when they have read nothing for two seconds."""

UNDECIDED: Mapping[str, BadReader] = {
    each.__name__: each for each in (stops_in_the_handshake, says_nothing)
}
"""Gone when they have not come in for ten."""


async def all_dropped(
    port: int,
    code: str,
    kinds: Mapping[str, BadReader] = UNREADING,
    *,
    of_each: int = 1,
    every: float = 0.0,
    tls: ssl.SSLContext | None = None,
) -> None:
    """So many of each kind come, one every so many seconds; returns when all were dropped."""
    with ExitStack() as sockets:
        async with asyncio.TaskGroup() as group:
            for number in range(of_each):
                for kind, behave in kinds.items():
                    socket = sockets.enter_context(raw_socket(port, tls=tls))
                    suffix = chr(97 + number // 26) + chr(97 + number % 26)
                    name = f"{kind[:14].replace('_', '-')} {suffix}"
                    group.create_task(behave(socket, name, code))
                    await asyncio.sleep(every)
