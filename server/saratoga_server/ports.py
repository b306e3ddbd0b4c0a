"""The ports: small interfaces through which the server uses its store, and their values.

Every write is safe to repeat: a command whose reply was lost is sent again, and a node may die between two
writes. The values are msgspec structs: frozen dataclasses take ten times as long to create.
"""

from asyncio import Future
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple, NewType, Protocol

from msgspec import Struct

from saratoga_rules.records.standing import Reached, State

Millis = NewType("Millis", int)
"""Milliseconds since 1970 UTC, by the store's clock."""

BEGINNING: Final = Millis(0)


class CommitStatus(Enum):
    """The store's result for one board's commit."""

    DONE = 0
    REPEAT = 1
    """The command was accepted before, or the server's own entries are stored already."""
    STALE = 2
    """Another write came first; `length` is the log's present length."""
    FENCED = 3
    """A newer connection of the player has taken over."""
    TIME_UP = 4
    """The deadline has passed."""
    BOARD_OVER = 5
    """The board has ended."""
    NO_BOARD = 6
    """The store has no such board; boards are created when a race starts."""


class BoardCommit(Struct, frozen=True, kw_only=True):
    """Entries to append to one board's log: a judged move, or an ending, or both."""

    table: str
    race: int
    player: str
    epoch: int
    """The epoch of the player's connection; 0 for the server's own entries, which are not fenced."""
    command_id: int
    """The id of the player's command; 0 for the server's own entries."""
    after: int
    """The length of the log that these entries continue."""
    entries: tuple[str, ...]
    """Moves, and at most one ending as the last (`saratoga_rules.records.record.LOG_ENDINGS`)."""
    banked: int
    state: str
    """The board's state after the entries; any state but `racing` ends the board."""
    rises: bool
    """True if the last move of these entries raised `banked`."""
    late: bool = False
    """True if the commit is accepted after the deadline, as the ending `out of time` is."""


class CommitOutcome(Struct, frozen=True):
    """The store's answer to one board's commit. Only `DONE` changed the board."""

    status: CommitStatus
    length: int = 0
    """The present length of the log; 0 if there is no board."""
    at: Millis = Millis(0)
    """The time of the commit by the store's clock; 0 unless `DONE`."""
    number: int = 0
    """The number of the first entry, counted over all boards of a race; 0 unless `DONE`."""


class LogEntry(Struct, frozen=True):
    """A stored entry of a board's log."""

    text: str
    at: Millis
    number: int
    command_id: int


class StoredBoard(Struct, frozen=True, kw_only=True):
    """A board as the store holds it."""

    epoch: int
    last_id: int
    banked: int
    state: str
    entries: tuple[LogEntry, ...]
    active_at: Millis = BEGINNING
    """The time of the player's last stored sign of activity, other than entries; 0: none."""


class LiveStanding(Struct, frozen=True, array_like=True):
    """A racer's standing in a running race, as other players may see it."""

    length: int
    """The number of entries in the board's log. Of two standings, the one with more entries is newer."""
    banked: int
    state: State
    reached: Reached | None = None
    """When the count last rose to `banked`; `None` if it never rose above the deal's count."""

    def shows_same_as(self, other: "LiveStanding") -> bool:
        """Return whether other players see no difference between the two standings."""
        is_level = self.banked == other.banked and self.state is other.state
        return is_level and self.reached == other.reached


class RaceOpening(Struct, frozen=True, kw_only=True):
    """The boards to create when a race starts."""

    race: int
    start_at: Millis
    deadline: Millis
    """The end of the race; 0: no deadline."""
    banked: int
    """Cards on the foundations at the deal."""
    epochs: Mapping[str, int]
    """The epoch of each racer's present connection, by player."""


class RaceFinish(Struct, frozen=True, kw_only=True):
    """The record and settlement to store when a race is over."""

    race: int
    record: str
    settlement: bytes | None
    """The packed settlement for the outbox; `None` if no result counts for a leaderboard."""
    entries: int | None = None
    """The number of entries in all logs of the race; the change is not written if the store has another number."""


class TableWrite(Struct, frozen=True, kw_only=True):
    """An atomic change of a table."""

    code: str
    expected: int
    """The version on which this change was judged; 0: the table must not exist yet."""
    body: bytes
    """The table, packed; its version becomes `expected + 1`."""
    due: Millis | None
    """The time at which the table's next timer runs out."""
    epochs: Mapping[str, int] = {}
    """New connection epochs for boards of race `race`."""
    race: int = 0
    opening: RaceOpening | None = None
    finish: RaceFinish | None = None
    unraced: bool = False
    """True for a closed table without a race; it is kept for a shorter time."""


class PlayerRow(Struct, frozen=True, kw_only=True):
    """A player's row in the store."""

    player: str
    token_hash: str
    name: str | None = None
    bot: bool = False
    banned: bool = False
    last_id: int = 0
    """The highest command id accepted for the player (not for a table or a board)."""
    table: str | None = None
    """The table at which the player has a seat."""
    table_writes: int = 0
    """The writes of `table` so far."""
    created: Millis = Millis(0)
    hello: int = 0
    """The number of the player's newest hello; later hellos have higher numbers."""
    claims: tuple[int, ...] = ()
    """The ids of the player's newest `claim_name` commands."""
    joined: str = ""
    """The table and the id of the newest `join_table` that gave the player a seat."""


class RowTable(NamedTuple):
    """The table that a player's row names, as it was at one moment."""

    table: str
    writes: int
    """The writes of the row's table so far; each write raises it, also one of the same table."""


