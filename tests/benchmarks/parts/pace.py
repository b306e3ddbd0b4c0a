"""Moves at a pace of their own: how long an answer takes when the server is busy 60 % of the time."""

from benchmarks.closed_loop import MOVES_OF_A_TABLE, echo_payload
from benchmarks.contestants import Running, echo_server, house_server
from benchmarks.lines import GAME, share
from benchmarks.measuring import Load, measured
from benchmarks.paced import Pacer, pace_echoes, pace_racers
from benchmarks.reports import Bar, Cell, Report
from kit.lean_racers import racing_tables
from kit.lean_socket import connect

TABLES = 64
SHARE = 0.6
"""Of the time in which the server's process is busy."""

FIRST_RATES = {"house": 4_000.0, "echo": 20_000.0}
"""Messages a second to begin with."""

SETTLE, LOOK = 0.2, 0.8
"""Seconds after a change of the rate, and seconds for which the share is then measured."""
LOOKS = 3
MOST_STEP = 2.5
"""Times that the rate grows or shrinks at once."""

MOST_RATE = 7_000.0
"""Moves a second: a guess, so that enough tables wait."""

LEAST_RATIO = 10.0


async def pace(report: Report, *, quick: bool) -> None:
    """Part 2."""
    seconds = 3.0 if quick else 6.0
    with house_server() as running:
        looked = LOOKS * (SETTLE + LOOK)
        spare = round((seconds + looked) * MOST_RATE / MOVES_OF_A_TABLE)
        tables = await racing_tables(TABLES + spare, running.same, GAME)
        pacer = Pacer(FIRST_RATES["house"])
        pace_racers(pacer, tables, TABLES)
        house = await _at_share(pacer, running, seconds)
        for racers in tables:
            for racer in racers:
                racer.go()
    even = await _echo(house, seconds, house.rate)
    busy = await _echo(house, seconds, None)
    report.table(
        (
            *("contestant", "messages/s", "server busy", "CPU us", "p50 ms", "p99 ms"),
            *("p99.9 ms", "late", "generator busy"),
        ),
        [
            _row("safe, busy 60 %", house),
            _row("bare echo, busy 60 %", busy),
            _row("bare echo, as many messages", even),
        ],
    )
    report.say(
        f"{TABLES} tables of four, each racer at random moments (a Poisson process). *Late*: sent more than "
        "5 ms after their time, because the answer to the one before, or the generator, took so long."
    )
    ours = house.millis(0.99)
    report.bar(
        Bar(
            "p99 at 60 % load, in p99s of the echo at 60 %",
            ours / busy.millis(0.99),
            LEAST_RATIO,
            " x",
        )
    )
    report.bar(
        Bar(
            "the same in p99s of the echo at as many messages",
            ours / even.millis(0.99),
            LEAST_RATIO,
            " x",
        )
    )


def _row(name: str, load: Load) -> list[Cell]:
    return [
        *(name, round(load.rate), f"{load.server_busy:.0%}", load.micros),
        *(load.millis(0.5), load.millis(0.99), load.millis(0.999)),
        *(f"{load.late / load.messages:.1%}", share(load)),
    ]


async def _echo(like: Load, seconds: float, rate: float | None) -> Load:
    """The echo at that rate, or without one at 60 % of what it can do."""
    with echo_server() as running:
        sockets = [await connect("127.0.0.1", running.ports[0]) for _ in range(TABLES * 4)]
        pacer = Pacer(rate or FIRST_RATES["echo"])
        pace_echoes(pacer, sockets, echo_payload(like))
        if rate is None:
            return await _at_share(pacer, running, seconds)
        await pacer.wait(SETTLE)
        return await _measured(pacer, running, seconds)


async def _at_share(pacer: Pacer, running: Running, seconds: float) -> Load:
    """Find the rate at which the server is as busy as it should be, and measure there."""
    for _ in range(LOOKS):
        await pacer.wait(SETTLE)
        looked = pacer.load = Load()
        with measured(looked, running.servers, running.stores):
            await pacer.wait(LOOK)
        step = SHARE / max(0.01, looked.server_busy)
        pacer.rate *= min(MOST_STEP, max(1 / MOST_STEP, step))
    await pacer.wait(SETTLE)
    return await _measured(pacer, running, seconds)


async def _measured(pacer: Pacer, running: Running, seconds: float) -> Load:
    load = pacer.load = Load()
    with measured(load, running.servers, running.stores):
        await pacer.wait(seconds)
    pacer.stop()
    return load
