"""The values that the server and its store exchange.

Every write is safe to repeat: a command whose reply was lost is sent again, and a node may die
between two writes. The values are msgspec structs: frozen dataclasses take ten times as long to
create.
"""

from enum import Enum, StrEnum
from typing import Final, NewType

from msgspec import Struct

from saratoga_protocol.events import Result
from saratoga_rules.records.standing import Reached, State

Millis = NewType("Millis", int)
"""Milliseconds since 1970 UTC, by the store's clock."""


class CommitStatus(Enum):
    """The store's result for one board's commit."""

    DONE = 0
    """The entries stand where they were to be appended: by this commit, or already before it."""
    STALE = 1
    """Other entries stand there; `length` is the log's present length."""
    FENCED = 2
    """A newer connection of the player has taken over."""
    TIME_UP = 3
    """The deadline has passed."""
    BOARD_OVER = 4
    """The board has ended."""
    NO_BOARD = 5
    """The store has no such board; boards are created when a race starts."""
    DAMAGED = 6
    """What the store has of the board cannot be what the server wrote."""


class BoardCommit(Struct, frozen=True, kw_only=True):
    """Entries to append to one board's log: a judged move, or an ending, or both."""

    table: str
    race: int
    player: str
    epoch: int
    """The epoch of the player's connection; 0 for the server's own entries: no fence."""
    after: int
    """The length of the log that these entries continue."""
    entries: tuple[str, ...]
    """Moves, and at most one ending as the last (`saratoga_rules.records.record.LOG_ENDINGS`)."""
    banked: int
    state: str
    """The board's state after the entries; any state but `racing` ends the board."""
    head: str
    """The head to keep with the racer's standing, as shown; empty: the stored one stays."""
    rises: bool
    """True if the last move of these entries raised `banked`."""
    late: bool = False
    """True if the commit is accepted after the deadline, as the ending `out of time` is."""


class CommitOutcome(Struct, frozen=True):
    """The store's answer to one board's commit. Only `DONE` changed the board."""

    status: CommitStatus
    length: int = 0
    """The length of the log after these entries, or its present length; 0 if there is no board."""
    at: Millis = Millis(0)
    """The time of the commit by the store's clock; 0 unless `DONE`."""
    number: int = 0
    """The number of the first entry, counted over all boards of a race; 0 unless `DONE`."""
    open: int = 0
    """The number of the race's boards that still race."""


class LogEntry(Struct, frozen=True, gc=False):
    """A stored entry of a board's log."""

    text: str
    at: Millis
    number: int


class StoredBoard(Struct, frozen=True, kw_only=True):
    """A board as the store holds it."""

    epoch: int
    banked: int
    state: str
    entries: tuple[LogEntry, ...]


class LiveStanding(Struct, frozen=True, array_like=True):
    """A racer's standing in a running race, as other players may see it."""

    length: int
    """The number of entries in the board's log. More entries: a newer standing."""
    banked: int
    state: State
    head: str
    """The head, as shown, after the last entry that changed `banked` or `state`."""
    reached: Reached | None = None
    """When the count last rose to `banked`; `None` if it never rose above the deal's count."""


class Run(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player's run in an open race: as it was entered, or as it ended."""

    player: str
    name: str
    bot: bool = False
    young: bool = False
    """True if the player is not older than the day whose deal it is."""
    table: str
    """The code of the table at which the run is played."""
    started: Millis = Millis(0)
    state: str = State.RACING.value
    banked: int = 0
    reached: Reached | None = None
    """When the count last rose to `banked`."""
    ended: int = 0
    """Milliseconds from the start to the end of the board."""
    climb: tuple[int, ...] = ()
    """Milliseconds from the start to the last rise to each count above the deal's, in order."""


class RaceFinish(Struct, frozen=True, kw_only=True):
    """The record and settlement to store when a race is over."""

    race: int
    record: str
    settlement: "Settlement | None" = None
    """The results for the leaderboards; `None` if none of them counts."""
    entries: int | None = None
    """The number of entries in all logs of the race; with another number nothing is written."""
    run: Run | None = None
    """The run that has ended, if the race is one: `record` is then its log."""
    streak: str = ""
    """The player's streak after a day's run, as it is stored; empty: it stays."""


class PlayerRow(Struct, frozen=True, kw_only=True):
    """A player's row in the store."""

    player: str
    token_hash: str
    name: str | None = None
    bot: bool = False
    banned: bool = False
    table: str | None = None
    """The table at which the player has a seat; written with the table itself."""
    made: str = ""
    """The last table that the player opened with a key."""
    made_by: str = ""
    """That key (`create_table`)."""
    created: Millis = Millis(0)
    hello: int = 0
    """The number of the player's newest hello; later hellos have higher numbers."""


class Settlement(Struct, frozen=True, kw_only=True):
    """The results of a finished race for the leaderboards, and all its people."""

    race: str
    game: str
    ended: Millis
    """The time at which the last board ended, which decides the periods (UTC)."""
    results: tuple[Result, ...]
    """The results that count for a leaderboard, in order of finish."""
    people: tuple[str, ...]


STORE_FORMAT: Final = 2
"""The layout of the store. A higher number: older data cannot be read."""


class LedgerEntry(Struct, frozen=True):
    """The ledger, as it was read or raised."""

    generation: str = ""
    """A random word; empty if the store has no ledger."""
    sequence: int = 0
    format: int = STORE_FORMAT


class LedgerMemory:
    """What a process remembers of the ledger of its store: nothing before its start."""

    remedy = "Restore the data. Or restart every server, to go on with the store as it is now."
    """Sentences that say what to do about a store that has other data."""

    def __init__(self) -> None:
        self.entry: LedgerEntry | None = None
        """The newest ledger whose write is durable; `None` if the store is new to the process."""

    async def remember(self, entry: LedgerEntry) -> None:
        """Remember a ledger whose write is durable."""
        self.entry = entry


MOST_LISTED: Final = 100
"""The most public tables in one list."""


class StoreUnavailable(Exception):
    """A store that did not answer. A write may have happened; repeating it is safe."""


class Damage(ValueError):
    """Stored data that cannot be what the server wrote; the text says what is wrong."""


class StoreRefused(Exception):
    """A store that cannot be used; the text says why, and what to do."""


class Durability(StrEnum):
    """A level of durability: what an acknowledged move survives."""

    FAST = "fast"
    """A move survives a crash of the server. Others may lose the last seconds."""
    SAFE = "safe"
    """A move also survives a crash of the machine, because the store has synced it to its disk."""
    REPLICATED = "replicated"
    """A move also survives the loss of the store's machine, because a replica has the move."""
