"""Lines of the tables: one contestant, one number of tables, one load."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import ParamSpec

from benchmarks.closed_loop import echo_load, house_load
from benchmarks.contestants import echo_server, house_server
from benchmarks.measuring import Load
from benchmarks.reports import Cell

GAME = "canfield"


def columns(measure: str) -> tuple[str, ...]:
    """Of a table whose costs are told in those of `measure` too."""
    return (
        *("contestant", "tables", "moves/s", "server CPU us", f"x {measure}", "store CPU us"),
        *("p50 ms", "p99 ms", "server busy", "generator busy"),
    )


TRIES = 3
"""Of a line that the machine's host disturbs."""

NOT_THE_NECK = 0.9
"""Of a core: a generator that takes more may be what holds everything up."""


def line(name: str, tables: int, load: Load, measure: Load) -> list[Cell]:
    """A row of the table; `measure` is what its cost is told in."""
    return [
        *(name, tables, round(load.rate), load.micros, load.micros / measure.micros),
        load.store_micros if load.store else "-",
        *(load.millis(0.5), load.millis(0.99)),
        *(f"{load.server_busy:.0%}", share(load)),
    ]


def share(load: Load) -> str:
    """Of a core that the generator took, with a mark where it was too much."""
    return f"{load.busy:.0%}" + (" (!)" if load.busy > NOT_THE_NECK else "")


def tell(what: str, tables: int, load: Load) -> None:
    """Say how far it has come, for whoever sits before it."""
    print(
        f"... {what}, {tables} tables: {load.micros:.1f} us, {load.rate:.0f} a second",
        file=sys.stderr,
        flush=True,
    )


P = ParamSpec("P")


def undisturbed(measure: Callable[P, Awaitable[Load]]) -> Callable[P, Awaitable[Load]]:
    """Measure again where the host took cores away meanwhile; of `TRIES` the least disturbed counts."""

    @wraps(measure)
    async def measured(*args: P.args, **kwargs: P.kwargs) -> Load:
        loads: list[Load] = []
        while len(loads) < TRIES:
            load = await measure(*args, **kwargs)
            loads.append(load)
            if load.is_undisturbed:
                break
        return min(loads, key=lambda load: load.stolen / load.seconds)

    return measured


@undisturbed
async def house_line(
    tables: int,
    seconds: float,
    *,
    game: str = GAME,
    durability: str = "safe",
    altered: Sequence[str] = (),
    flags: Sequence[str] = (),
) -> Load:
    """The house of its own, for one load."""
    with house_server(durability, *flags, altered=altered) as running:
        load = await house_load(running, tables, game, seconds)
    tell(f"{game}, {durability}, {', '.join(altered) or 'as it is'}", tables, load)
    return load


@undisturbed
async def echo_line(like: Load, tables: int, seconds: float) -> Load:
    with echo_server() as running:
        load = await echo_load(running, like, tables * 4, seconds)
    tell("echo", tables, load)
    return load
