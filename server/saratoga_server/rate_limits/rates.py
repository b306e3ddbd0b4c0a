"""The rate limits and connection limits of players and addresses.

They are large enough for sixteen friends behind one address with three bots each, even if the
server restarts during a race or the store is unavailable for a minute
(tests/server/rate_limits/test_rates.py proves it).
"""

from collections.abc import Mapping
from enum import StrEnum
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
)


class Action(StrEnum):
    """A limited action; the value is its name in the metrics."""

    CONNECTION = "connections"
    """A new connection, HTTP or WebSocket, but for files of the page."""
    STATIC = "files"
    """A file of the page."""
    REPLAY = "replays"
    """The boards of a finished race."""
    PAGE = "pages"
    """A page over plain HTTP."""
    COMMANDS = "commands"
    HELLO_REFUSED = "hellos"
    NEW_PLAYER = "players"
    """A hello with an unknown token."""
    NAME = "names"
    """A request for a name, granted or not."""
    TABLE = "tables"
    """A new table."""
    WRONG_CODE = "codes"
    """A request for a table that does not exist."""
    CHANGE = "changes"
    """A change of a table, which is sent to everyone at that table."""


class Rate(Struct, frozen=True):
    """The size of a token bucket, and the seconds until one token comes back."""

    burst: float
    every: float


UNLIMITED: Final = Rate(0, 0.0)
"""The rate without a limit: tokens come back at once."""

Rates = Mapping[Action, Rate]
"""The rates by action; an action that is missing has no limit."""

PER_ADDRESS: Final[Rates] = {
    Action.CONNECTION: Rate(512, 1 / 128),
    Action.STATIC: Rate(2048, 1 / 256),
    Action.REPLAY: Rate(96, 1.0),
    Action.PAGE: Rate(120, 1 / 10),
    Action.COMMANDS: Rate(8192, 1 / 2048),
    Action.HELLO_REFUSED: Rate(120, 1.0),
    Action.NEW_PLAYER: Rate(200, 10.0),
    Action.NAME: Rate(200, 5.0),
    Action.TABLE: Rate(100, 5.0),
    Action.WRONG_CODE: Rate(60, 6.0),
}

PER_PLAYER: Final[Rates] = {
    Action.NAME: Rate(10, 30.0),
    Action.TABLE: Rate(20, 5.0),
    Action.WRONG_CODE: Rate(20, 6.0),
    Action.CHANGE: Rate(120, 0.5),
}
"""The rates of a player. Commands are missing, because `--rate` and `--burst` set their rate."""

NO_LIMITS: Final[Rates] = {}

MAX_CONNECTIONS_PER_ADDRESS: Final = 256

MAX_UNAUTHENTICATED_PER_ADDRESS: Final = 128
"""Connections of one address before their hello."""

MAX_UNAUTHENTICATED: Final = 4096
"""Connections of all addresses before their hello."""

MAX_CONNECTIONS_PER_PLAYER: Final = 16

MAX_WATCHERS: Final = 200
"""Connections that follow one table without a seat."""

MAX_WATCHERS_PER_ADDRESS: Final = 50
"""Connections of one address among the watchers of one table."""

COMMANDS_PREPAID: Final = 16
"""Tokens that a connection takes from its address at once, to check it rarely."""

BYTES_OF_A_COMMAND: Final = 1024
"""Bytes of a frame that count as one command. Saratoga's own frames are below 300 bytes."""

COSTS: Final[Mapping[type[Struct], int]] = {
    GetRecord: 10,
    JoinTable: 5,
    CreateTable: 5,
    ChangeSettings: 5,
    ListTables: 5,
    GetLeaderboard: 5,
    ClaimName: 3,
    Kick: 3,
    Ready: 2,
    NotReady: 2,
}
"""Tokens of a command that takes more work than a move; every other command costs 1."""


def scaled(rates: Rates, factor: float) -> Rates:
    """Return the rates for `factor` times as many people; a bucket holds what is taken at once."""
    return {
        action: Rate(
            max(COMMANDS_PREPAID if action is Action.COMMANDS else 1.0, rate.burst * factor),
            rate.every / factor,
        )
        for action, rate in rates.items()
    }
