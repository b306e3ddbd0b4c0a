"""What a fault is: struck somewhere, held for a while, healed; and whom it was felt by."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from random import Random

from kit.storms.town import Guest, Town


async def nothing_to_heal() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Blow:
    """A fault that has been struck."""

    felt_by: Iterable[Guest]
    heal: Callable[[], Awaitable[None]] = nothing_to_heal
    """Puts everything right again; returns when it is."""
    began: float | None = None
    """When it hit (`time.monotonic()`), where that is not when the strike returned."""
    phases: dict[str, float] = field(default_factory=dict)
    """When the store came to what on its way back, as the healing finds out."""


Strike = Callable[[Town, Random], Awaitable[Blow]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One kind of fault."""

    name: str
    part: str
    """What it strikes: two faults of one part are never thrown together."""
    strike: Strike
    hold: tuple[float, float] = (0.0, 0.0)
    """Seconds between the strike and its healing, at least and at most."""
    from_heal: bool = False
    """Players are awaited from the healing on, not from the strike: it lasts as long as it is held."""
    is_patient: bool = False
    """To strike it takes players who go on playing: it is struck before what keeps them from it."""
    by_connection: bool = False
    """Players lose their connection, and are back over another one only."""
    by_pause: bool = False
    """Players may go on for a while: what counts is the longest pause between two answers."""
    bar: float | None = None
    """Seconds within which everybody must be back, if nothing else is thrown meanwhile."""
