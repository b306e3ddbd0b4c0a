"""Measure response times of moves at random times, while the server is busy for 60 % of the time.

Server and echo run one after the other, so that neither disturbs the other. Only seconds count in which
the server was as busy as intended and the hypervisor stole no time, because ten slow milliseconds are
enough to change the p99 of a second.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.closed_loop import echo_payload
from benchmarks.contestants import Running, echo_server, game_server
from benchmarks.lean_racers import connect, racing_tables
from benchmarks.lines import GAME, share
from benchmarks.measuring import Load, NotQuiet, measured, millis, together
from benchmarks.paced import Pacer, pace_echoes, pace_racers
from benchmarks.reports import Bar, Cell, Report
from benchmarks.supply import MORE, needed

TABLES = 64
SHARE = 0.6
"""The intended share of the time in which the server's process is busy."""

NEAR = 0.06
"""Largest difference from `SHARE` in a second that counts."""

STOLEN = 0.005
"""Seconds of stolen core time below which a second counts as undisturbed."""

FIRST_RATES = {"server": 4_000.0, "echo": 12_000.0}
"""Messages a second at the start."""

SECONDS = 5
"""The number of seconds in a round, each measured separately, for each program."""
SETTLE = 1.0
"""Seconds at the start that do not count, until the server is nearly as busy as intended."""
WANTED, QUICK_WANTED = 15, 5
"""The number of counted seconds that each program needs."""
MOST_ROUNDS, MOST_QUICK_ROUNDS = 9, 4
MOST_STEP = 1.5
"""Largest factor by which the rate grows or shrinks in one step."""


MOST_RATIO = 5.0


class Seconds:
    """The measurements of one program, second by second, over all rounds of load."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        """Messages a second that the clients send."""
        self.seen: list[Load] = []

    async def watch(self, pacer: Pacer, running: Running) -> None:
        """Measure a round of load; adjust the rate so that the server is busy for `SHARE` of it."""
        for number in range(SECONDS + 1):
            pacer.keep(self.rate)
            load = pacer.load = Load()
            try:
                with measured(load, running.servers, running.stores):
                    is_whole = await pacer.wait(1.0 if number else SETTLE)
            except NotQuiet:
                continue
            if not is_whole:
                return
            if number:
                self.seen.append(load)
            self.rate = steered(self.rate, load.server_busy)

    @property
    def undisturbed(self) -> list[Load]:
        """The seconds in which the hypervisor stole no time."""
        return [load for load in self.seen if load.stolen < STOLEN]

    @property
    def counted(self) -> list[Load]:
        """The undisturbed seconds in which the server was as busy as intended."""
        return [load for load in self.undisturbed if abs(load.server_busy - SHARE) <= NEAR]

    @property
    def result(self) -> Load:
        """The counted seconds combined into one load; without any, all seconds."""
        return together(self.counted or self.undisturbed or self.seen)

    def is_quiet(self, wanted: int) -> bool:
        """Return whether at least half of the wanted seconds counted."""
        return len(self.counted) >= wanted / 2

    def described(self) -> str:
        """Return a text with the number of counted seconds, and how much they differed."""
        if not self.counted:
            return f"none of {len(self.seen)} seconds"
        tails = sorted(load.millis(0.99) for load in self.counted)
        return f"{len(tails)} of {len(self.seen)} seconds, their p99s {tails[0]:.1f} to {tails[-1]:.1f} ms"


def steered(rate: float, busy: float) -> float:
    """Return the rate at which the server should be busy for `SHARE` of the time, at most `MOST_STEP` away."""
    return rate * min(MOST_STEP, max(1 / MOST_STEP, SHARE / max(0.01, busy)))


async def pace(report: Report, *, quick: bool) -> None:
    """Measure the latencies at 60 % load, of the server and of an echo."""
    wanted = QUICK_WANTED if quick else WANTED
    server, echo = Seconds(FIRST_RATES["server"]), Seconds(FIRST_RATES["echo"])
    waiting = 0
    for _ in range(MOST_QUICK_ROUNDS if quick else MOST_ROUNDS):
        waiting = spare(server.rate)
        await _server(server, waiting)
        if not server.seen:
            continue
        await _echo(server.result, echo)
        if min(len(server.counted), len(echo.counted)) >= wanted:
            break
    if not (server.seen and echo.seen):
        raise NotQuiet("the machine's host left no second in which a message was answered")
    ours, its = server.result, echo.result
    report.table(
        (
            *("contestant", "messages/s", "server busy", "CPU us", "p50 ms", "p99 ms"),
            *("p99.9 ms", "p99 ms since due", "late", "generator busy"),
        ),
        [
            _row("safe, busy 60 %", ours),
            _row("bare echo, busy 60 %", its),
        ],
    )
    report.say(
        f"{TABLES} tables of four, and {waiting} that wait to take the place of one that ends; each racer moves at "
        "random moments (a Poisson process, looked at every millisecond), but not before the last move was "
        "answered: *late* are messages sent more than 5 ms after their time because of that, or of the "
        "generator. Counted are seconds in which the server was busy for "
        f"{SHARE - NEAR:.0%} to {SHARE + NEAR:.0%} of the time while the machine's host took nothing away: of "
        f"the server {server.described()}; of the echo {echo.described()}."
    )
    is_quiet = server.is_quiet(wanted) and echo.is_quiet(wanted)
    if not is_quiet:
        report.say(
            "**Not measured quietly**: too few seconds counted, of the server or of the echo."
        )
    ratio = ours.millis(0.99) / its.millis(0.99)
    what = "p99 at 60 % load, in p99s of the echo at 60 %"
    report.bar(Bar(what, ratio, MOST_RATIO, " x", is_quiet=is_quiet))
    since_due = millis(ours.since_due, 0.99) / millis(its.since_due, 0.99)
    report.say(f"Since messages were due it is {since_due:.2f} x.")


def _row(name: str, load: Load) -> list[Cell]:
    return [
        *(name, round(load.rate), f"{load.server_busy:.0%}", load.micros),
        *(load.millis(0.5), load.millis(0.99), load.millis(0.999)),
        *(millis(load.since_due, 0.99), f"{load.late / load.messages:.1%}", share(load)),
    ]


def spare(rate: float) -> int:
    """Return how many tables must wait during a round of load at that rate."""
    return max(TABLES, needed(MORE * rate, TABLES, SECONDS + SETTLE))


async def _server(seconds: Seconds, waiting: int) -> None:
    with game_server() as running:
        tables = await racing_tables(TABLES + waiting, running.same, GAME)
        with _pacer(seconds.rate) as pacer:
            pace_racers(pacer, tables, TABLES)
            await seconds.watch(pacer, running)
        for racers in tables:
            for racer in racers:
                racer.disconnect()


async def _echo(like: Load, seconds: Seconds) -> None:
    """Load an echo with as many connections as the server has, and messages of the same sizes."""
    with echo_server() as running:
        sockets = [await connect("127.0.0.1", running.ports[0]) for _ in range(TABLES * 4)]
        with _pacer(seconds.rate) as pacer:
            pace_echoes(pacer, sockets, echo_payload(like))
            await seconds.watch(pacer, running)
        for socket in sockets:
            socket.on_lost = _is_expected
            socket.close()


def _is_expected() -> None:
    pass


@contextmanager
def _pacer(rate: float) -> Iterator[Pacer]:
    gc.collect()
    # racers and sockets are kept: collecting them between two seconds would delay the next
    gc.freeze()
    pacer = Pacer(rate)
    try:
        yield pacer
    finally:
        pacer.stop()
        gc.unfreeze()
