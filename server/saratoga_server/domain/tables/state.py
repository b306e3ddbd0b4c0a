"""What a table is: its seats, its settings, the race that it is at.

A table is a value: transitions, in the modules beside this one, return the next table. The store
keeps the newest, packed (`packing`).
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from saratoga_protocol.events import Outcome
from saratoga_protocol.refusals import REASONS
from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.games import RULES_VERSION
from saratoga_server.ports import Millis

FORMAT: Final = 1
"""Format of a packed table. Raised when an older node would misread what a newer one writes; a new field
with a default needs no raise."""

NO_TIME: Final = Millis(0)
"""No time set."""

ACCEPTED_KEPT: Final = 8
"""Command ids remembered of a seat: more than an honest client has in flight."""


class TablePhase(StrEnum):
    """The phase of a table (`phases` shows which follows which)."""

    GATHERING = "gathering"
    COUNTDOWN = "countdown"
    RUNNING = "running"
    OVER = "over"
    CLOSED = "closed"


class TableOptions(Struct, frozen=True, kw_only=True):
    """What the host chose."""

    game: str
    cap: int = 10
    """Minutes; 0 is no cap, at private tables only."""
    seats: int = 16
    public: bool = False


class TableSeat(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player's place at the table."""

    player: str
    name: str
    bot: bool = False
    nonce_hash: str = ""
    """The hash given with *ready*; empty: not ready."""
    epoch: int = 0
    """Epoch of the player's newest connection, unique at the table and rising."""
    hello: int = 0
    """The number of that connection's hello (`ports.PlayerRow`): a newer connection has a higher one."""
    node: str = ""
    """The node that holds that connection; empty: not connected."""
    absent_since: Millis = NO_TIME
    """When the connection was lost."""
    last_id: int = 0
    """The highest command id accepted from this seat."""
    accepted: tuple[int, ...] = ()
    """The last few of them; `last_id` is the last."""
    earlier_seat: int = 0
    """Ids up to this one belong to an earlier seat of the player's: it is unknown which were accepted."""
    races: int = 0
    wins: int = 0
    net: int = 0
    """Casino dollars over the races raced from this seat."""

    def with_accepted(self, command_id: int) -> "TableSeat":
        """Return the seat after a command of that id was accepted from it."""
        accepted = (*self.accepted, command_id)[-ACCEPTED_KEPT:]
        return replace(self, last_id=command_id, accepted=accepted)

    @property
    def is_ready(self) -> bool:
        return bool(self.nonce_hash)

    @property
    def is_connected(self) -> bool:
        return bool(self.node)


