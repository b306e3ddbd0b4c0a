"""Load in a closed loop: whoever is answered asks again at once.

The measure is the server's own CPU time a message, which a busy machine disturbs least; the echo gets
and gives as many bytes a message as the house did.
"""

import asyncio
import gc
import time
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.contestants import Running
from benchmarks.measuring import Load, measured
from benchmarks.supply import SUPPLY
from kit.lean_racers import Choice, LeanRacer, plausible, racing_tables
from kit.lean_socket import LeanSocket, connect

WARM_UP = 0.3
"""Seconds in which moves are made that do not count."""

LEAST_PART = 0.4
"""Of the time that was asked for: if tables run out before that, it is measured again with more of them."""

TRIES = 4
"""Until enough tables wait."""


class _Pausing:
    """Whoever asks as soon as it is answered, but in pauses."""

    def __init__(self, held: list[Callable[[], None]] | None) -> None:
        self.load = Load()
        self._held = held
        """What is to be asked after the pause; `None`: there is none."""

    def pause(self) -> None:
        """Let everyone have the last answer, and ask no more."""
        if self._held is None:
            self._held = []

    def resume(self) -> None:
        held, self._held = self._held or [], None
        for ask in held:
            ask()

    def _do(self, ask: Callable[[], None]) -> None:
        """Ask now, or after the pause."""
        if self._held is None:
            ask()
        else:
            self._held.append(ask)


class ClosedLoop(_Pausing):
    """So many tables race at once.

    A table whose first board has ended makes way for one that waits, so that neither the end of
    a race nor boards at rest are measured.
    """

    def __init__(self, waiting: list[list[LeanRacer]]) -> None:
        super().__init__(held=None)
        self._waiting = waiting
        self._halt: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # who waits no more need not hear of it
        self._halt.add_done_callback(lambda halt: halt.exception())

    def start(self, tables: int) -> None:
        for _ in range(tables):
            self._put_one_in()

    def stop(self) -> None:
        self._waiting.clear()

    @property
    def has_run_out(self) -> bool:
        """Whether fewer tables race than should, because none waits any more."""
        return self._halt.done()

    def _move(self, racer: LeanRacer) -> None:
        self.load.sent += racer.move()

    async def wait(self, seconds: float) -> None:
        """Let them race, or as long as there are enough tables; raises what a racer ran into."""
        await asyncio.wait([self._halt], timeout=seconds)
        if self._halt.done():
            self._halt.result()

    def _put_one_in(self) -> None:
        if not self._waiting:
            if not self._halt.done():
                self._halt.set_result(None)
            return
        racers = self._waiting.pop()
        is_over = False

        def over() -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                self._put_one_in()

        def moved(racer: LeanRacer, size: int, wait: float) -> None:
            load = self.load
            load.messages += 1
            load.answered += size
            load.latencies.append(wait)
            if not is_over:
                self._do(partial(self._move, racer))

        for racer in racers:
            racer.on_over = over
            racer.on_fault = self._fail
            racer.on_moved = lambda size, wait, racer=racer: moved(racer, size, wait)  # type: ignore[misc]
        for racer in racers:
            self._do(partial(self._move, racer))

    def _fail(self, fault: Exception) -> None:
        if not self._halt.done():
            self._halt.set_exception(fault)


async def house_load(
    running: Running,
    tables: int,
    game: str,
    seconds: float,
    *,
    choice: Choice = plausible,
    legal: bool = True,
    ports: Callable[[int], Sequence[int]] | None = None,
) -> Load:
    """Race at that many tables at once for so long, or until too few tables are left."""
    for _ in range(TRIES):
        seats = tables + SUPPLY.waiting(tables, seconds + WARM_UP)
        everyone = await racing_tables(seats, ports or running.same, game, choice, legal=legal)
        gc.collect()
        loop = ClosedLoop([*everyone])
        loop.start(tables)
        await loop.wait(WARM_UP)
        load = loop.load = Load()
        with measured(load, running.servers, running.stores):
            await loop.wait(seconds)
            loop.stop()
        for racers in everyone:
            for racer in racers:
                racer.go()
        if load.seconds >= seconds * LEAST_PART:
            SUPPLY.saw(tables, load.rate)
            return load
        SUPPLY.was_short(tables)
    raise RuntimeError(f"no table waited any more after {load.seconds:.1f} s")


async def echo_load(running: Running, like: Load, connections: int, seconds: float) -> Load:
    """As many connections, and messages of the same sizes, as `like` had."""
    loop = await EchoLoop.of(running, like, connections)
    gc.collect()
    loop.resume()
    await loop.wait(WARM_UP)
    load = loop.load = Load()
    with measured(load, running.servers, ()):
        await loop.wait(seconds)
    loop.close()
    return load


class EchoLoop(_Pausing):
    """Connections that ask again and again for as many bytes as a house's players got."""

    def __init__(self, sockets: Sequence[LeanSocket], payload: bytes) -> None:
        """Nobody asks before `resume`."""
        super().__init__(held=[self._asker(socket) for socket in sockets])
        self._payload = payload
        self._sockets = sockets

    @classmethod
    async def of(cls, running: Running, like: Load, connections: int) -> "EchoLoop":
        sockets = [await connect("127.0.0.1", running.ports[0]) for _ in range(connections)]
        return cls(sockets, echo_payload(like))

    has_run_out = False
    """An echo never does."""

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def close(self) -> None:
        self.pause()
        for socket in self._sockets:
            socket.close()

    def _asker(self, socket: LeanSocket) -> Callable[[], None]:
        asked = 0.0

        def ask() -> None:
            nonlocal asked
            asked = time.perf_counter()
            socket.send(self._payload)

        def hear(message: bytes) -> None:
            load = self.load
            load.messages += 1
            load.sent += len(self._payload)
            load.answered += len(message)
            load.latencies.append(time.perf_counter() - asked)
            self._do(ask)

        socket.on_message = hear
        return ask


def echo_payload(like: Load) -> bytes:
    """A message of the mean size, which says how long the answer is to be."""
    return like.answer.to_bytes(2, "big") + bytes(max(0, like.question - 2))
