"""Lines of the tables: one contestant, one number of tables, one load."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from benchmarks.closed_loop import echo_load, house_load
from benchmarks.contestants import Running, echo_server, house_server
from benchmarks.measuring import Load
from benchmarks.reports import Cell

GAME = "canfield"

COLUMNS = (
    *("contestant", "tables", "moves/s", "server CPU us", "x echo", "store CPU us"),
    *("p50 ms", "p99 ms", "server busy", "generator busy"),
)

NOT_THE_NECK = 0.9
"""Of a core: a generator that takes more may be what holds everything up."""


def line(name: str, tables: int, load: Load, echo: Load | None = None) -> list[Cell]:
    """A row of the table, beside the echo with as many connections."""
    ratio: Cell = load.micros / echo.micros if echo is not None else "1"
    return [
        *(name, tables, round(load.rate), load.micros, ratio),
        load.store_micros if load.store else "-",
        *(load.millis(0.5), load.millis(0.99)),
        *(f"{load.server_busy:.0%}", share(load)),
    ]


def share(load: Load) -> str:
    """Of a core that the generator took, with a mark where it was too much."""
    return f"{load.busy:.0%}" + (" (!)" if load.busy > NOT_THE_NECK else "")


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
        return await house_load(running, tables, game, seconds)


async def echo_line(like: Load, tables: int, seconds: float) -> Load:
    with echo_server() as running:
        return await echo_load(running, like, tables * 4, seconds)


async def line_at(
    opened: Callable[[], AbstractContextManager[Running]], tables: int, seconds: float
) -> Load:
    """Any other contestant, for one load."""
    with opened() as running:
        return await house_load(running, tables, GAME, seconds)
