"""Moves at a pace of their own: how long an answer takes when the server is busy 60 % of the time."""

from benchmarks.closed_loop import MOVES_OF_A_TABLE, echo_payload
from benchmarks.contestants import Running, echo_server, house_server
from benchmarks.lines import GAME, share
from benchmarks.measuring import Load, measured, together
from benchmarks.paced import Pacer, pace_echoes, pace_racers
from benchmarks.reports import Bar, Cell, Report
from kit.lean_racers import racing_tables
from kit.lean_socket import connect

TABLES = 64
SHARE = 0.6
"""Of the time in which the server's process is busy."""

NEAR, FAR = 0.06, 0.2
"""How far from that a second may be that counts, and one that counts if there are no better ones."""

FIRST_RATES = {"house": 4_000.0, "echo": 20_000.0}
"""Messages a second to begin with."""

SLICE = 1.0
"""Seconds between two looks at the share."""
MOST_SLICES = 14
MOST_STEP = 2.0
"""Times that the rate grows or shrinks at once."""

SETTLE_SLICES = 4
"""That are needed until the rate is found."""

MOST_RATE = 7_000.0
"""Moves a second: a guess, so that enough tables wait."""

LEAST_RATIO = 10.0


async def pace(report: Report, *, quick: bool) -> None:
    """Part 2."""
    slices = 3 if quick else 6
    with house_server() as running:
        spare = round((slices + SETTLE_SLICES) * SLICE * MOST_RATE / MOVES_OF_A_TABLE)
        tables = await racing_tables(TABLES + spare, running.same, GAME)
        pacer = Pacer(FIRST_RATES["house"])
        pace_racers(pacer, tables, TABLES)
        house = await _at_share(pacer, running, slices)
        for racers in tables:
            for racer in racers:
                racer.go()
    even = await _echo(house, slices, house.rate)
    busy = await _echo(house, slices, None)
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
    report.say(f"In p99s of the echo at as many messages it is {ours / even.millis(0.99):.1f}.")


def _row(name: str, load: Load) -> list[Cell]:
    return [
        *(name, round(load.rate), f"{load.server_busy:.0%}", load.micros),
        *(load.millis(0.5), load.millis(0.99), load.millis(0.999)),
        *(f"{load.late / load.messages:.1%}", share(load)),
    ]


async def _echo(like: Load, slices: int, rate: float | None) -> Load:
    """The echo at that rate, or without one at 60 % of what it can do."""
    with echo_server() as running:
        sockets = [await connect("127.0.0.1", running.ports[0]) for _ in range(TABLES * 4)]
        pacer = Pacer(rate or FIRST_RATES["echo"])
        pace_echoes(pacer, sockets, echo_payload(like))
        if rate is None:
            return await _at_share(pacer, running, slices)
        await pacer.wait(SLICE / 2)
        load = await _slice(pacer, running, slices * SLICE)
        pacer.stop()
        assert load is not None
        return load


async def _at_share(pacer: Pacer, running: Running, slices: int) -> Load:
    """So many seconds in which the server was as busy as it should be; the rate is turned until it is.

    Where the machine does not let it be held there, those seconds that came nearest. Raises
    `RuntimeError` if they did not come near at all.
    """
    seen: list[Load] = []
    for _ in range(MOST_SLICES):
        load = await _slice(pacer, running, SLICE) if await pacer.wait(SLICE / 10) else None
        if load is None:
            break
        seen.append(load)
        step = SHARE / max(0.01, seen[-1].server_busy)
        pacer.rate *= min(MOST_STEP, max(1 / MOST_STEP, step))
        if sum(_off(load) <= NEAR for load in seen) == slices:
            break
    pacer.stop()
    nearest = sorted(seen, key=_off)[:slices]
    if len(nearest) < slices or _off(nearest[-1]) > FAR:
        shares = ", ".join(f"{load.server_busy:.0%}" for load in seen)
        raise RuntimeError(f"the server could not be kept {SHARE:.0%} busy, but was {shares}")
    return together(nearest)


def _off(load: Load) -> float:
    return abs(load.server_busy - SHARE)


async def _slice(pacer: Pacer, running: Running, seconds: float) -> Load | None:
    """What was seen in so many seconds; `None` if they were not all there."""
    load = pacer.load = Load()
    with measured(load, running.servers, running.stores):
        is_whole = await pacer.wait(seconds)
    return load if is_whole else None
