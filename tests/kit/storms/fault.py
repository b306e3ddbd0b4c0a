"""Faults: each is injected into an installation, held for a while, and healed."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from random import Random

from kit.storms.installation import Installation, StormPlayer


async def nothing_to_heal() -> None:
    pass


@dataclass(frozen=True, slots=True)
class ActiveFault:
    """An injected fault: the players it affects, and the function that heals it."""

    affected: Iterable[StormPlayer]
    heal: Callable[[], Awaitable[None]] = nothing_to_heal
    """Repair the damage; return when all processes run again."""


Inject = Callable[[Installation, Random], Awaitable[ActiveFault]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A kind of fault: how to inject it, how long to hold it, and how to time the recovery."""

    name: str
    part: str
    """The part of an installation that the fault affects; two faults of one part never coincide."""
    inject: Inject
    hold: tuple[float, float] = (0.0, 0.0)
    """Shortest and longest time in seconds between injection and healing."""
    from_heal: bool = False
    """If true, measure the players' recovery from the healing on, not from the injection."""
    needs_play: bool = False
    """If true, the fault needs players who make moves, and is injected first of two faults."""
    by_reconnect: bool = False
    """If true, players lose their connection and count as back only over a new one."""
    by_pause: bool = False
    """If true, measure the longest pause between two answers, because players are not stopped at once."""
    is_alone: bool = False
    """If true, the fault is never injected together with another."""
    limit: float | None = None
    """The promised time in seconds for all players to be back from this fault alone; or `None`."""
