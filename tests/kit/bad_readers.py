"""Clients that ask for large responses and read them slowly or never."""

import asyncio
import ssl
from collections.abc import Callable, Coroutine, Mapping
from contextlib import ExitStack

import msgspec

from kit.players import RECEIVED_WITHIN, token_of
from kit.raw_sockets import BINARY, SMALL_WINDOW, RawSocket, frame, raw_socket
from saratoga_protocol.commands import AnyCommand, Hello, WatchTable

ENOUGH = 1500
"""The number of commands whose responses exceed what the kernel buffers for a connection."""

TRICKLE_EVERY = 0.5
"""Seconds between two reads of a slow client."""

HELD_UNREAD = 2 * SMALL_WINDOW
"""Bytes that the kernel buffers for a client that reads nothing: twice the window."""


def encoded(command: AnyCommand) -> bytes:
    return frame(msgspec.msgpack.encode(command))


async def ask_for_much(socket: RawSocket, name: str, code: str) -> None:
    """Say hello and send many commands (ids below `ENOUGH`) without reading the responses."""
    assert b" 101 " in await socket.shake_hands()
    asked = b"".join(encoded(WatchTable(id=number, table=code)) for number in range(2, ENOUGH))
    await socket.say(encoded(Hello(id=1, token=token_of(name), name=name)) + asked)


async def stops(socket: RawSocket, name: str, code: str) -> None:
    """Send many commands, then read nothing."""
    await ask_for_much(socket, name, code)
    assert await socket.dropped()


async def trickles(socket: RawSocket, name: str, code: str) -> None:
    """Read fast, then slowly, so that the receive window opens a little again and again."""
    await ask_for_much(socket, name, code)
    read = 0
    async with asyncio.timeout(RECEIVED_WITHIN):
        while read <= HELD_UNREAD:
            piece = await socket.read(SMALL_WINDOW)
            assert piece, "gone while it read"
            read += len(piece)
        while not await socket.dropped(within=TRICKLE_EVERY):
            await socket.read(SMALL_WINDOW)


async def stops_in_mid_message(socket: RawSocket, name: str, code: str) -> None:
    """Send part of a fragmented message, then stop sending and reading."""
    half = frame(b"\x83\xa4type", BINARY, fin=False)
    await ask_for_much(socket, name, code)
    await socket.say(half)
    assert await socket.dropped()


async def stops_in_mid_frame(socket: RawSocket, name: str, code: str) -> None:
    """Send part of a frame, then stop sending and reading."""
    await ask_for_much(socket, name, code)
    await socket.say(encoded(WatchTable(id=ENOUGH, table=code))[:9])
    assert await socket.dropped()


async def stops_in_the_handshake(socket: RawSocket, name: str, code: str) -> None:
    """Send an incomplete HTTP request and stop."""
    await socket.say(b"GET / HTTP/1.1\r\nHost: ho")
    assert await socket.dropped()


async def says_nothing(socket: RawSocket, name: str, code: str) -> None:
    """Connect and send nothing."""
    assert await socket.dropped()


BadReader = Callable[[RawSocket, str, str], Coroutine[None, None, None]]

UNREADING: Mapping[str, BadReader] = {
    each.__name__: each for each in (stops, trickles, stops_in_mid_message, stops_in_mid_frame)
}
"""Clients that the server disconnects after two seconds without a read."""

UNDECIDED: Mapping[str, BadReader] = {
    each.__name__: each for each in (stops_in_the_handshake, says_nothing)
}
"""Clients that the server disconnects because they do not complete the handshake within ten seconds."""


async def all_dropped(
    port: int,
    code: str,
    kinds: Mapping[str, BadReader] = UNREADING,
    *,
    of_each: int = 1,
    every: float = 0.0,
    tls: ssl.SSLContext | None = None,
) -> None:
    """Connect `of_each` clients of each kind, one every `every` seconds; wait until all are dropped."""
    with ExitStack() as sockets:
        async with asyncio.TaskGroup() as group:
            for number in range(of_each):
                for kind, behave in kinds.items():
                    socket = sockets.enter_context(raw_socket(port, tls=tls))
                    suffix = chr(97 + number // 26) + chr(97 + number % 26)
                    name = f"{kind[:14].replace('_', '-')} {suffix}"
                    group.create_task(behave(socket, name, code))
                    await asyncio.sleep(every)
