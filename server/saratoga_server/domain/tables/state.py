"""What a table is: its seats, its settings, the race that it is at.

A table is a value. The transitions in the modules beside this one make the next table from it
and never change the one they were given; the store keeps the newest, packed (`packing`).
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from saratoga_protocol.events import Outcome
from saratoga_protocol.refusals import REASONS
from saratoga_rules.fairness import commitment
from saratoga_rules.games import RULES_VERSION
from saratoga_server.ports import Millis

FORMAT: Final = 1
"""Of a packed table. Grows when an older node would misread what a newer one writes; a new field with a
default is no such thing."""

NO_TIME: Final = Millis(0)
"""For a moment that has not come."""

ACCEPTED_KEPT: Final = 8
"""Command ids of a seat. More than that nobody has on the way at once who means well."""


class Phase(StrEnum):
    """Where a table stands between two races (`phases` draws the way from one to the next)."""

    GATHERING = "gathering"
    COUNTDOWN = "countdown"
    RUNNING = "running"
    OVER = "over"
    CLOSED = "closed"


class Settings(Struct, frozen=True, kw_only=True):
    """What the host chose."""

    game: str
    cap: int = 10
    """Minutes; 0 is no cap, at private tables only."""
    seats: int = 16
    public: bool = False


class Seat(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player's place at the table."""

    player: str
    name: str
    bot: bool = False
    nonce_hash: str = ""
    """What the player said *ready* with; empty: not ready."""
    epoch: int = 0
    """Of the player's newest connection; grows over the whole table, so none comes twice."""
    hello: int = 0
    """The number of that connection's hello (`ports.PlayerRow`): a newer connection has a higher one."""
    node: str = ""
    """The node that holds that connection; empty: not connected."""
    absent_since: Millis = NO_TIME
    """When the connection was lost."""
    last_id: int = 0
    """The highest command id accepted from this seat."""
    accepted: tuple[int, ...] = ()
    """The last few of them, `last_id` as the last, unless an older node has written it since."""
    untold: int = 0
    """Of ids up to this one nobody can say whether they were carried out: older nodes, which keep no
    `accepted`, have written some of them, or they came from an earlier seat of the player's."""
    races: int = 0
    wins: int = 0
    net: int = 0
    """Casino dollars over the races raced from this seat."""

    def having_told(self, command_id: int) -> "Seat":
        """The seat, when a command of that id was accepted from it."""
        told = dict.fromkeys((*self.accepted, self.last_id, command_id))
        return replace(
            self,
            last_id=command_id,
            accepted=tuple(told)[-ACCEPTED_KEPT:],
            untold=self.untold_now,
        )

    @property
    def untold_now(self) -> int:
        """`untold`, and what an older node has added to it."""
        return self.untold if self.accepted[-1:] == (self.last_id,) else self.last_id

    @property
    def is_ready(self) -> bool:
        return bool(self.nonce_hash)

    @property
    def is_connected(self) -> bool:
        return bool(self.node)


