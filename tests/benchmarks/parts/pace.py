"""Moves at a pace of their own: how long an answer takes when the server is busy 60 % of the time.

House and echo are up in turns, never both: what a house does for its guests while nobody moves would be
in the echo's tail. A second counts if the server was as busy in it as it should be, and if the
machine's host took nothing away: ten milliseconds are all that a tail of a second is made of.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.closed_loop import echo_payload
from benchmarks.contestants import Running, echo_server, house_server
from benchmarks.lines import GAME, share
from benchmarks.measuring import Load, measured, millis, together
from benchmarks.paced import Pacer, pace_echoes, pace_racers
from benchmarks.reports import Bar, Cell, Report
from benchmarks.supply import needed
from kit.lean_racers import racing_tables
from kit.lean_socket import connect

TABLES = 64
SHARE = 0.6
"""Of the time in which the server's process is busy."""

NEAR = 0.06
"""How far from that a second may be that counts."""

STOLEN = 0.005
"""Seconds of which the kernel tells as none."""

FIRST_RATES = {"house": 4_000.0, "echo": 12_000.0}
"""Messages a second to begin with."""

SECONDS = 5
"""That each is looked at, one by one, in a round."""
SETTLE = 1.0
"""Seconds at the start that are not: by then it is as busy as it should be, or nearly."""
WANTED, QUICK_WANTED = 15, 5
"""Seconds that count, of each."""
MOST_ROUNDS, MOST_QUICK_ROUNDS = 9, 4
MOST_STEP = 1.5
"""Times that the rate grows or shrinks at once."""

MORE = 1.2
"""Tables that wait, in those that are needed at the rate before: they cost the house something."""

MOST_RATIO = 10.0


