"""Load at a given rate, whether responses are fast or slow, to measure latency.

Each client sends at random times (a Poisson process), but never before the last response has arrived. A
message that was due before that is sent at once when the response arrives. A message sent more than 5 ms
after its planned time is counted as late.
"""

import asyncio
import heapq
import itertools
import random
import time
from collections.abc import Callable

from benchmarks.lean_racers import LeanRacer, LeanSocket
from benchmarks.measuring import Load

TICK = 0.001
"""Seconds between two checks for clients that are due; uvloop's timers are no finer."""

LATE = 0.005
"""A message that is sent more than so many seconds after its planned time is late."""

Ask = Callable[[float], None]
"""A function that sends the next message; its argument is the planned time by `time.perf_counter`."""


class Pacer:
    """A schedule that calls clients at planned times, in total `rate` times a second."""

    def __init__(self, rate: float, seed: int = 1) -> None:
        self.rate = rate
        self.load = Load()
        self.members = 0
        self._chance = random.Random(seed)
        self._due: list[tuple[float, int, Ask]] = []
        self._count = itertools.count()
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(TICK, self._tick)
        self._fault: asyncio.Future[None] = self._loop.create_future()
        # an error that no task awaits need not be reported
        self._fault.add_done_callback(lambda fault: fault.exception())

    def keep(self, rate: float) -> None:
        """Change the rate of all clients together, in messages a second."""
        self.rate = rate
        now = time.perf_counter()
        # waiting times of a Poisson process do not depend on the past, so new ones are drawn
        self._due = [(now + self._gap(), number, ask) for _, number, ask in self._due]
        heapq.heapify(self._due)

    def join(self, ask: Ask) -> None:
        """Add a client: `ask` is called at its first planned time."""
        self.members += 1
        self._push(time.perf_counter() + self._gap(), ask)

    def again(self, asked: float, ask: Ask) -> None:
        """Plan the client's next message one gap after its last one, because the response has arrived."""
        self._push(asked + self._gap(), ask)

    def fail(self, fault: Exception) -> None:
        if not self._fault.done():
            self._fault.set_exception(fault)

    def halt(self) -> None:
        """End `wait` early, because too few racers are left to continue."""
        if not self._fault.done():
            self._fault.set_result(None)

    async def wait(self, seconds: float) -> bool:
        """Wait `seconds`; return False if too few racers are left; raise an error of a client."""
        await asyncio.wait([self._fault], timeout=seconds)
        if self._fault.done():
            self._fault.result()
        return not self._fault.done()

    def stop(self) -> None:
        self._timer.cancel()
        self._due.clear()

    def _gap(self) -> float:
        return self._chance.expovariate(self.rate / max(1, self.members))

    def _push(self, at: float, ask: Ask) -> None:
        heapq.heappush(self._due, (at, next(self._count), ask))

    def _tick(self) -> None:
        self._timer = self._loop.call_later(TICK, self._tick)
        now, due = time.perf_counter(), self._due
        while due and due[0][0] <= now:
            at, _, ask = heapq.heappop(due)
            self.load.late += now - at > LATE
            try:
                ask(at)
            except Exception as fault:  # raised from `wait`
                self.fail(fault)


def pace_racers(pacer: Pacer, tables: list[list[LeanRacer]], at_once: int) -> None:
    """Let `at_once` tables race; when a table's first board ends, a waiting table replaces it."""
    waiting = [*tables]

    def put_one_in() -> None:
        if not waiting:
            pacer.halt()
            return
        racers = waiting.pop()
        is_over = False

        def over() -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                pacer.members -= len(racers)
                put_one_in()

        for racer in racers:
            _pace(pacer, racer, lambda: is_over)
            racer.on_over = over

    for _ in range(at_once):
        put_one_in()


def _pace(pacer: Pacer, racer: LeanRacer, is_over: Callable[[], bool]) -> None:
    asked = due = 0.0

    def ask(at: float) -> None:
        nonlocal asked, due
        if not is_over():
            asked, due = time.perf_counter(), at
            pacer.load.sent += racer.move()

    def moved(size: int, wait: float) -> None:
        load = pacer.load
        load.messages += 1
        load.answered += size
        load.latencies.append(wait)
        load.since_due.append(wait + asked - due)
        pacer.again(asked, ask)

    racer.on_moved = moved
    racer.on_fault = pacer.fail
    pacer.join(ask)


def pace_echoes(pacer: Pacer, sockets: list[LeanSocket], payload: bytes) -> None:
    """Let connections to an echo server send their messages."""
    for socket in sockets:
        _pace_echo(pacer, socket, payload)


def _pace_echo(pacer: Pacer, socket: LeanSocket, payload: bytes) -> None:
    asked = due = 0.0

    def ask(at: float) -> None:
        nonlocal asked, due
        asked, due = time.perf_counter(), at
        pacer.load.sent += len(payload)
        socket.send(payload)

    def hear(message: bytes) -> None:
        now, load = time.perf_counter(), pacer.load
        load.messages += 1
        load.answered += len(message)
        load.latencies.append(now - asked)
        load.since_due.append(now - due)
        pacer.again(asked, ask)

    socket.on_message = hear
    socket.on_lost = lambda: pacer.fail(ConnectionError("the echo closed a connection"))
    pacer.join(ask)
