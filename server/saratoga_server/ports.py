"""What the server needs of a store, as small interfaces that adapters fill.

Nothing here does I/O. Every write is safe to repeat: a command whose reply was lost is sent again, and a
node may die between two writes. Structs, because a frozen dataclass takes ten times as
long to fill and 1 ms of every start to define.
"""

from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Final, NewType, Protocol

from msgspec import Struct

from saratoga_protocol.events import Result
from saratoga_rules.records.standing import Reached, State

Millis = NewType("Millis", int)
"""Milliseconds since 1970 UTC, by the store's clock."""


class CommitStatus(Enum):
    """What became of one board's commit."""

    DONE = 0
    REPEAT = 1
    """The command was accepted before, or the server's own entries are there already."""
    STALE = 2
    """Another write came first: `length` is the log's present length."""
    FENCED = 3
    """A newer connection of the player has taken over."""
    TIME_UP = 4
    """The deadline has passed."""
    BOARD_OVER = 5
    """The board has ended."""
    NO_BOARD = 6
    """There is no such board: boards are opened at the start."""


class BoardCommit(Struct, frozen=True, kw_only=True):
    """Entries to append to one board's log, judged already."""

    table: str
    race: int
    player: str
    epoch: int
    """Of the player's connection; 0 for entries of the server's own, which no fence stops."""
    command_id: int
    """Of the player's command; 0 for the server's own."""
    after: int
    """The length of the log that these entries continue."""
    entries: tuple[str, ...]
    """Moves, and at most one ending as the last (`saratoga_rules.records.record.ENDINGS`)."""
    banked: int
    state: str
    """The board's state afterwards; anything but `racing` ends it."""
    rises: bool
    """Whether the last move among these entries raised `banked`."""
    late: bool = False
    """Accepted after the deadline too: the ending `out of time` is."""


class CommitOutcome(Struct, frozen=True):
    """The store's answer for one board. Only `DONE` changed anything."""

    status: CommitStatus
    length: int = 0
    """Of the log, now; 0 without a board."""
    at: Millis = Millis(0)
    """When, by the store's clock; like `number` 0 unless `DONE`."""
    number: int = 0
    """Of the first entry: entries are numbered 1, 2, 3 ... over all boards of a race."""


class LogEntry(Struct, frozen=True):
    """One entry of a board's log."""

    text: str
    at: Millis
    number: int
    command_id: int


class StoredBoard(Struct, frozen=True, kw_only=True):
    """What the store holds of a board."""

    epoch: int
    last_id: int
    banked: int
    state: str
    entries: tuple[LogEntry, ...]


class LiveStanding(Struct, frozen=True, array_like=True):
    """Where a racer stands, as others may know it: in the store, between nodes, in memory."""

    length: int
    """Entries in the board's log. The standing with more entries is the newer one."""
    banked: int
    state: State
    reached: Reached | None = None
    """When `banked` was last reached by rising to it; `None`: never bettered since the deal."""

    def shows_same_as(self, other: "LiveStanding") -> bool:
        """Whether others see no difference: most moves bank nothing."""
        return (
            self.banked == other.banked
            and self.state is other.state
            and (self.reached == other.reached)
        )


class RaceOpening(Struct, frozen=True, kw_only=True):
    """Boards to be opened with a table's change to running."""

    race: int
    start_at: Millis
    deadline: Millis
    """0: none."""
    banked: int
    """On the foundations at the deal."""
    epochs: Mapping[str, int]
    """The racers, each with the epoch of the present connection."""


class RaceFinish(Struct, frozen=True, kw_only=True):
    """What a table's change to over writes beside the table."""

    race: int
    record: str
    settlement: bytes | None
    """For the outbox; `None` if no leaderboard takes it."""


class TableWrite(Struct, frozen=True, kw_only=True):
    """One change of a table: all of it happens, or none."""

    code: str
    expected: int
    """The version that this change was judged on; 0: the table must not exist yet."""
    body: bytes
    """The table, packed; its version becomes `expected + 1`."""
    due: Millis | None
    """When a timer of the table runs out next."""
    epochs: Mapping[str, int] = {}
    """New connection epochs for boards of race `race`."""
    race: int = 0
    opening: RaceOpening | None = None
    finish: RaceFinish | None = None
    unraced: bool = False
    """The table is closed and never saw a race: it need not be kept as long as one that did."""


class PlayerRow(Struct, frozen=True, kw_only=True):
    """What the store keeps of a player."""

    player: str
    token_hash: str
    name: str | None = None
    bot: bool = False
    banned: bool = False
    last_id: int = 0
    """The highest command id accepted for the player (not for a table or a board)."""
    table: str | None = None
    """Where the player sits."""
    created: Millis = Millis(0)
    hello: int = 0
    """The number of the player's newest hello; a later one has a higher number."""


class Reservation(Struct, frozen=True, kw_only=True):
    """A table code that belongs to a `create_table` command."""

    code: str
    name: str | None
    """The player's present name."""
    elsewhere: str | None
    """The other table at which the player's row says they sit; `None`: it names `code` now."""


class Commits(Protocol):
    """Writes to the boards of races."""

    def commit(self, board: BoardCommit) -> Awaitable[CommitOutcome]:
        """Append to a board, together with others; durable when awaited. It starts when called.

        One board's failure never fails another's. At most one commit per board is in flight. Raises
        `StoreUnavailable` if its outcome is unknown; repeating is safe.
        """
        ...


class BoardStore(Protocol):
    """The boards of races: logs of moves."""

    async def load_board(self, table: str, race: int, player: str) -> StoredBoard | None: ...

    async def load_standings(self, table: str, race: int) -> dict[str, LiveStanding]: ...


MOST_LISTED: Final = 100
"""Public tables that are shown at once."""


