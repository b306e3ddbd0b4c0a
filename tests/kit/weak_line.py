"""A line to the house that breaks again and again, mostly between a request and its answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

from kit.relays import Exchange, Relay, open_exchange, to_port


class WeakLine:
    """Passes on what is said, and breaks when enough has come back: the last answer gets lost."""

    def __init__(self, port: int, seed: int, answers: tuple[int, int]) -> None:
        self._chance = Random(seed)
        self._answers = answers
        self.exchange = Exchange(to_port(port), self._called)
        self.url = ""
        self.breaks = 0
        self.has_broken = asyncio.Event()
        self.holds = False
        """Breaks no more."""

    def _called(self, relay: Relay) -> None:
        left = self._chance.randint(*self._answers)

        def back(data: bytes) -> bytes:
            nonlocal left
            left -= 1
            if left != 0 or self.holds:
                return data
            self.breaks += 1
            self.has_broken.set()
            relay.swallows = True
            asyncio.get_running_loop().call_soon(relay.cut)
            return b""

        relay.back = back


@asynccontextmanager
async def weak_line(port: int, seed: int, answers: tuple[int, int]) -> AsyncIterator[WeakLine]:
    """A line to `port` of this machine; each connection breaks after so many pieces from there."""
    line = WeakLine(port, seed, answers)
    async with open_exchange(line.exchange) as own_port:
        line.url = f"ws://127.0.0.1:{own_port}"
        yield line
