"""The load generator: racers or echo clients that send at once after each response, or at random moments.

At a rate, each client sends at random times (a Poisson process), but never before the last response has
arrived. A message that was due before that is sent at once when the response arrives. Messages to and from an
echo are as long as those of the game server.
"""

import asyncio
import gc
import heapq
import itertools
import random
import time
from collections.abc import Callable
from functools import partial

from benchmarks.measuring import Load, measured
from benchmarks.programs import Running
from benchmarks.racers import GAME, LeanRacer, LeanSocket, connect, racing_tables

WARM_UP = 0.3
"""Seconds at the start whose messages are not counted."""

TICK = 0.001
"""Seconds between two checks for clients that are due; uvloop's timers are no finer."""

LATE = 0.005
"""A message that is sent more than so many seconds after its planned time is late."""

MOVES_OF_A_TABLE = 170
"""Mean number of moves at a table before its first board ends, in the game where that is soonest."""

MOST_RATE = 25_000
"""Moves a second for which enough tables wait."""

Ask = Callable[[float], None]
"""A function that sends the next message; its argument is the planned time by `time.perf_counter`."""


def waiting(tables: int, seconds: float, rate: float = MOST_RATE) -> int:
    """Return how many tables must wait to replace those that end in that time."""
    # racing tables still have at least half of their moves to make
    return max(6, round(rate * seconds / MOVES_OF_A_TABLE - tables / 2))


class Generator:
    """The clients of one program; they can be paused."""

    def __init__(self, rate: float = 0.0) -> None:
        """`rate`: messages a second of all clients together; 0 to send at once after each response."""
        self.load = Load()
        self.rate = rate
        self._members = 0
        self._sockets: list[LeanSocket] = []
        self._waiting: list[list[LeanRacer]] = []
        self._is_replacing = False
        self._held: list[Ask] | None = None
        """The requests to send after the pause; `None` while there is no pause."""
        self._due: list[tuple[float, int, Ask]] = []
        self._count = itertools.count()
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(TICK, self._tick) if rate else None
        self._ended: asyncio.Future[None] = self._loop.create_future()
        # if no task awaits it, asyncio need not report it
        self._ended.add_done_callback(lambda ended: ended.exception())

    # Clients

    def race(self, tables: list[list[LeanRacer]], at_once: int) -> None:
        """Let `at_once` tables race; when a table's first board ends, another one replaces it.

        So neither the end of a race nor boards without moves are measured. If all race at once, none is replaced.
        """
        gc.collect()
        self._sockets = [racer.socket for racers in tables for racer in racers]
        self._waiting = [*tables]
        self._is_replacing = at_once < len(tables)
        for _ in range(at_once):
            self._put_one_in()

    def _put_one_in(self) -> None:
        if not self._waiting:
            if self._is_replacing and not self._ended.done():
                self._ended.set_result(None)
            return
        racers = self._waiting.pop()
        is_over = False

        def over() -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                self._members -= len(racers)
                self._put_one_in()

        def move(racer: LeanRacer) -> int:
            return 0 if is_over else racer.move()

        for racer in racers:
            racer.on_over, racer.on_fault = over, self._fail
            racer.on_moved = self._join(partial(move, racer))

    async def echo(self, running: Running, connections: int, payload: bytes) -> None:
        """Connect clients to an echo server that send one message again and again."""
        self._sockets = [await connect(running.ports[0]) for _ in range(connections)]
        gc.collect()

        def send(socket: LeanSocket) -> int:
            socket.send(payload)
            return len(payload)

        for socket in self._sockets:
            socket.on_lost = lambda: self._fail(ConnectionError("the echo closed a connection"))
            answered = self._join(partial(send, socket))
            socket.on_message = lambda message, answered=answered: answered(len(message))  # type: ignore[misc]

    def close(self) -> None:
        """Disconnect all clients."""
        self._held, self._due = [], []
        if self._timer is not None:
            self._timer.cancel()
        for socket in self._sockets:
            socket.on_lost = lambda: None
            socket.close()

    # Time

    @property
    def has_run_out(self) -> bool:
        """Whether fewer tables race than required, because no table is waiting."""
        return self._ended.done()

    async def wait(self, seconds: float) -> None:
        """Wait `seconds`, or until too few tables race; raise an error of a client."""
        await asyncio.wait([self._ended], timeout=seconds)
        if self._ended.done():
            self._ended.result()

    async def measure(self, running: Running, seconds: float) -> Load:
        """Return the load of that time, or until too few tables race."""
        load = self.load = Load()
        with measured(load, running.servers, running.stores):
            await self.wait(seconds)
        self.load = Load()  # responses from now on do not count
        return load

    def pause(self) -> None:
        """Send nothing more before `resume`."""
        if self._held is None:
            self._held = []

    def resume(self) -> None:
        held, self._held = self._held or [], None
        for ask in held:
            ask(time.perf_counter())

    def change_rate(self, rate: float) -> None:
        self.rate = rate
        now = time.perf_counter()
        # waiting times of a Poisson process do not depend on the past, so new ones are drawn
        self._due = [(now + self._gap(), number, ask) for _, number, ask in self._due]
        heapq.heapify(self._due)

    # Messages

    def _join(self, send: Callable[[], int]) -> Callable[[int], None]:
        """Add a client that sends a message and returns its size; return what to call with a response's size."""
        asked = due = 0.0

        def ask(at: float) -> None:
            nonlocal asked, due
            asked, due = time.perf_counter(), at
            self.load.late += asked - due > LATE
            self.load.sent += send()

        def answered(size: int) -> None:
            now, load = time.perf_counter(), self.load
            load.messages += 1
            load.answered += size
            load.latencies.append(now - asked)
            load.since_due.append(now - due)
            self._plan(asked, ask)

        self._members += 1
        self._plan(time.perf_counter(), ask)
        return answered

    def _plan(self, last: float, ask: Ask) -> None:
        if self._held is not None:
            self._held.append(ask)
        elif self.rate:
            heapq.heappush(self._due, (last + self._gap(), next(self._count), ask))
        else:
            ask(time.perf_counter())

    def _gap(self) -> float:
        return random.expovariate(self.rate / max(1, self._members))

    def _tick(self) -> None:
        self._timer = self._loop.call_later(TICK, self._tick)
        now = time.perf_counter()
        while self._due and self._due[0][0] <= now:
            at, _, ask = heapq.heappop(self._due)
            ask(at)

    def _fail(self, fault: Exception) -> None:
        if not self._ended.done():
            self._ended.set_exception(fault)


async def race_load(
    running: Running,
    tables: int,
    seconds: float,
    *,
    game: str = GAME,
) -> Load:
    """Race at that many tables in a closed loop; return the load."""
    seats = tables + waiting(tables, seconds + WARM_UP)
    generator = Generator()
    generator.race(await racing_tables(seats, running.same, game), tables)
    await generator.wait(WARM_UP)
    load = await generator.measure(running, seconds)
    generator.close()
    return load


async def echo_load(running: Running, like: Load, connections: int, seconds: float) -> Load:
    """Load an echo server with messages of the mean sizes of the load `like`."""
    generator = Generator()
    await generator.echo(running, connections, echo_payload(like))
    await generator.wait(WARM_UP)
    load = await generator.measure(running, seconds)
    generator.close()
    return load


def echo_payload(like: Load) -> bytes:
    """Return a message of the mean size; its first two bytes are the size of the response."""
    return like.answer.to_bytes(2, "big") + bytes(max(0, like.question - 2))
