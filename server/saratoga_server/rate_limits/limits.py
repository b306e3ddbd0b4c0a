"""How much is too much: what one connection, one player and one address may ask of this node.

A `Rate` allows so much at once and so much a second; what was taken is one number, the moment at
which it will be made good. Pure: the time comes in.

The paces are for sixteen friends behind one address with three bots each, a house that restarts in
mid-race and a store that goes away for a minute (tests/server/allowance/test_limits.py plays that evening).
No store is asked, so that of several processes each allows as much.
"""

from collections.abc import Mapping
from enum import StrEnum
from math import inf
from typing import Final

from msgspec import Struct

from saratoga_protocol.commands import (
    ChangeSettings,
    ClaimName,
    CreateTable,
    GetLeaderboard,
    GetRecord,
    JoinTable,
    Kick,
    ListTables,
    NotReady,
    Ready,
    Resume,
    SubscribeLeaderboard,
    WatchTable,
)


class Act(StrEnum):
    """What is counted, under the name that the metrics use."""

    CONNECTION = "connections"
    """A new connection, whatever it is for."""
    PAGE = "pages"
    """A page over plain HTTP."""
    COMMANDS = "commands"
    HELLO_REFUSED = "hellos"
    NEW_PLAYER = "players"
    """A hello with a token that nobody had."""
    NAME = "names"
    """A name asked for, whether or not it could be had."""
    TABLE = "tables"
    """A table opened."""
    WRONG_CODE = "codes"
    """A table asked for that does not exist."""
    CHANGE = "changes"
    """A change of a table, which everybody there is shown."""


class Rate(Struct, frozen=True):
    """So many at once, and then one every so many seconds."""

    burst: float
    every: float


Rates = Mapping[Act, Rate]
"""What is not in it has no limit."""

PER_ADDRESS: Final[Rates] = {
    Act.CONNECTION: Rate(512, 1 / 128),
    Act.PAGE: Rate(120, 1 / 10),
    Act.COMMANDS: Rate(8192, 1 / 2048),
    Act.HELLO_REFUSED: Rate(120, 1.0),
    Act.NEW_PLAYER: Rate(200, 10.0),
    Act.NAME: Rate(200, 5.0),
    Act.TABLE: Rate(100, 5.0),
    Act.WRONG_CODE: Rate(60, 6.0),
}

PER_PLAYER: Final[Rates] = {
    Act.NAME: Rate(10, 30.0),
    Act.TABLE: Rate(20, 5.0),
    Act.WRONG_CODE: Rate(20, 6.0),
    Act.CHANGE: Rate(120, 0.5),
}

NO_LIMITS: Final[Rates] = {}

MOST_OPEN: Final = 256
"""Connections of one address."""

MOST_SILENT: Final = 128
"""Connections of one address that have not said hello."""

MOST_SILENT_IN_ALL: Final = 4096
"""Such connections of everybody; the oldest gives way to one more."""

MOST_OF_A_PLAYER: Final = 16
"""Connections of one player; the oldest gives way to one more."""

MOST_WATCHERS: Final = 200
"""Connections that follow one table without a seat."""

MOST_WATCHERS_OF_AN_ADDRESS: Final = 50
"""Of these, so that no one address shuts the others out."""

BYTES_OF_A_COMMAND: Final = 1024
"""A longer frame counts as several commands. The program's own are below 300 bytes."""


ROUNDING: Final = 1e-6
"""Seconds that nobody is refused for."""


COSTS: Final[Mapping[type[Struct], int]] = {
    GetRecord: 10,
    Resume: 5,
    JoinTable: 5,
    CreateTable: 5,
    ChangeSettings: 5,
    ListTables: 5,
    GetLeaderboard: 5,
    SubscribeLeaderboard: 5,
    WatchTable: 3,
    ClaimName: 3,
    Kick: 3,
    Ready: 2,
    NotReady: 2,
}
"""What costs the house more than a move counts as several."""


class TokenBucket:
    """What was taken at one pace: `whole_at` is when all of it will be made good."""

    __slots__ = ("whole_at",)

    def __init__(self) -> None:
        self.whole_at = -inf

    def takes(self, pace: Rate, cost: float, now: float) -> bool:
        """Whether that much may be had now; if so, it is taken."""
        whole_at = max(self.whole_at, now) + cost * pace.every
        if whole_at - now - pace.burst * pace.every > ROUNDING:
            return False
        self.whole_at = whole_at
        return True

    def wait(self, pace: Rate, cost: float, now: float) -> float:
        """Seconds until that much may be had; 0: now."""
        over = max(self.whole_at, now) + cost * pace.every - now - pace.burst * pace.every
        return over if over > ROUNDING else 0.0


class Allowance:
    """How many commands one player may send: `rate` a second, `burst` at once; rate 0: any."""

    __slots__ = ("_bucket", "_pace")

    def __init__(self, rate: float, burst: float) -> None:
        self._pace = Rate(burst, 1 / rate) if rate else None
        self._bucket = TokenBucket()

    def takes(self, cost: float, now: float) -> bool:
        """Whether that much is allowed now; if it is, it is used up."""
        return self._pace is None or self._bucket.takes(self._pace, cost, now)

    def is_whole(self, now: float) -> bool:
        """Whether nothing of it is used up."""
        return self._bucket.whole_at <= now

    def wait(self, cost: float, now: float) -> float:
        """Seconds until that much is allowed."""
        return 0.0 if self._pace is None else self._bucket.wait(self._pace, cost, now)


def stretched(paces: Rates, factor: float) -> Rates:
    """The same paces for `factor` times as many."""
    return {act: Rate(pace.burst * factor, pace.every / factor) for act, pace in paces.items()}
