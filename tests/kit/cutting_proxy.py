"""A way to the store that loses answers: the request is carried out, and then the line goes dead."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from kit.relays import Exchange, Relay, open_unix_exchange, to_socket

Loses = Callable[[bytes], bool]
"""Whether the answer to this piece of a request gets lost."""


class CuttingProxy:
    """Passes everything on between a socket of its own and the store's, but for what `loses` says."""

    def __init__(self, store: Path, socket: Path, loses: Loses) -> None:
        self.url = f"unix://{socket}"
        self.lost = 0
        """How many answers."""
        self.has_lost = asyncio.Event()
        self.loses = loses
        self.exchange = Exchange(to_socket(store), self._called)

    def _called(self, relay: Relay) -> None:
        is_doomed = False

        def forth(data: bytes) -> bytes:
            nonlocal is_doomed
            is_doomed = is_doomed or self.loses(data)
            return data

        def back(data: bytes) -> bytes:
            if not is_doomed:
                return data
            self.lost += 1
            self.has_lost.set()
            relay.swallows = True
            asyncio.get_running_loop().call_soon(relay.cut)
            return b""

        relay.forth, relay.back = forth, back


@asynccontextmanager
async def cutting_proxy(store: Path, socket: Path, loses: Loses) -> AsyncIterator[CuttingProxy]:
    """A proxy that runs while entered."""
    proxy = CuttingProxy(store, socket, loses)
    async with open_unix_exchange(proxy.exchange, socket):
        yield proxy


def every_first_call() -> Loses:
    """Lose the answer to each Function call, and not to the same call when it comes again."""
    seen: set[bytes] = set()

    def loses(piece: bytes) -> bool:
        if b"FCALL" not in piece or piece in seen:
            return False
        seen.add(piece)
        return True

    return loses


def next_call(function: str) -> Loses:
    """Lose the answer to the next call of that Function only."""
    waiting = [function.encode()]

    def loses(piece: bytes) -> bool:
        if waiting and waiting[0] in piece:
            waiting.clear()
            return True
        return False

    return loses
