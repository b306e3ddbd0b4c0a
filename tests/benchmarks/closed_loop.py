"""Load in a closed loop: a client sends the next command as soon as it has received the response.

The result is the server's CPU time per message, which depends little on other work on the machine.
Messages to and from the echo are as long as those of the game server.
"""

import asyncio
import gc
import time
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from benchmarks.contestants import Running
from benchmarks.lean_racers import Choice, LeanRacer, LeanSocket, connect, plausible, racing_tables
from benchmarks.measuring import Load, NotQuiet, measured
from benchmarks.supply import SUPPLY
from saratoga_protocol.commands import MakeMove

WARM_UP = 0.3
"""Seconds at the start whose moves are not counted."""

LEAST_PART = 0.4
"""Smallest share of the requested time; if the tables run out earlier, more of them are tried."""

TRIES = 4
"""Attempts to start with enough waiting tables."""

LONGEST_RACE = 31
"""The longest text, in characters, that MessagePack encodes with a header of one byte."""


class _Pausing:
    """Clients that send the next command on each response, and can be paused."""

    def __init__(self, held: list[Callable[[], None]] | None) -> None:
        self.load = Load()
        self._held = held
        """The requests to send after the pause; `None` while there is no pause."""

    def pause(self) -> None:
        """Stop sending, and wait for the last response to every client."""
        if self._held is None:
            self._held = []

    def resume(self) -> None:
        held, self._held = self._held or [], None
        for ask in held:
            ask()

    def _do(self, ask: Callable[[], None]) -> None:
        """Send a request now, or after the pause."""
        if self._held is None:
            ask()
        else:
            self._held.append(ask)


class ClosedLoop(_Pausing):
    """A load of racing tables whose number stays constant.

    When the first board of a table ends, a waiting table replaces it. So neither the end of a race nor
    boards without moves are measured.
    """

    def __init__(self, waiting: list[list[LeanRacer]]) -> None:
        super().__init__(held=None)
        self._waiting = waiting
        self._halt: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # if no task awaits it, asyncio need not report it
        self._halt.add_done_callback(lambda halt: halt.exception())

    def start(self, tables: int) -> None:
        for _ in range(tables):
            self._put_one_in()

    def stop(self) -> None:
        self._waiting.clear()

    @property
    def has_run_out(self) -> bool:
        """True if fewer tables race than required, because no table is waiting."""
        return self._halt.done()

    def _move(self, racer: LeanRacer) -> None:
        self.load.sent += racer.move()

    async def wait(self, seconds: float) -> None:
        """Let the tables race for `seconds`, or until too few are left; raise a racer's error."""
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


async def race_load(
    running: Running,
    tables: int,
    game: str,
    seconds: float,
    *,
    choice: Choice = plausible,
    ports: Callable[[int], Sequence[int]] | None = None,
) -> Load:
    """Race at that many tables for `seconds`, or until too few tables are left; return the load.

    Raise `NotQuiet` if the tables run out too early in every attempt.
    """
    for _ in range(TRIES):
        seats = tables + SUPPLY.waiting(tables, seconds + WARM_UP)
        everyone = await racing_tables(seats, ports or running.same, game, choice)
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
                racer.disconnect()
        if load.seconds >= seconds * LEAST_PART:
            SUPPLY.saw(tables, load.rate)
            return load
        SUPPLY.was_short(tables)
    raise NotQuiet(f"the waiting tables ran out after {load.seconds:.1f} s, {TRIES} times")


async def echo_load(running: Running, like: Load, connections: int, seconds: float) -> Load:
    """Load an echo server with messages of the mean sizes of the load `like`."""
    loop = await EchoLoop.of(running, echo_payload(like), connections)
    gc.collect()
    loop.resume()
    await loop.wait(WARM_UP)
    load = loop.load = Load()
    with measured(load, running.servers, ()):
        await loop.wait(seconds)
    loop.close()
    return load


class EchoLoop(_Pausing):
    """Connections to an echo server that send one message again and again."""

    def __init__(self, sockets: Sequence[LeanSocket], payload: bytes) -> None:
        """Prepare the connections; none sends before `resume`."""
        super().__init__(held=[self._asker(socket) for socket in sockets])
        self._payload = payload
        self._sockets = sockets

    @classmethod
    async def of(cls, running: Running, payload: bytes, connections: int) -> "EchoLoop":
        sockets = [await connect("127.0.0.1", running.ports[0]) for _ in range(connections)]
        return cls(sockets, payload)

    has_run_out = False
    """False, because an echo needs no tables."""

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


def command_payload(like: Load) -> bytes:
    """Return a move of about the mean size; its field `after` is the size of the response."""
    move = MakeMove(id=1, race="", after=like.answer, move="draw")
    padding = like.question - len(msgspec.msgpack.encode(move))
    race = "x" * max(0, min(padding, LONGEST_RACE))
    return msgspec.msgpack.encode(msgspec.structs.replace(move, race=race))


def echo_payload(like: Load) -> bytes:
    """Return a message of the mean size; its first two bytes are the size of the response."""
    return like.answer.to_bytes(2, "big") + bytes(max(0, like.question - 2))
