"""Load in a closed loop: whoever is answered asks again at once.

The measure is the server's own CPU time a message, which a busy machine disturbs least; the echo gets
and gives as many bytes a message as the house did.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

from benchmarks.contestants import Running
from benchmarks.measuring import Load, measured
from kit.lean_racers import Choice, LeanRacer, plausible, racing_tables
from kit.lean_socket import LeanSocket, connect

WARM_UP = 0.3
"""Seconds in which moves are made that do not count."""

MOVES_OF_A_TABLE = 170
"""How many the four make in the mean before the first of their boards has ended, where it ends soonest."""

MOST_MOVES = {1: 2_500.0, 4: 6_000.0}
"""A second, at so many tables: a guess, so that enough tables wait. At more of them the server is busy."""
MOST_MOVES_OF_ALL = 10_000.0

LEAST_SPARE = 6
LEAST_PART = 0.4
"""Of the time that was asked for: if tables run out before that, the figures are not given."""


class ClosedLoop:
    """So many tables race at once.

    A table whose first board has ended makes way for one that waits, so that neither the end of
    a race nor boards at rest are measured.
    """

    def __init__(self, waiting: list[list[LeanRacer]]) -> None:
        self.load = Load()
        self._waiting = waiting
        self._halt: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # who waits no more need not hear of it
        self._halt.add_done_callback(lambda halt: halt.exception())

    def start(self, tables: int) -> None:
        for _ in range(tables):
            self._put_one_in()

    def stop(self) -> None:
        self._waiting.clear()

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
                load.sent += racer.move()

        for racer in racers:
            racer.on_over = over
            racer.on_fault = self._fail
            racer.on_moved = lambda size, wait, racer=racer: moved(racer, size, wait)  # type: ignore[misc]
        for racer in racers:
            self.load.sent += racer.move()

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
    seats = tables + spare_tables(tables, seconds)
    everyone = await racing_tables(seats, ports or running.same, game, choice, legal=legal)
    loop = ClosedLoop([*everyone])
    loop.start(tables)
    await loop.wait(WARM_UP)
    load = loop.load = Load()
    with measured(load, running.servers, running.stores):
        await loop.wait(seconds)
        loop.stop()
    if load.seconds < seconds * LEAST_PART:
        raise RuntimeError(f"no table waited any more after {load.seconds:.1f} s")
    for racers in everyone:
        for racer in racers:
            racer.go()
    return load


def spare_tables(tables: int, seconds: float) -> int:
    """How many wait, so that as many race as are to race for so long."""
    rate = MOST_MOVES.get(tables, MOST_MOVES_OF_ALL)
    needed = rate * (seconds + WARM_UP) / MOVES_OF_A_TABLE
    # those that race bring half of their own moves, at least
    return max(LEAST_SPARE, round(needed - tables / 2))


async def echo_load(running: Running, like: Load, connections: int, seconds: float) -> Load:
    """As many connections, and messages of the same sizes, as `like` had."""
    payload = echo_payload(like)
    sockets = [await connect("127.0.0.1", running.ports[0]) for _ in range(connections)]
    loads = [Load()]
    for socket in sockets:
        _echo_on(socket, payload, loads)
    await asyncio.sleep(WARM_UP)
    load = Load()
    loads[0] = load
    with measured(load, running.servers, ()):
        await asyncio.sleep(seconds)
    loads.clear()
    for socket in sockets:
        socket.close()
    return load


def echo_payload(like: Load) -> bytes:
    """A message of the mean size, which says how long the answer is to be."""
    return like.answer.to_bytes(2, "big") + bytes(max(0, like.question - 2))


def _echo_on(socket: LeanSocket, payload: bytes, loads: list[Load]) -> None:
    """Ask again and again, for whoever counts at the moment."""
    asked = time.perf_counter()

    def hear(message: bytes) -> None:
        nonlocal asked
        if not loads:
            return
        load = loads[0]
        now = time.perf_counter()
        load.messages += 1
        load.sent += len(payload)
        load.answered += len(message)
        load.latencies.append(now - asked)
        asked = now
        socket.send(payload)

    socket.on_message = hear
    socket.send(payload)
