"""Measure the resident memory of an idle connection and of a racing one."""

import asyncio
from dataclasses import dataclass

from benchmarks.closed_loop import echo_payload
from benchmarks.contestants import Running, echo_server, game_server
from benchmarks.lean_racers import (
    LeanRacer,
    LeanSocket,
    connect,
    dawdling,
    plausible,
    racing_tables,
)
from benchmarks.lines import GAME
from benchmarks.measuring import Load, at_rest, resident_kib
from benchmarks.reports import Bar, Report

MOVES = 100
"""The number of moves of each racer; fewer if its board ends earlier."""

IDLE_TIMES = 3
"""Idle connections per racing connection.

With fewer, the process would not need more memory than it has spare.
"""

MOST_KIB = 14.0

PACE = 0.004
"""Seconds between two moves of a racer, so that the server is not under full load."""

MOVED_WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class Resident:
    """Resident memory of a process in KiB: at rest, with half of the connections, and with all of them."""

    idle: float
    half: float
    full: float
    count: int

    @property
    def mean(self) -> float:
        """KiB for each connection, on average over all of them."""
        return (self.full - self.idle) / self.count

    @property
    def further(self) -> float:
        """KiB for each of the later half of connections, once the process has no spare memory."""
        return (self.full - self.half) / (self.count / 2)


async def memory(report: Report, *, quick: bool) -> None:
    """Report the memory of one connection: to an echo server, idle on the server, and racing."""
    count = 240 if quick else 480
    idle = await _idle(IDLE_TIMES * count)
    racing, made = await _racing(count)
    echo = await _echo(count)
    report.table(
        ("KiB of a connection", "above the idle process", "of one more"),
        [
            [name, each.mean, each.further]
            for name, each in (
                ("bare echo, after as many messages", echo),
                ("server, idle", idle),
                ("server, racing", racing),
            )
        ],
    )
    report.say(
        f"{count} connections, {idle.count} if idle (only hello sent). *One more*: the growth from half of "
        "the connections to all of them, divided by their number. "
        "The idle server has "
        f"{racing.idle / 1024:.1f} MiB, part of which is free after startup. New connections use "
        "this part first, so the first column is too low. Racing: four racers per table of "
        f"`{GAME}`, with {made:.0f} moves each on average (fewer if the board ended early)."
    )
    worst = max(racing.mean, racing.further)
    what = "resident per racing connection, the larger figure"
    report.bar(Bar(what, worst, MOST_KIB, " KiB", needs_quiet=False))


async def _resident(running: Running) -> float:
    await at_rest(running.servers[0])
    return resident_kib(running.servers[0])


async def _idle(count: int) -> Resident:
    with game_server() as running:
        sizes = [await _resident(running)]
        clients = []
        for _ in range(2):
            for _ in range(count // 2):
                client = LeanRacer(await connect("127.0.0.1", running.ports[0]), 0, plausible)
                await client.hello(legal=True)
                clients.append(client)
            sizes.append(await _resident(running))
        for client in clients:
            client.disconnect()
    return Resident(sizes[0], sizes[1], sizes[2], count)


async def _racing(count: int) -> tuple[Resident, float]:
    """Return the memory of a server with racing connections, and the mean number of moves of a racer."""
    with game_server() as running:
        sizes = [await _resident(running)]
        racers = []
        for _ in range(2):
            tables = await racing_tables(count // 8, running.same, GAME, dawdling)
            await asyncio.gather(*(_raced(four) for four in tables))
            racers += [racer for four in tables for racer in four]
            sizes.append(await _resident(running))
        made = sum(racer.board.count for racer in racers if racer.board) / len(racers)
        for racer in racers:
            racer.disconnect()
    return Resident(sizes[0], sizes[1], sizes[2], count), made


async def _raced(racers: list[LeanRacer]) -> None:
    """Let each racer make its moves, or as many as its board allows."""
    loop = asyncio.get_running_loop()
    left = len(racers)
    all_made: asyncio.Future[None] = loop.create_future()

    def made() -> None:
        nonlocal left
        left -= 1
        if not left and not all_made.done():
            all_made.set_result(None)

    def fail(fault: Exception) -> None:
        if not all_made.done():
            all_made.set_exception(fault)

    def moved(racer: LeanRacer) -> None:
        assert racer.board is not None
        if racer.board.count >= MOVES:
            racer.on_over = lambda: None
            made()
        else:
            loop.call_later(PACE, racer.move)

    for racer in racers:
        racer.on_over, racer.on_fault = made, fail
        racer.on_moved = lambda size, wait, racer=racer: moved(racer)  # type: ignore[misc]
        racer.move()
    async with asyncio.timeout(MOVED_WITHIN):
        await all_made


async def _echo(count: int) -> Resident:
    payload = echo_payload(Load(messages=1, sent=53, answered=250))
    with echo_server() as running:
        sizes, sockets = [await _resident(running)], []
        for _ in range(2):
            more = [await connect("127.0.0.1", running.ports[0]) for _ in range(count // 2)]
            await asyncio.gather(*(_echoed(socket, payload) for socket in more))
            sockets += more
            sizes.append(await _resident(running))
        for socket in sockets:
            socket.close()
    return Resident(sizes[0], sizes[1], sizes[2], count)


async def _echoed(socket: LeanSocket, payload: bytes) -> None:
    loop = asyncio.get_running_loop()
    heard = 0
    done: asyncio.Future[None] = loop.create_future()

    def hear(message: bytes) -> None:
        nonlocal heard
        heard += 1
        if heard < MOVES:
            loop.call_later(PACE, socket.send, payload)
        elif not done.done():
            done.set_result(None)

    socket.on_message = hear
    socket.send(payload)
    async with asyncio.timeout(MOVED_WITHIN):
        await done
