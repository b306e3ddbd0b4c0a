"""Rows of results: each row is the load of one program at one number of tables."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import ParamSpec

from benchmarks.closed_loop import echo_load, race_load
from benchmarks.contestants import echo_server, game_server
from benchmarks.machine import Others
from benchmarks.measuring import Load, NotQuiet
from benchmarks.reports import Cell

GAME = "canfield"


def columns(measure: str) -> tuple[str, ...]:
    """Return the column titles; the column `x ...` gives costs as multiples of those of `measure`."""
    return (
        *("contestant", "tables", "moves/s", "server CPU us", f"x {measure}", "store CPU us"),
        *("p50 ms", "p99 ms", "server busy", "generator busy"),
    )


TRIES = 3
"""Attempts to measure a row that other work on the machine disturbs."""

NOT_THE_NECK = 0.9
"""Share of a core; a load generator that takes more may be the bottleneck itself."""


def line(name: str, tables: int, load: Load, measure: Load) -> list[Cell]:
    """Return a row of results, with the cost also as a multiple of the cost in `measure`."""
    return [
        *(name, tables, round(load.rate), load.micros, load.micros / measure.micros),
        load.store_micros if load.store else "-",
        *(load.millis(0.5), load.millis(0.99)),
        *(f"{load.server_busy:.0%}", share(load)),
    ]


def share(load: Load) -> str:
    """Return the share of a core that the load generator took, marked with `(!)` if it was too high."""
    return f"{load.busy:.0%}" + (" (!)" if load.busy > NOT_THE_NECK else "")


def tell(what: str, tables: int, load: Load) -> None:
    """Print the cost and the rate of a load to stderr, as progress."""
    print(
        f"... {what}, {tables} tables: {load.micros:.1f} us, {load.rate:.0f} a second",
        file=sys.stderr,
        flush=True,
    )


P = ParamSpec("P")


def undisturbed(measure: Callable[P, Awaitable[Load]]) -> Callable[P, Awaitable[Load]]:
    """Repeat a disturbed measurement up to `TRIES` times; return the least disturbed load.

    Raise `NotQuiet` if every attempt failed while other programs used the machine.
    """

    @wraps(measure)
    async def measured(*args: P.args, **kwargs: P.kwargs) -> Load:
        loads: list[Load] = []
        fault = ""
        for _ in range(TRIES):
            others = Others()
            try:
                loads.append(await measure(*args, **kwargs))
            except Exception as each:
                if others.are_quiet and not isinstance(each, NotQuiet):
                    raise
                fault = f"{type(each).__name__}: {each}"
            if loads and loads[-1].is_undisturbed:
                break
        if not loads:
            raise NotQuiet(fault)
        return min(loads, key=lambda load: load.stolen / load.seconds)

    return measured


@undisturbed
async def race_line(
    tables: int,
    seconds: float,
    *,
    game: str = GAME,
    durability: str = "safe",
    altered: Sequence[str] = (),
    flags: Sequence[str] = (),
) -> Load:
    """Start a server and measure one load."""
    with game_server(durability, *flags, altered=altered) as running:
        load = await race_load(running, tables, game, seconds)
    tell(f"{game}, {durability}, {', '.join(altered) or 'as it is'}", tables, load)
    return load


@undisturbed
async def echo_line(like: Load, tables: int, seconds: float) -> Load:
    with echo_server() as running:
        load = await echo_load(running, like, tables * 4, seconds)
    tell("echo", tables, load)
    return load
