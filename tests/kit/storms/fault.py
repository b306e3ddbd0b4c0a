"""Faults: each is injected into an installation, held for a while, and healed."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from random import Random

from kit.storms.installation import Installation
from kit.storms.storm_player import StormPlayer


async def nothing_to_heal() -> None:
    pass


@dataclass(frozen=True, slots=True)
class ActiveFault:
    """An injected fault: the players it affects, and the function that heals it."""

    affected: Iterable[StormPlayer]
    heal: Callable[[], Awaitable[None]] = nothing_to_heal
    """Repair the damage; return when all processes run again."""
    began: float | None = None
    """When it took effect (`time.monotonic()`), if not at the end of the injection."""
    phases: dict[str, float] = field(default_factory=dict)
    """Steps of the store's recovery, each with its moment, noted while healing."""


Inject = Callable[[Installation, Random], Awaitable[ActiveFault]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A kind of fault: how to inject it, how long to hold it, and how to time the recovery."""

    name: str
    part: str
    """What it affects; two faults of one part are never injected together."""
    inject: Inject
    hold: tuple[float, float] = (0.0, 0.0)
    """Shortest and longest time in seconds between injection and healing."""
    from_heal: bool = False
    """Measure the players' recovery from the healing on, not from the injection."""
    needs_play: bool = False
    """Needs players who make moves: of two faults this one is injected first."""
    by_reconnect: bool = False
    """Players lose their connection, and are back only over a new one."""
    by_pause: bool = False
    """Measure the longest pause between two answers: players may go on for a while."""
    limit: float | None = None
    """Seconds for all players to be back when no other fault is active; `None`: no promise."""
