"""Resident memory of a connection: one that has said hello, and one that races."""

import asyncio

from benchmarks.closed_loop import echo_payload
from benchmarks.contestants import Running, echo_server, house_server
from benchmarks.lines import GAME
from benchmarks.measuring import Load, at_rest, resident_kib
from benchmarks.reports import Bar, Report
from kit.lean_racers import LeanRacer, plausible, racing_tables
from kit.lean_socket import LeanSocket, connect

MOVES = 100
"""Of each racer; fewer where the board ends before."""

MOST_KIB = 24.0

PACE = 0.004
"""Seconds between two moves of a racer: what is measured is not the memory of a server in haste."""

MOVED_WITHIN = 60.0


async def memory(report: Report, *, quick: bool) -> None:
    """Part 6."""
    count = 200 if quick else 400
    idle, before = await _idle(count)
    racing, first, made = await _racing(count)
    echo = await _echo(count)
    report.table(
        ("of a connection", "KiB above the idle process"),
        [
            ["bare echo, after as many messages", echo],
            ["house, hello said", idle],
            ["house, racing", racing],
            ["house, racing, above a house where one table has raced already", first],
        ],
    )
    report.say(
        f"{count} connections; the idle house has {before / 1024:.1f} MiB. Racing: four to a table of "
        f"`{GAME}`, with {made:.0f} moves made in the mean (the board of who made fewer has ended). What a "
        "house fills once, at its first race, is part of the first figure and not of the last."
    )
    report.bar(Bar("resident per racing connection", racing, MOST_KIB, " KiB"))


async def _resident(running: Running) -> float:
    await at_rest(running.servers[0])
    return resident_kib(running.servers[0])


async def _idle(count: int) -> tuple[float, float]:
    """KiB of a connection, and of the process without any."""
    with house_server() as running:
        before = await _resident(running)
        guests = []
        for _ in range(count):
            guest = LeanRacer(await connect("127.0.0.1", running.ports[0]), 0, plausible)
            await guest.hello(legal=True)
            guests.append(guest)
        after = await _resident(running)
        for guest in guests:
            guest.go()
    return (after - before) / count, before


async def _racing(count: int) -> tuple[float, float, float]:
    """KiB of a connection, the same above a house that knows a table, and moves of a racer."""
    with house_server() as running:
        before = await _resident(running)
        (table,) = await racing_tables(1, running.same, GAME)
        await _raced(table)
        knowing = await _resident(running)
        tables = await racing_tables(count // 4 - 1, running.same, GAME)
        await asyncio.gather(*(_raced(racers) for racers in tables))
        after = await _resident(running)
        racers = [*table, *(racer for racers in tables for racer in racers)]
        made = sum(racer.board.count for racer in racers if racer.board) / len(racers)
        for racer in racers:
            racer.go()
    return (after - before) / len(racers), (after - knowing) / (len(racers) - 4), made


async def _raced(racers: list[LeanRacer]) -> None:
    """Let each make its moves, or as many as its board allows."""
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


async def _echo(count: int) -> float:
    """KiB of a connection to the echo."""
    payload = echo_payload(Load(messages=1, sent=53, answered=250))
    with echo_server() as running:
        before = await _resident(running)
        sockets = [await connect("127.0.0.1", running.ports[0]) for _ in range(count)]
        await asyncio.gather(*(_echoed(socket, payload) for socket in sockets))
        after = await _resident(running)
        for socket in sockets:
            socket.close()
    return (after - before) / count


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
