"""The house and the echo in turns, half a second each: whatever mood the machine is in, both have it.

The price of the same code changes by half from one minute to the next on a shared machine, and not
alike for every program; so whoever is measured first and whoever is measured a minute later have
nothing to do with one another.
"""

from dataclasses import dataclass

from benchmarks.closed_loop import ClosedLoop, EchoLoop, spare_tables
from benchmarks.contestants import Running, echo_server, house_server
from benchmarks.measuring import Load, measured, together
from kit.lean_racers import plausible, racing_tables

SETTLE = 0.15
"""Seconds at the start of a turn that do not count: the other's last answers still come in."""

TURN = 0.45
"""Seconds that do."""


TURNS = 4
"""Of each in a round; fewer if the tables run out."""


@dataclass
class Turns:
    """What both cost, turn by turn."""

    house: list[Load]
    echo: list[Load]

    @property
    def ratio(self) -> float:
        """The house's cost of a move, in the echo's of a message, over all turns."""
        return together(self.house).micros / together(self.echo).micros

    @property
    def ratios(self) -> list[float]:
        """That of each pair of turns, the smallest first."""
        return sorted(
            one.micros / other.micros for one, other in zip(self.house, self.echo, strict=True)
        )


async def in_turns(tables: int, rounds: int, game: str) -> Turns:
    """Both up at the same time, one of them busy at a time; anew for every round.

    Tables that wait for their turn to race cost the house something too: a round has few of them.
    """
    seen = Turns([], [])
    for _ in range(rounds):
        await _round(seen, tables, game)
    return seen


async def _round(seen: Turns, tables: int, game: str) -> None:
    with house_server() as house, echo_server() as echo:
        seats = tables + spare_tables(tables, (TURNS + 1) * (SETTLE + TURN))
        everyone = await racing_tables(seats, house.same, game, plausible)
        racing = ClosedLoop([*everyone])
        racing.start(tables)
        first = await _turn(racing, house)
        echoing = await EchoLoop.of(echo, first, tables * 4)
        for _ in range(TURNS):
            load = await _turn(racing, house)
            if racing.has_run_out:
                break
            seen.house.append(load)
            seen.echo.append(await _turn(echoing, echo))
        echoing.close()
        racing.stop()
        for racers in everyone:
            for racer in racers:
                racer.go()


async def _turn(loop: ClosedLoop | EchoLoop, running: Running) -> Load:
    loop.resume()
    await loop.wait(SETTLE)
    load = loop.load = Load()
    with measured(load, running.servers, running.stores):
        await loop.wait(TURN)
    loop.pause()
    return load