class Reservation(Struct, frozen=True, kw_only=True):
    """A table code reserved for a `create_table` command."""

    code: str
    name: str | None
    """The player's present name."""
    elsewhere: RowTable | None
    """The other table that the player's row names; `None` if it names `code` now."""
    is_repeat: bool = False
    """True if the code was reserved before, so the row was not changed now."""
    is_stale: bool = False
    """True if no code was reserved: the command's id is not larger than the ids accepted before."""


class Commits(Protocol):
    """The port for writes to the boards of races."""

    def commit(self, board: BoardCommit) -> Future[CommitOutcome]:
        """Start to append to a board, batched with other commits; return a future of the outcome.

        The commit is durable when the outcome arrives; repeating a commit is safe. Only one commit per
        board may be in flight. The future raises `StoreUnavailable` if the outcome is unknown.
        """


class BoardStore(Protocol):
    """The port for reads of the boards of races, and for signs of activity."""

    async def load_board(self, table: str, race: int, player: str) -> StoredBoard | None: ...

    async def load_standings(self, table: str, race: int) -> dict[str, LiveStanding]: ...

    async def note_active(self, table: str, race: int, player: str, at: Millis) -> None:
        """Store the time of a racer's sign of activity, unless a later one is stored."""


MOST_LISTED: Final = 100
"""The most public tables in one list."""

MOST_PLACES: Final = 8
"""The most public tables in the list that were opened from one address."""


class TableStore(Protocol):
    """The port for tables, their timers, and finished races."""

    async def now(self) -> Millis:
        """Return the time of the store's clock, by which every deadline is judged."""

    async def load_table(self, code: str) -> tuple[int, bytes] | None:
        """Return a table's version and packed body; `None` if there is none."""

    async def load_versions(self, codes: Sequence[str]) -> list[int]:
        """Return the version of each table; 0 if there is none."""

    async def save_table(self, write: TableWrite) -> bool:
        """Write a change durably; return False if the table has another version, or `finish` not all entries."""

    async def load_record(self, table: str, race: int) -> str | None: ...

    async def due(self, until: Millis, limit: int, since: Millis = BEGINNING) -> dict[str, Millis]:
        """Return the times of the timers that run out from `since` to `until`, by table, in order of time."""

    async def list_public(self) -> list[bytes]:
        """Return at most `MOST_LISTED` packed summaries: most connected people first, then newest first."""

    async def set_public(
        self, code: str, summary: bytes | None, opener: str = "", people: int = 0
    ) -> bool:
        """List a table as public, or with `None` remove it; return False if `opener` has no place left."""

    async def address_key(self) -> bytes:
        """Return the key for hashes of addresses (`opener`), the same on every node."""

    def all_codes(self) -> AsyncIterator[str]: ...


class PlayerStore(Protocol):
    """The port for players and their names."""

    async def load_player(self, player: str) -> PlayerRow | None: ...

    async def meet_player(self, player: str) -> PlayerRow | None:
        """Count a hello of the player and return the row with its number in `hello`."""

    async def load_names(self, players: Sequence[str]) -> dict[str, str]:
        """Return the present name of each player that has one."""

    async def create_player(self, row: PlayerRow) -> PlayerRow:
        """Store the player unless there is a row already; return the stored row."""

    async def claim_name(
        self, player: str, name: str, skeleton: str, command_id: int = 0, *, by_admin: bool = False
    ) -> bool | None:
        """Give the player a name and hold the old one; return False if another player has or holds its skeleton.

        Return `None` if the player does not exist, or this or a later command was carried out before. Only an
        administrator can give a name that is held for nobody.
        """

    async def find_player(self, skeleton: str) -> str | None:
        """Return the player who holds the name with that skeleton; empty: it is held for nobody."""

    async def stand_up(self, player: str, table: str, writes: int = 0) -> bool:
        """Remove the table from the player's row; return False if the row still names a table.

        With `writes`, nothing is removed if the row's table was written since.
        """

    async def sit(
        self, player: str, table: str, instead_of: RowTable | None = None
    ) -> RowTable | None:
        """Write `table` to the row, unless it names another one; return that one.

        The other one is replaced if it is `instead_of`, and was not written again since; if
        `instead_of.writes` is 0, even then.
        """

    async def note_join(self, player: str, table: str, command_id: int) -> None:
        """Note the player's newest `join_table`; the highest accepted command id never falls."""

    async def set_banned(self, player: str, banned: bool) -> None: ...

    async def reserve_table(
        self, player: str, command_id: int, code: str, instead_of: str | None = None
    ) -> Reservation:
        """Reserve a table code for the player's `create_table` command, and write it to the player's row.

        A repeated command gets the same code, unless that is `instead_of`, and the row stays as it is. The
        codes of the newest commands are kept. The code is empty if the player does not exist, or `is_stale`.
        """

    async def forget_player(self, player: str) -> None:
        """Delete the player's name and row."""


class AuditLog(Protocol):
    """The port for the log of administrators' actions."""

    async def append(self, act: Mapping[str, str]) -> None: ...

    async def forget(self, target: str) -> None:
        """Remove the details, which may be names, from the entries about a player."""
        ...

    async def read(self, limit: int) -> list[dict[str, str]]: ...


class NodeStore(Protocol):
    """The port for heartbeats of nodes."""

    async def beat(self, node: str) -> None:
        """Record a heartbeat of this node; it is valid for a few seconds."""

    async def gone(self, node: str) -> None:
        """Record that this node has stopped."""

    async def dead(self, nodes: Iterable[str]) -> frozenset[str]:
        """Return the nodes among `nodes` that are dead."""


class StoreUnavailable(Exception):
    """A store that did not answer. Whether a write happened is unknown; repeating the write is safe."""


class Damage(ValueError):
    """Stored data that cannot be what the server wrote; the text says what is wrong."""


class StoreRefused(Exception):
    """A store that cannot be used; the text says why, and what to do."""