class TableState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A table, whole: what the house must know of it, secrets and all.

    Only `public_view` may be shown.
    """

    code: str
    settings: Settings
    created: Millis
    touched: Millis
    """When somebody last did something here."""
    phase: Phase = Phase.GATHERING
    host: str = ""
    """The host's player id; empty while nobody is seated."""
    seats: tuple[Seat, ...] = ()
    """In the order in which they were taken."""
    kicked: tuple[str, ...] = ()
    departed: dict[str, int] = {}
    """Of the players who left last: the highest command id accepted from their seats."""
    epoch: int = 0
    """The highest that any seat was given."""
    race: int = 1
    """The number of the race that is gathering, running or over."""
    rules_version: int = RULES_VERSION
    seed: str = ""
    """Of that race's deal, in hexadecimal. Secret until the race is over."""
    chosen_seed: bool = False
    """Somebody chose the seed: such a race is not ranked."""
    commitment: str = ""
    racers: tuple[str, ...] = ()
    """The players in the race, from the countdown on."""
    racer_names: dict[str, str] = {}
    """As they were called at the countdown: what a record says, whoever is renamed or leaves."""
    racer_bots: tuple[str, ...] = ()
    """Those of the racers who are bots."""
    nonces: dict[str, str] = {}
    """As shown in the countdown. Secret until the race is over."""
    deal_key: str = ""
    """In hexadecimal, once all nonces are in. Secret until the race is over."""
    left: tuple[str, ...] = ()
    """Racers who left the running race: the house ends their boards."""
    reveal_by: Millis = NO_TIME
    start_at: Millis = NO_TIME
    deadline: Millis = NO_TIME
    """When the cap ends the race; 0: no cap."""
    looked: Millis = NO_TIME
    """When the house was last asked to look over the running boards."""
    outcome: Outcome | None = None
    notice: str = ""
    """What happened last, for people."""
    format: int = FORMAT
    unknown: dict[str, Any] = {}
    """What a newer node wrote beside this, by where: it is not ours to lose (`packing`)."""

    @property
    def race_id(self) -> str:
        return f"{self.code}/{self.race}"

    @property
    def missing(self) -> tuple[str, ...]:
        """The racers who have not shown their nonces."""
        return tuple(player for player in self.racers if player not in self.nonces)

    def seat(self, player: str) -> Seat | None:
        return next((seat for seat in self.seats if seat.player == player), None)

    def is_racing(self, player: str) -> bool:
        """Whether the player is in a countdown or a running race here, and has not left it."""
        is_on = self.phase in (Phase.COUNTDOWN, Phase.RUNNING)
        return is_on and player in self.racers and player not in self.left

    def name(self, player: str) -> str:
        """What to call the player, seated, racing, or gone."""
        seat = self.seat(player)
        return seat.name if seat else self.racer_names.get(player, player)

    def with_seat(self, seat: Seat) -> "TableState":
        """The table with this seat in the place of its player's old one."""
        seats = tuple(seat if old.player == seat.player else old for old in self.seats)
        return replace(self, seats=seats)


class RaceStarted(Struct, frozen=True):
    """The countdown is through: open the racers' boards and deal."""


class RacerLeft(Struct, frozen=True):
    """Somebody left the running race: end the board, if it has not ended."""

    player: str


class SeatLost(Struct, frozen=True):
    """Somebody's seat is gone who did not ask for it: say why."""

    player: str
    reason: str
    """For people."""


class CountdownVoided(Struct, frozen=True):
    """There is no race; the table gathers again."""

    missing: tuple[str, ...]
    """Who did not show a nonce; empty if a racer went instead."""


class BoardsDue(Struct, frozen=True):
    """Look over the running boards: out of time, idle, or left by a racer who is gone."""


class TableClosed(Struct, frozen=True):
    """The table is closed for good."""

    reason: str
    """For people."""


Effect: TypeAlias = RaceStarted | RacerLeft | SeatLost | CountdownVoided | BoardsDue | TableClosed


class Change(Struct, frozen=True):
    """The next table, and what the house has to do once that table is durable."""

    table: TableState
    effects: tuple[Effect, ...] = ()

    def then(self, other: "Change") -> "Change":
        """This change followed by one made from its table."""
        return Change(other.table, self.effects + other.effects)


class Refusal(Exception):
    """A no. Whoever raises it has changed nothing."""

    def __init__(self, code: str, detail: str = "", wait: float = 0.0) -> None:
        reason = REASONS[code]
        self.code: Final = code
        self.detail: Final = detail or reason.sentence
        """What was wrong, and what to do; for people."""
        self.retry: Final = reason.retry
        self.wait: Final = wait
        """Seconds after which it may be a yes; 0: nobody knows."""
        super().__init__(f"{code}: {self.detail}")


def with_new_deal(table: TableState, seed: bytes) -> TableState:
    """The table gathering for a deal that nobody knows yet: new commitment, nobody ready."""
    return replace(
        table,
        phase=Phase.GATHERING,
        seats=tuple(replace(seat, nonce_hash="") for seat in table.seats),
        rules_version=RULES_VERSION,
        seed=seed.hex(),
        chosen_seed=False,
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