class TableStore(Protocol):
    """Tables, their timers, and finished races."""

    async def now(self) -> Millis:
        """Read the store's clock, by which every deadline is judged."""
        ...

    async def load_table(self, code: str) -> tuple[int, bytes] | None:
        """Return version and packed body."""
        ...

    async def load_versions(self, codes: Sequence[str]) -> list[int]:
        """Of each table; 0: there is none."""
        ...

    async def save_table(self, write: TableWrite) -> bool:
        """Durable when it returns. False: the table's version is not the expected one any more."""
        ...

    async def load_record(self, table: str, race: int) -> str | None: ...

    async def due(self, until: Millis, limit: int) -> list[str]:
        """Codes of tables with a timer that has run out."""
        ...

    async def list_public(self) -> list[bytes]:
        """Summaries of the newest `MOST_LISTED` public tables, packed, newest first."""
        ...

    async def set_public(self, code: str, summary: bytes | None) -> None:
        """List a table, or (with `None`) list it no more."""
        ...

    def all_codes(self) -> AsyncIterator[str]: ...


class PlayerStore(Protocol):
    """Players and their names."""

    async def load_player(self, player: str) -> PlayerRow | None: ...

    async def meet_player(self, player: str) -> PlayerRow | None:
        """The player says hello: the row, with a number of its own in `hello`."""
        ...

    async def load_names(self, players: Sequence[str]) -> dict[str, str]:
        """The present name of each player that has one."""
        ...

    async def create_player(self, row: PlayerRow) -> PlayerRow:
        """Store the player unless there already; returns what is stored."""
        ...

    async def claim_name(self, player: str, name: str, skeleton: str) -> bool:
        """Take the name unless another player holds that skeleton; frees the player's old one."""
        ...

    async def find_player(self, skeleton: str) -> str | None:
        """Return the player who holds the name with that skeleton."""
        ...

    async def stand_up(self, player: str, table: str) -> None:
        """Note that the player left the table; one who sits elsewhere meanwhile stays there."""
        ...

    async def sit(self, player: str, table: str, instead_of: str | None = None) -> str | None:
        """Note that the player sits at `table`; or return where else they sit, `instead_of` apart."""
        ...

    async def raise_last_id(self, player: str, command_id: int) -> None:
        """Remember that the player's ids have come as far as that, at least."""
        ...

    async def set_banned(self, player: str, banned: bool) -> None: ...

    async def reserve_table(
        self, player: str, command_id: int, code: str, instead_of: str | None = None
    ) -> Reservation:
        """Reserve a table code for the player's `create_table` command, and sit the player there.

        A repeated command gets the code of before, unless that is `instead_of`. The codes of the
        player's two newest commands are kept.
        """
        ...

    async def forget_player(self, player: str) -> None:
        """Delete the name and the row on request."""
        ...


class Settlement(Struct, frozen=True, kw_only=True):
    """A finished race on its way to the leaderboards."""

    race: str
    game: str
    start_at: Millis
    """Decides the periods, in UTC."""
    results: tuple[Result, ...]
    """Of the racers that the leaderboards take, in order of finish."""


class BoardKey(Struct, frozen=True, kw_only=True):
    """One leaderboard of one game and period."""

    game: str
    ranking: str
    """`best` or `bankroll`."""
    period: str
    """`2026-09-01`, `2026-W36`, `2026-09` or `all`."""
    bots: bool


class RankedRow(Struct, frozen=True, kw_only=True):
    """A row of a leaderboard, without the name."""

    rank: int
    player: str
    value: int
    net: int
    elapsed: int | None
    race: str
    races: int


class LeaderboardStore(Protocol):
    """Rankings kept across races."""

    async def settle_outbox(self, limit: int) -> list[Settlement]:
        """Apply waiting settlements, each exactly once in effect; returns those applied now."""
        ...

    async def settle_unread(self) -> tuple[list[Settlement], int]:
        """Apply what was put by unread (forgotten players left out); also returns how many are left."""
        ...

    async def page(self, key: BoardKey, offset: int, limit: int) -> tuple[int, list[RankedRow]]:
        """How many rows there are, and the asked ones."""
        ...

    async def row(self, key: BoardKey, player: str) -> RankedRow | None: ...

    async def void_race(self, game: str, race: str) -> bool:
        """Take a race's results off every leaderboard again. False: it was never settled."""
        ...

    async def forget_results(self, player: str) -> None:
        """Take a player's results off every leaderboard, on request."""
        ...


class AuditLog(Protocol):
    """What administrators did; read with the newest first."""

    async def append(self, act: Mapping[str, str]) -> None: ...

    async def read(self, limit: int) -> list[dict[str, str]]: ...


class NodeStore(Protocol):
    """Which server processes live."""

    async def beat(self, node: str) -> None:
        """Say that this node lives; holds for a few seconds."""
        ...

    async def gone(self, node: str) -> None:
        """Say that this node has stopped."""
        ...

    async def dead(self, nodes: Iterable[str]) -> frozenset[str]:
        """Return those of the nodes that are dead."""
        ...


class StoreHealth(Struct, frozen=True, kw_only=True):
    """The health of one primary of the store; only its name if it does not answer."""

    primary: str
    is_up: bool
    memory: int = 0
    """Bytes in use."""
    memory_limit: int = 0
    """The store's maxmemory in bytes; 0 = unlimited."""
    replicas: int = 0
    """Replicas in step."""
    is_appending: bool = False
    """Whether its last write reached its file: a full disk shows here."""
    file_size: int = 0
    """Bytes of the append-only files."""


class StoreUnavailable(Exception):
    """The store did not answer. It is unknown whether a write happened; repeating it is safe."""


class StoreRefused(Exception):
    """The store cannot be used; the text says why, and what to do."""
