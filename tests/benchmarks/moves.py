"""Measure moves in a closed loop: their cost by number of tables.

On a shared machine the cost of the same code can change by half from one minute to the next, and
not alike for every program. So the main ratios are measured in turns of half a second.
"""

import gc
import math
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from benchmarks.generator import Generator, echo_load, echo_payload, race_load, waiting
from benchmarks.measuring import Cell, Load, Report, millis
from benchmarks.programs import Running, echo_server, game_server
from benchmarks.racers import GAME, racing_tables
from saratoga_rules.games import GAMES

SECONDS, QUICK_SECONDS = 1.5, 1.0
TABLES, QUICK_TABLES = (1, 4, 16, 64, 256), (1, 16, 64, 256)
AT = 64
"""The number of tables at which games are compared, and programs in turns."""
GROWN = (16, 256)
"""The numbers of tables between which the growth of the cost is measured."""

SETTLE, TURN, TURNS = 0.15, 0.45, 4
"""Seconds of a turn that do not count, seconds that count, and turns of each program in a round."""
ROUNDS_IN_TURNS, QUICK_ROUNDS_IN_TURNS = 6, 2

SAFE, BARE = "`safe`", "bare echo"

FIRST_GAME = next(iter(GAMES))
"""The game that newcomers are offered first."""


COLUMNS = (
    *("contestant", "tables", "moves/s", "server CPU us", "x echo", "store CPU us"),
    *("p50 ms", "p99 ms", "server busy", "generator busy"),
)


def line(name: str, tables: int, load: Load, echo: Load) -> list[Cell]:
    """Return a row of results, with the cost also as a multiple of the echo's."""
    return [
        *(name, tables, round(load.rate), load.micros, load.micros / echo.micros),
        load.store / load.messages * 1e6 if load.store else "-",
        *(millis(load.latencies, 0.5), millis(load.latencies, 0.99)),
        *(f"{load.server_busy:.0%}", load.generator_busy),
    ]


async def race_line(tables: int, seconds: float, game: str = GAME) -> Load:
    """Measure a server with racing tables."""
    async with game_server() as running:
        return told(
            f"{game}, {tables} tables", await race_load(running, tables, seconds, game=game)
        )


async def echo_line(like: Load, tables: int, seconds: float) -> Load:
    """Measure the bare echo with as many connections, and messages of the same sizes."""
    async with echo_server() as running:
        return told(f"echo, {tables} tables", await echo_load(running, like, tables * 4, seconds))


def told(what: str, load: Load) -> Load:
    print(
        f"... {what}: {load.micros:.1f} us, {load.rate:.0f} a second", file=sys.stderr, flush=True
    )
    return load


async def moves(report: Report, *, quick: bool) -> None:
    """Measure the cost of a move and of a bare echo, at 1 to 256 tables."""
    seconds = QUICK_SECONDS if quick else SECONDS
    rows: list[list[Cell]] = []
    safe: dict[int, Load] = {}
    echo: dict[int, Load] = {}
    for tables in QUICK_TABLES if quick else TABLES:
        safe[tables] = await race_line(tables, seconds)
        echo[tables] = await echo_line(safe[tables], tables, seconds)
        loads = {BARE: echo[tables], SAFE: safe[tables]}
        rows += [line(name, tables, load, echo[tables]) for name, load in loads.items()]
    report.table(COLUMNS, rows)
    report.say(
        f"A message to the server had {safe[AT].question} bytes, an answer {safe[AT].answer} (with "
        "the legal moves); the echo's as many."
    )
    alone = safe[1], echo[1]
    ratio = alone[0].micros / alone[1].micros
    report.bar("a move at `safe`, 1 table, in bare echoes", ratio, 2.6, loads=alone)
    await _in_turns(report, QUICK_ROUNDS_IN_TURNS if quick else ROUNDS_IN_TURNS)
    _growth(report, safe, echo)
    first, other = [await race_line(AT, seconds, game) for game in (FIRST_GAME, GAME)]
    what = f"a move of {FIRST_GAME} at `safe`, {AT} tables, in moves of {GAME}"
    report.bar(what, first.micros / other.micros, 1.3, loads=(first, other))


def _growth(report: Report, safe: dict[int, Load], echo: dict[int, Load]) -> None:
    loads = [each[tables] for each in (safe, echo) for tables in GROWN]
    few, many, its_few, its_many = (load.micros for load in loads)
    growth = (many - (its_many - its_few)) / few
    report.bar("cost at 256 tables to that at 16, less the echo's growth", growth, 1.3, loads=loads)


# In turns


class Contestant:
    """A running program and its load, which is paused except in its turns."""

    def __init__(self, generator: Generator, running: Running) -> None:
        self.generator, self.running = generator, running
        generator.pause()

    async def turn(self) -> Load:
        gc.collect()
        self.generator.resume()
        await self.generator.wait(SETTLE)
        try:
            if self.generator.has_run_out:
                raise RuntimeError("the waiting tables ran out")
            return await self.generator.measure(self.running, TURN)
        finally:
            self.generator.pause()


@asynccontextmanager
async def _racing() -> AsyncIterator[Contestant]:
    async with game_server() as running:
        seats = AT + waiting(AT, (TURNS + 1) * (SETTLE + TURN))
        contestant = Contestant(Generator(), running)
        contestant.generator.race(await racing_tables(seats, running.port), AT)
        yield contestant
        contestant.generator.close()


@asynccontextmanager
async def _echoing(payload: bytes) -> AsyncIterator[Contestant]:
    async with echo_server() as running:
        contestant = Contestant(Generator(), running)
        await contestant.generator.echo(running, AT * 4, payload)
        yield contestant
        contestant.generator.close()


async def _in_turns(report: Report, rounds: int) -> None:
    """Measure the server and the echo at once, with as many connections and messages of the same sizes."""
    taken: list[dict[str, Load]] = []
    for _ in range(rounds):
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(_racing())
            like = await server.turn()
            echo = await stack.enter_async_context(_echoing(echo_payload(like)))
            contestants = {BARE: echo, SAFE: server}
            for number in range(TURNS):
                order = list(contestants)[:: -1 if number % 2 else 1]
                taken.append({name: await contestants[name].turn() for name in order})
    quiet = [turn for turn in taken if all(load.is_undisturbed for load in turn.values())]
    counted = quiet if len(quiet) >= len(taken) / 2 else taken
    micros = {
        name: 1e6
        * sum(turn[name].server for turn in counted)
        / sum(turn[name].messages for turn in counted)
        for name in (BARE, SAFE)
    }
    report.table(
        ("in turns", "server CPU us", f"x {BARE}"),
        [[name, cost, cost / micros[BARE]] for name, cost in micros.items()],
    )
    report.say(f"{len(counted)} of {len(taken)} turns of {TURN:g} s each are counted.")
    whole = micros[SAFE] / micros[BARE] if counted is quiet else math.nan
    report.bar(f"a move at `safe`, {AT} tables, in bare echoes", whole, 1.5)
