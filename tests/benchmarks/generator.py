"""The load generator: racers or echo clients that send at once after each response.

Messages to and from an echo are as long as those of the game server.
"""

import asyncio
import gc
import time
from collections.abc import Callable
from functools import partial

from benchmarks.measuring import Load, measured
from benchmarks.programs import Running
from benchmarks.racers import GAME, LeanRacer, LeanSocket, connect, racing_tables

WARM_UP = 0.3
"""Seconds at the start whose messages are not counted."""

MOVES_OF_A_TABLE = 170
"""Mean number of moves at a table before its first board ends, in the game where that is soonest."""

MOST_RATE = 25_000
"""Moves a second for which enough tables wait."""


def waiting(tables: int, seconds: float) -> int:
    """Return how many tables must wait to replace those that end in that time."""
    # racing tables still have at least half of their moves to make
    return max(6, round(MOST_RATE * seconds / MOVES_OF_A_TABLE - tables / 2))


class Generator:
    """The clients of one program; they can be paused."""

    def __init__(self) -> None:
        self.load = Load()
        self._sockets: list[LeanSocket] = []
        self._waiting: list[list[LeanRacer]] = []
        self._is_replacing = False
        self._held: list[Callable[[], None]] | None = None
        """The requests to send after the pause; `None` while there is no pause."""
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # if no task awaits it, asyncio need not report it
        self._ended.add_done_callback(lambda ended: ended.exception())

    # Clients

    def race(self, tables: list[list[LeanRacer]], at_once: int) -> None:
        """Let `at_once` tables race; when a table's first board ends, another one replaces it.

        So neither the end of a race nor boards without moves are measured. If all race at once,
        none is replaced.
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
                self._put_one_in()

        def move(racer: LeanRacer) -> int:
            return 0 if is_over else racer.move()

        for racer in racers:
            racer.on_over, racer.on_fault = over, self._fail
            racer.on_moved = self._join(partial(move, racer))

    async def echo(self, running: Running, connections: int, payload: bytes) -> None:
        """Connect clients to an echo server that send one message again and again."""
        self._sockets = [await connect(running.port) for _ in range(connections)]
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
        self._held = []
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
            ask()

    # Messages

    def _join(self, send: Callable[[], int]) -> Callable[[int], None]:
        """Add a client that sends a message and returns its size; return what to call with a response's size."""
        asked = 0.0

        def ask() -> None:
            nonlocal asked
            asked = time.perf_counter()
            self.load.sent += send()

        def answered(size: int) -> None:
            now, load = time.perf_counter(), self.load
            load.messages += 1
            load.answered += size
            load.latencies.append(now - asked)
            send_or_hold()

        def send_or_hold() -> None:
            if self._held is None:
                ask()
            else:
                self._held.append(ask)

        send_or_hold()
        return answered

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
    generator.race(await racing_tables(seats, running.port, game), tables)
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
