"""The order of finish: one rule for the server and for verification.

Racers are ordered by net, and so by their final counts of banked cards. Of racers with the same
final count, the one who *reached* it earlier is ahead: the moment is when the racer's count last
rose to its final value. Within one millisecond the commit number at the table decides. Racers whose
final count is that of the deal share a place.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from saratoga_rules.game import Game
from saratoga_rules.money import net

LAST_BOARD_MILLIS: Final = 60_000
"""Milliseconds that the host waits after all other boards have ended, before ending the last one."""


IDLE_MILLIS: Final = 180_000
"""Milliseconds without a sign of activity after which a board ends as idle, if others are at the table."""

LEAST_RANKED: Final = 2
"""The fewest racers of a race that counts: people for the people's leaderboards, any racers for the bots'."""


def may_be_ranked(*, cap: int, racers: int) -> bool:
    """Return whether a race may count: it has a time limit, and enough racers of those that count.

    Everything that decides it is fixed when the race starts, so no racer can choose later whether a
    result counts. A server may demand that the table is public and not locked, too.
    """
    return cap > 0 and racers >= LEAST_RANKED


class State(StrEnum):
    """The state of a racer's board: one word, the same in the log, the record, the store and on the wire."""

    RACING = "racing"
    WON = "won"
    CASH_OUT = "cash-out"
    STUCK = "stuck"
    OUT_OF_TIME = "out-of-time"
    LEFT = "left"
    """The racer left the table by the command `leave_table`."""
    GONE = "gone"
    """The racer was absent for too long, or was removed by force."""
    ENDED_BY_HOST = "ended-by-host"
    IDLE = "idle"
    BOTS_STOPPED = "bots-stopped"
    """Only bots still raced."""
    ENDED_BY_VOTE = "ended-by-vote"
    """One who had ended asked to end the race, and every person who still raced agreed."""

    @property
    def has_ended(self) -> bool:
        return self is not State.RACING


LOG_ENDINGS: Final = frozenset(State) - {State.RACING, State.WON}
"""The words that end a log. A win has no entry: the position shows it."""


class Reached(NamedTuple):
    """The moment at which a count was reached; earlier is better."""

    at: int
    """Milliseconds from the start of the race."""
    number: int
    """The commit number at the table; it orders counts reached in the same millisecond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RacerScore:
    """The facts about a racer that decide the order of finish."""

    player: str
    banked: int
    state: str
    reached: Reached | None
    """The moment when the count last rose to `banked`; `None` if it never rose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A racer's row in the order of finish, as a record has it."""

    place: int
    """The place from 1. Equal racers share a place, and the next place is skipped."""
    player: str
    banked: int
    net: int
    reached: int | None
    """Milliseconds from the start to when the count last rose to `banked`; `None` if it never rose."""
    state: str


def ranking(game: Game, racers: Iterable[RacerScore]) -> list[Placed]:
    """Return every racer in order of place, and by player id within a shared place."""
    ordered = sorted(racers, key=lambda racer: (_merit(racer), racer.player))
    merits = [_merit(racer) for racer in ordered]
    return [
        Placed(
            place=1 + merits.index(merit),
            player=racer.player,
            banked=racer.banked,
            net=net(game, racer.banked),
            reached=racer.reached.at if racer.reached else None,
            state=racer.state,
        )
        for racer, merit in zip(ordered, merits, strict=True)
    ]


def last_reached(start: int, counts: Iterable[tuple[int, Reached]]) -> Reached | None:
    """Return when the count last rose to its final value, or `None` if it never did.

    `start` is the count of the deal, and `counts` are those after each entry of the log.

    A card taken back lowers the count, possibly to a value that it had risen to before. Then that
    earlier rise is returned, because it was the last rise *to* the final value.
    """
    rises: dict[int, Reached] = {}
    before = start
    for banked, reached in counts:
        if banked > before:
            rises[banked] = reached
        before = banked
    return rises.get(before)


_AT_THE_START = Reached(-1, 0)


def _merit(racer: RacerScore) -> tuple[int, Reached]:
    """Return the sort key; smaller is better. All racers play the same packs, so count orders like net."""
    return -racer.banked, racer.reached or _AT_THE_START
