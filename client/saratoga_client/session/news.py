"""News of a table: what happens there, in sentences. `session/differ.py` makes them, every face shows them.

A text begins with a small letter unless with a name, and has no full stop, except where it is a whole sentence.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple


class Kind(StrEnum):
    """The subject of news."""

    LOST = "lost"
    RESTORED = "restored"
    HOUSE = "house"
    VOIDED = "voided"
    NOTICE = "notice"
    ALARM = "alarm"
    REPORT = "report"
    JOINED = "joined"
    SEAT = "seat"
    HOST = "host"
    SETTINGS = "settings"
    PHASE = "phase"
    VOTE = "vote"
    SAID = "said"
    """A reaction of another player."""
    IDLE = "idle"
    TAKEN_BACK = "taken back"
    ALONE = "alone"
    BOARD_OVER = "board over"
    """The player's own board has ended."""
    ENDING = "ending"
    WON = "won"
    EVEN = "even"
    LEAD = "lead"
    PASS = "pass"  # noqa: S105 - on the road
    MILESTONE = "milestone"
    LAST_MINUTE = "last minute"
    RESULT = "result"


class News(NamedTuple):
    """One piece of news."""

    kind: Kind
    text: str
    about: str = ""
    """The id of the player or the race that it is about, if it is about one."""
    at: int | None = None
    """Milliseconds from the start of the race; `None` before it."""


MAX_NEWS: Final = 60
"""Maximum number of news kept; the oldest are dropped first."""


def newest(before: tuple[News, ...], after: tuple[News, ...]) -> tuple[News, ...]:
    """Return the news of `after` that follow those of `before`, of which some may be missing: old, or withdrawn."""
    known = set(map(id, before))
    at = next((at for at in reversed(range(len(after))) if id(after[at]) in known), -1)
    return after[at + 1 :]


def _nothing() -> Mapping[str, int]:
    return MappingProxyType({})


LONG_AGO: Final = -1_000_000
"""A time before every pause between news, in milliseconds from the start of the race."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the news of a race have told so far. Times are milliseconds from the start of the race."""

    leader: str = ""
    """The id of the racer last told as leading; empty without one."""
    leader_at: int = LONG_AGO
    """The time of the last news on the lead."""
    sides: Mapping[str, int] = field(default_factory=_nothing)
    """By rival's id: -1 if last told as ahead of the player, 1 if behind; absent if never either."""
    sides_at: Mapping[str, int] = field(default_factory=_nothing)
    """By rival's id: the time of the last news on passing."""
    milestones: Mapping[str, int] = field(default_factory=_nothing)
    """The last milestone told, in banked cards, by player id."""
    is_even: bool = False
    """True from the news on, or the first look, that found the player without a loss."""
    ended: frozenset[str] = frozenset()
    """Ids of the racers whose board has ended."""
