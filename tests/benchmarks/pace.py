"""Measure response times of moves at random times, while the server is busy for 60 % of the time.

Server and echo run one after the other, so that neither disturbs the other. Only seconds count in which
the server was as busy as intended and the hypervisor took no time, because ten slow milliseconds are
enough to change the p99 of a second.
"""

import gc
import math

from benchmarks.generator import Generator, echo_payload, waiting
from benchmarks.measuring import Load, millis, together
from benchmarks.programs import Running, echo_server, game_server
from benchmarks.racers import racing_tables
from benchmarks.reports import Cell, Report

TABLES = 64
SHARE, NEAR = 0.6, 0.06
"""The intended share of the time in which the server's process is busy, and the largest difference that counts."""
STOLEN = 0.005
"""Seconds of core time that the hypervisor takes, below which a second counts as undisturbed."""
SECONDS = 5
"""The number of seconds in a round, each measured separately; one more at the start does not count."""
WANTED, QUICK_WANTED = 15, 5
"""The number of counted seconds that each program needs."""
MOST_ROUNDS, MOST_QUICK_ROUNDS = 9, 4


class Seconds:
    """The measurements of one program, second by second, over all rounds of load."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        """Messages a second that the clients send."""
        self.seen: list[Load] = []

    async def watch(self, generator: Generator, running: Running) -> None:
        """Measure a round of load; adjust the rate so that the server is busy for `SHARE` of it."""
        # racers and sockets are kept: collecting them between two seconds would delay the next
        gc.freeze()
        for number in range(SECONDS + 1):
            generator.change_rate(self.rate)
            load = await generator.measure(running, 1.0)
            if generator.has_run_out:
                break
            if number:
                self.seen.append(load)
            step = SHARE / max(0.01, load.server_busy)
            self.rate *= min(1.5, max(1 / 1.5, step))
        generator.close()
        gc.unfreeze()

    @property
    def counted(self) -> list[Load]:
        """The undisturbed seconds in which the server was as busy as intended."""
        undisturbed = [load for load in self.seen if load.stolen < STOLEN]
        return [load for load in undisturbed if abs(load.server_busy - SHARE) <= NEAR]

    @property
    def result(self) -> Load:
        """The counted seconds combined into one load; without any, all seconds."""
        return together(self.counted or self.seen)

    def described(self) -> str:
        """Return a text with the number of counted seconds, and how much they differed."""
        tails = sorted(millis(load.latencies, 0.99) for load in self.counted) or [math.nan]
        count = f"{len(self.counted)} of {len(self.seen)} seconds"
        return f"{count}, their p99s {tails[0]:.1f} to {tails[-1]:.1f} ms"


async def pace(report: Report, *, quick: bool) -> None:
    """Measure the latencies at 60 % load, of the server and of an echo."""
    wanted = QUICK_WANTED if quick else WANTED
    server, echo = Seconds(4_000.0), Seconds(12_000.0)
    for _ in range(MOST_QUICK_ROUNDS if quick else MOST_ROUNDS):
        with game_server() as running:
            spare = waiting(TABLES, SECONDS + 1, 1.3 * server.rate)
            tables = await racing_tables(TABLES + spare, running.same)
            generator = Generator(server.rate)
            generator.race(tables, TABLES)
            await server.watch(generator, running)
        with echo_server() as running:
            generator = Generator(echo.rate)
            # as many connections as the server has, and messages of the same sizes
            await generator.echo(running, TABLES * 4, echo_payload(server.result))
            await echo.watch(generator, running)
        if min(len(server.counted), len(echo.counted)) >= wanted:
            break
    ours, its = server.result, echo.result
    report.table(
        (
            *("contestant", "messages/s", "server busy", "CPU us", "p50 ms", "p99 ms"),
            *("p99.9 ms", "p99 ms since due", "late", "generator busy"),
        ),
        [_row("safe, busy 60 %", ours), _row("bare echo, busy 60 %", its)],
    )
    report.say(
        f"{TABLES} tables of four; each racer moves at random moments (a Poisson process, looked at every "
        "millisecond), but not before the last move was answered: *late* are messages sent more than 5 ms after "
        "their time because of that, or of the generator. Counted are seconds in which the server was busy for "
        f"{SHARE - NEAR:.0%} to {SHARE + NEAR:.0%} of the time while the machine's host took nothing away: of "
        f"the server {server.described()}; of the echo {echo.described()}."
    )
    is_quiet = min(len(server.counted), len(echo.counted)) >= wanted / 2
    ratio = millis(ours.latencies, 0.99) / millis(its.latencies, 0.99)
    what = "p99 at 60 % load, in p99s of the echo at 60 %"
    report.bar(what, ratio if is_quiet else math.nan, 5.0)


def _row(name: str, load: Load) -> list[Cell]:
    return [
        *(name, round(load.rate), f"{load.server_busy:.0%}", load.micros),
        *(millis(load.latencies, part) for part in (0.5, 0.99, 0.999)),
        millis(load.since_due, 0.99),
        *(f"{load.late / load.messages:.1%}", load.generator_busy),
    ]