class TableState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A whole table, secrets included. Only `public_view` may be shown."""

    code: str
    settings: TableOptions
    created: Millis
    touched: Millis
    """When somebody last did something here."""
    phase: TablePhase = TablePhase.GATHERING
    host: str = ""
    """The host's player id; empty while nobody is seated."""
    seats: tuple[TableSeat, ...] = ()
    """In the order in which they were taken."""
    kicked: tuple[str, ...] = ()
    departed: dict[str, int] = {}
    """For the players who left last: the highest command id accepted from their seats."""
    epoch: int = 0
    """The highest epoch that any seat was given."""
    race: int = 1
    """Number of the race that is gathering, running or over."""
    rules_version: int = RULES_VERSION
    seed: str = ""
    """Seed of that race's deal, in hexadecimal. Secret until the race is over."""
    commitment: str = ""
    racers: tuple[str, ...] = ()
    """The players in the race, from the countdown on."""
    racer_names: dict[str, str] = {}
    """Names at the countdown: the record keeps them, though players are renamed or leave."""
    racer_bots: tuple[str, ...] = ()
    """Those of the racers who are bots."""
    nonces: dict[str, str] = {}
    """As revealed in the countdown. Secret until the race is over."""
    deal_key: str = ""
    """In hexadecimal, once all nonces are revealed. Secret until the race is over."""
    left: tuple[str, ...] = ()
    """Racers who left the running race: the server ends their boards."""
    reveal_by: Millis = NO_TIME
    start_at: Millis = NO_TIME
    deadline: Millis = NO_TIME
    """When the cap ends the race; 0: no cap."""
    looked: Millis = NO_TIME
    """When the running boards were last checked."""
    outcome: Outcome | None = None
    notice: str = ""
    """What happened last, for people."""
    format: int = FORMAT
    unknown: dict[str, Any] = {}
    """Fields that a newer node wrote, by where: they are kept (`packing`)."""

    @property
    def race_id(self) -> str:
        return f"{self.code}/{self.race}"

    @property
    def missing(self) -> tuple[str, ...]:
        """The racers who have not revealed their nonces."""
        return tuple(player for player in self.racers if player not in self.nonces)

    def seat(self, player: str) -> TableSeat | None:
        return next((seat for seat in self.seats if seat.player == player), None)

    def is_racing(self, player: str) -> bool:
        """Whether the player is in a countdown or a running race here, and has not left it."""
        is_on = self.phase in (TablePhase.COUNTDOWN, TablePhase.RUNNING)
        return is_on and player in self.racers and player not in self.left

    def name(self, player: str) -> str:
        """Return the player's name, seated, racing, or gone."""
        seat = self.seat(player)
        return seat.name if seat else self.racer_names.get(player, player)

    def with_seat(self, seat: TableSeat) -> "TableState":
        """Return the table with this seat in place of its player's old one."""
        seats = tuple(seat if old.player == seat.player else old for old in self.seats)
        return replace(self, seats=seats)


class RaceStarted(Struct, frozen=True):
    """The countdown has ended: open the racers' boards and deal."""


class RacerLeft(Struct, frozen=True):
    """A racer left the running race: end the board, if it has not ended."""

    player: str


class SeatVacated(Struct, frozen=True):
    """A player lost the seat without asking for it: tell them why."""

    player: str
    reason: str
    """For people."""


class CountdownVoided(Struct, frozen=True):
    """The countdown was voided; the table gathers again."""


class BoardsDue(Struct, frozen=True):
    """Check the running boards: out of time, idle, or left by a racer who is gone."""


class TableClosed(Struct, frozen=True):
    """The table is closed for good."""

    reason: str
    """For people."""


Effect: TypeAlias = (
    RaceStarted | RacerLeft | SeatVacated | CountdownVoided | BoardsDue | TableClosed
)


class Change(Struct, frozen=True):
    """The next table, and what is to be done once it is durable."""

    table: TableState
    effects: tuple[Effect, ...] = ()

    def then(self, other: "Change") -> "Change":
        """This change followed by one made from its table."""
        return Change(other.table, self.effects + other.effects)


class CommandRejected(Exception):
    """A command or change is refused; nothing has changed."""

    def __init__(self, code: str, detail: str = "", wait: float = 0.0) -> None:
        reason = REASONS[code]
        self.code: Final = code
        self.detail: Final = detail or reason.sentence
        """What was wrong, and what to do; for people."""
        self.retry: Final = reason.retry
        self.wait: Final = wait
        """Seconds after which it may be allowed; 0: unknown."""
        super().__init__(f"{code}: {self.detail}")


def with_new_deal(table: TableState, seed: bytes) -> TableState:
    """Return the table gathering for a new deal: new commitment, nobody ready."""
    return replace(
        table,
        phase=TablePhase.GATHERING,
        seats=tuple(replace(seat, nonce_hash="") for seat in table.seats),
        rules_version=RULES_VERSION,
        seed=seed.hex(),
        commitment=commitment(seed, table.settings.game, RULES_VERSION, table.code, table.race),
        racers=(),
        racer_names={},
        racer_bots=(),
        nonces={},
        deal_key="",
        left=(),
        reveal_by=NO_TIME,
        start_at=NO_TIME,
        deadline=NO_TIME,
        looked=NO_TIME,
        outcome=None,
    )


def listed(names: Iterable[str]) -> str:
    """`Ann`, `Ann and Ben`, `Ann, Ben and Cleo`."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