class Seconds:
    """One contestant, second by second, over all rounds."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        """Messages a second that it is asked."""
        self.seen: list[Load] = []

    async def watch(self, pacer: Pacer, running: Running, *, is_steered: bool = True) -> None:
        """Look at it for a round; if it `is_steered`, it is asked at the rate that keeps it at its share."""
        for number in range(SECONDS + 1):
            pacer.keep(self.rate)
            load = pacer.load = Load()
            with measured(load, running.servers, running.stores):
                is_whole = await pacer.wait(1.0 if number else SETTLE)
            if not is_whole:
                return
            if number:
                self.seen.append(load)
            if is_steered:
                self.rate = steered(self.rate, load.server_busy)

    @property
    def undisturbed(self) -> list[Load]:
        """Those in which the machine was its own."""
        return [load for load in self.seen if load.stolen < STOLEN]

    @property
    def counted(self) -> list[Load]:
        """Those of them in which the server was as busy as it should be."""
        return [load for load in self.undisturbed if abs(load.server_busy - SHARE) <= NEAR]

    def check(self, name: str, wanted: int) -> None:
        """Raises `RuntimeError` unless at least half as many count as were wanted."""
        if len(self.counted) < wanted / 2:
            shares = ", ".join(f"{load.server_busy:.0%}" for load in self.undisturbed)
            raise RuntimeError(
                f"of {len(self.seen)} seconds of the {name} the machine's host left some alone, in which it "
                f"was busy for {shares or 'no time'}: too few to tell"
            )

    def told(self) -> str:
        """How many counted, and how much one differed from the next; and what all of them were together."""
        tails = sorted(load.millis(0.99) for load in self.counted)
        every = together(self.undisturbed)
        return (
            f"{len(tails)} of {len(self.seen)} seconds, their p99s {tails[0]:.1f} to {tails[-1]:.1f} ms "
            f"(in all {len(self.undisturbed)} in which nothing was taken away, {every.server_busy:.0%} busy: "
            f"{every.millis(0.99):.1f} ms)"
        )


def steered(rate: float, busy: float) -> float:
    """The rate at which a server that was so busy at another would be as busy as it should; or half way."""
    return rate * min(MOST_STEP, max(1 / MOST_STEP, SHARE / max(0.01, busy)))


async def pace(report: Report, *, quick: bool) -> None:
    """Part 2."""
    wanted = QUICK_WANTED if quick else WANTED
    house, echo, even = Seconds(FIRST_RATES["house"]), Seconds(FIRST_RATES["echo"]), Seconds(0)
    waiting = 0
    for _ in range(MOST_QUICK_ROUNDS if quick else MOST_ROUNDS):
        waiting = spare(house.rate)
        await _house(house, waiting)
        if house.counted:
            like = together(house.counted)
            even.rate = like.rate
            await _echo(like, echo)
            await _echo(like, even, is_steered=False)
        if min(len(house.counted), len(echo.counted)) >= wanted:
            break
    house.check("house", wanted)
    echo.check("echo", wanted)
    ours, its = together(house.counted), together(echo.counted)
    as_many = together(even.undisturbed or even.seen)
    report.table(
        (
            *("contestant", "messages/s", "server busy", "CPU us", "p50 ms", "p99 ms"),
            *("p99.9 ms", "p99 ms since due", "late", "generator busy"),
        ),
        [
            _row("safe, busy 60 %", ours),
            _row("bare echo, busy 60 %", its),
            _row("bare echo, as many messages", as_many),
        ],
    )
    report.say(
        f"{TABLES} tables of four, and {waiting} that wait to take the place of one that ends; each racer moves at "
        "random moments (a Poisson process, looked at every millisecond), but not before the last move was "
        "answered: *late* are messages sent more than 5 ms after their time because of that, or of the "
        "generator. Counted are seconds in which the server was busy for "
        f"{SHARE - NEAR:.0%} to {SHARE + NEAR:.0%} of the time while the machine's host took nothing away: of "
        f"the house {house.told()}; of the echo {echo.told()}."
    )
    report.bar(
        Bar(
            "p99 at 60 % load, in p99s of the echo at 60 %",
            ours.millis(0.99) / its.millis(0.99),
            MOST_RATIO,
            " x",
        )
    )
    since_due = millis(ours.since_due, 0.99) / millis(its.since_due, 0.99)
    in_even = ours.millis(0.99) / as_many.millis(0.99)
    report.say(
        f"Since messages were due it is {since_due:.2f} x; in p99s of the echo at as many messages, "
        f"{in_even:.1f} x."
    )


def _row(name: str, load: Load) -> list[Cell]:
    return [
        *(name, round(load.rate), f"{load.server_busy:.0%}", load.micros),
        *(load.millis(0.5), load.millis(0.99), load.millis(0.999)),
        *(millis(load.since_due, 0.99), f"{load.late / load.messages:.1%}", share(load)),
    ]


def spare(rate: float) -> int:
    """Tables that wait, for a round at that rate."""
    return max(TABLES, needed(MORE * rate, TABLES, SECONDS + SETTLE))


async def _house(seconds: Seconds, waiting: int) -> None:
    with house_server() as running:
        tables = await racing_tables(TABLES + waiting, running.same, GAME)
        with _pacer(seconds.rate) as pacer:
            pace_racers(pacer, tables, TABLES)
            await seconds.watch(pacer, running)
        for racers in tables:
            for racer in racers:
                racer.go()


async def _echo(like: Load, seconds: Seconds, *, is_steered: bool = True) -> None:
    """As many connections as the house has, and messages of the same sizes."""
    with echo_server() as running:
        sockets = [await connect("127.0.0.1", running.ports[0]) for _ in range(TABLES * 4)]
        with _pacer(seconds.rate) as pacer:
            pace_echoes(pacer, sockets, echo_payload(like))
            await seconds.watch(pacer, running, is_steered=is_steered)
        for socket in sockets:
            socket.on_lost = _is_expected
            socket.close()


def _is_expected() -> None:
    pass


@contextmanager
def _pacer(rate: float) -> Iterator[Pacer]:
    gc.collect()
    # guests and sockets stay: to look them over between two seconds would hold up the next
    gc.freeze()
    pacer = Pacer(rate)
    try:
        yield pacer
    finally:
        pacer.stop()
        gc.unfreeze()
