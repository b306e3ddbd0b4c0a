"""Measure the resident memory of an idle connection and of a racing one."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from benchmarks.generator import Generator, echo_payload
from benchmarks.measuring import Load, at_rest, resident_kib
from benchmarks.programs import Running, echo_server, game_server
from benchmarks.racers import GAME, LeanRacer, greeted, racing_tables
from benchmarks.reports import Report

IDLE_TIMES = 3
"""Idle connections per racing connection: with fewer, the process would not need more memory than it has spare."""

MESSAGES = 100
"""The mean number of messages of each client."""


@dataclass
class Resident:
    """Resident memory of a process in KiB: at rest, with half of the connections, and with all of them."""

    count: int
    sizes: list[float] = field(default_factory=list)
    close: list[Callable[[], None]] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """KiB for each connection, on average over all of them."""
        return (self.sizes[2] - self.sizes[0]) / self.count

    @property
    def further(self) -> float:
        """KiB for each of the later half of connections, once the process has no spare memory."""
        return (self.sizes[2] - self.sizes[1]) / (self.count / 2)


async def _measured(
    count: int,
    opened: AbstractContextManager[Running],
    connect: Callable[[Running, int], Awaitable[list[Callable[[], None]]]],
) -> Resident:
    """Measure a program whose clients `connect` opens, half of them at a time; it returns how to close them."""
    found = Resident(count)
    with opened as running:
        (server,) = running.servers
        for half in (0, count // 2, count // 2):
            found.close += await connect(running, half) if half else []
            await at_rest(server)
            found.sizes.append(resident_kib(server))
        for close in found.close:
            close()
    return found


async def _after_messages(generator: Generator, clients: int) -> list[Callable[[], None]]:
    while generator.load.messages < MESSAGES * clients:
        await generator.wait(0.02)
    generator.pause()
    return [generator.close]


async def memory(report: Report, *, quick: bool) -> None:
    """Report the memory of one connection: to an echo server, idle on the server, and racing."""
    count = 240 if quick else 480
    racers: list[LeanRacer] = []

    async def idle(running: Running, half: int) -> list[Callable[[], None]]:
        return [(await greeted(running.port)).disconnect for _ in range(half)]

    async def racing(running: Running, half: int) -> list[Callable[[], None]]:
        tables = await racing_tables(half // 4, running.port, dawdles=True)
        racers.extend(racer for four in tables for racer in four)
        generator = Generator()
        generator.race(tables, len(tables))
        return await _after_messages(generator, half)

    async def echoing(running: Running, half: int) -> list[Callable[[], None]]:
        generator = Generator()
        payload = echo_payload(Load(messages=1, sent=53, answered=250))
        await generator.echo(running, half, payload)
        return await _after_messages(generator, half)

    idling = await _measured(IDLE_TIMES * count, game_server(), idle)
    raced = await _measured(count, game_server(), racing)
    echoed = await _measured(count, echo_server(), echoing)
    rows = {
        "bare echo, after as many messages": echoed,
        "server, idle": idling,
        "server, racing": raced,
    }
    report.table(
        ("KiB of a connection", "above the idle process", "of one more"),
        [[name, each.mean, each.further] for name, each in rows.items()],
    )
    made = sum(racer.board.count for racer in racers if racer.board) / len(racers)
    report.say(
        f"{count} connections, {idling.count} if idle (only hello sent). *One more*: the growth from half of "
        "the connections to all of them, divided by their number. The idle server has "
        f"{raced.sizes[0] / 1024:.1f} MiB, part of which is free after startup. New connections use this part "
        f"first, so the first column is too low. Racing: four racers per table of `{GAME}`, with {made:.0f} "
        "moves each on average (fewer if a board of the table ended early)."
    )
    worst = max(raced.mean, raced.further)
    report.bar("resident per racing connection, the larger figure", worst, 14.0, " KiB")
