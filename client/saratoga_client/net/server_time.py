"""What the house's clock says, as well as one can tell from here.

Does no I/O and reads no clock. Every question with an answer is one observation: the answer's time
was true at some moment between asking and hearing. The quicker the answer, the less the error.
"""

from collections import deque
from typing import Final, NamedTuple

OBSERVATIONS: Final = 8
"""How many are kept: enough to meet a quick one, few enough to follow a clock that is set."""


class Observation(NamedTuple):
    """One question to the house and its answer."""

    round_trip: float
    """Seconds from asking to hearing: the error is at most half of it."""
    lead: float
    """The house's clock minus ours, in milliseconds, if question and answer travel equally long."""


class ServerTime:
    """How far the house's clock is ahead of ours."""

    def __init__(self) -> None:
        self._observations: deque[Observation] = deque(maxlen=OBSERVATIONS)

    def observe(self, asked: float, heard: float, house: int) -> None:
        """The house answered `house` (milliseconds); `asked` and `heard` are our seconds."""
        round_trip = max(0.0, heard - asked)
        lead = house - (asked + round_trip / 2) * 1000
        self._observations.append(Observation(round_trip, lead))

    def forget(self) -> None:
        """Another node may have another clock."""
        self._observations.clear()

    @property
    def round_trip(self) -> float | None:
        """Seconds that the last question and its answer took."""
        return self._observations[-1].round_trip if self._observations else None

    def at(self, ours: float) -> int:
        """The house's milliseconds when our clock says `ours` seconds."""
        best = min(self._observations, default=Observation(0.0, 0.0))
        return round(ours * 1000 + best.lead)
