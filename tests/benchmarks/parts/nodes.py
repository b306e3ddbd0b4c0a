"""Compare two servers on one store with one server: throughput, and the cost of a move."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from benchmarks.closed_loop import race_load
from benchmarks.contestants import Running, game_server, lone_store
from benchmarks.lines import GAME, columns, line, tell, undisturbed
from benchmarks.measuring import Load, together
from benchmarks.reports import Bar, Report

TABLES = 64
MOST_COST = 1.1
"""Largest CPU time of a move on two servers, as a multiple of that on one server."""


@contextmanager
def servers(count: int) -> Iterator[Running]:
    """Run that many servers on one new store."""
    with lone_store() as store, ExitStack() as stack:
        assert store.process is not None
        opened = [
            stack.enter_context(
                game_server("safe", "--redis", store.url, "--node", f"n{number + 1}")
            )
            for number in range(count)
        ]
        yield Running(
            tuple(port for each in opened for port in each.ports),
            tuple(pid for each in opened for pid in each.servers),
            (store.process.pid,),
        )


async def nodes(report: Report, *, quick: bool) -> None:
    """Compare two servers with one."""
    seconds = 1.0 if quick else 1.5
    ones = [await _load(1, seconds, is_spread=False)]
    homes = [await _load(2, seconds, is_spread=False)]
    spread = await _load(2, seconds, is_spread=True)
    if not quick:
        # in both orders, so that a change of the machine's state affects both
        homes.append(await _load(2, seconds, is_spread=False))
        ones.append(await _load(1, seconds, is_spread=False))
    one, home = together(ones), together(homes)
    report.table(
        columns("one server"),
        [
            line("one server", TABLES, one, one),
            line("two, each table at one of them", TABLES, home, one),
            line("two, each table at both", TABLES, spread, one),
        ],
    )
    report.say(
        f"Two servers make {home.rate / one.rate:.2f} x the moves of one here, "
        f"{spread.rate / one.rate:.2f} x where every table plays at both; beside them the store "
        f"({home.store / home.seconds:.0%} of a core) and the generator ({home.busy:.0%}) share the "
        f"{os.cpu_count()} cores."
    )
    is_quiet = all(load.is_undisturbed for load in (*ones, *homes))
    ratio = home.micros / one.micros
    report.bar(Bar("CPU of a move on two nodes to one", ratio, MOST_COST, " x", is_quiet=is_quiet))


@undisturbed
async def _load(count: int, seconds: float, *, is_spread: bool) -> Load:
    with servers(count) as running:
        ports = running.spread if is_spread else running.same
        load = await race_load(running, TABLES, GAME, seconds, ports=ports)
    tell(f"{count} nodes, {'spread' if is_spread else 'at home'}", TABLES, load)
    return load
