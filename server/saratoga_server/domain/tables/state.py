"""The state of a table: seats, settings and current race; its public view and packed form.

A table is a value: transitions, in the other modules of this package, return the next table.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from saratoga_protocol.events import Ended, Match, Outcome, Racer, TableSettings
from saratoga_protocol.events import Seat as WireSeat
from saratoga_protocol.events import Table as WireTable
from saratoga_protocol.refusals import REASONS, RETRIED
from saratoga_rules.games import RULES
from saratoga_rules.records.standing import State
from saratoga_server.ports import Damage, Millis, RaceFinish, Run

NO_TIME: Final = Millis(0)
"""The value of a time that is not set."""

MOST_BLOCKED: Final = 64
"""The number of players who voided a countdown that a table remembers, the last ones."""


class TablePhase(StrEnum):
    """The phase of a table (`phases` shows which follows which)."""

    GATHERING = "gathering"
    CALL = "call"
    COUNTDOWN = "countdown"
    RUNNING = "running"
    OVER = "over"
    CLOSED = "closed"


class TableSeat(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player's place at the table."""

    player: str
    name: str
    bot: bool = False
    level: str = ""
    """How strong the bot is, by the account of its newest connection; empty if unknown."""
    nonce_hash: str = ""
    """The nonce hash sent with *ready*; empty if the player is not ready."""
    epoch: int = 0
    """The epoch of the player's newest connection: higher than all earlier ones at the table."""
    hello: int = 0
    """The hello number of that connection; newer connections have higher numbers."""
    node: str = ""
    """The node of that connection; empty if the player is not connected."""
    absent_since: Millis = NO_TIME
    """The time at which the connection was lost."""
    races: int = 0
    wins: int = 0
    net: int = 0
    """Casino dollars won or lost in all races from this seat."""

    @property
    def is_ready(self) -> bool:
        return bool(self.nonce_hash)

    @property
    def is_connected(self) -> bool:
        return bool(self.node)


class OpenRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a table knows of the open race that is run at it."""

    id: str
    kind: str
    opened: Millis
    closes: Millis
    young: bool = False
    """As in `ports.Run`."""
    ghosts: tuple[Run, ...] = ()
    """The earlier runs whose counts the player sees, each up to the player's own elapsed time."""


class TableState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a table, with secrets. Only its `public_view` is sent to players."""

    code: str
    settings: TableSettings
    created: Millis
    touched: Millis
    """The time of the last command at the table."""
    phase: TablePhase = TablePhase.GATHERING
    host: str = ""
    """The host's player id; empty if no player is seated."""
    seats: tuple[TableSeat, ...] = ()
    """The seats, in the order in which they were taken."""
    kicked: tuple[str, ...] = ()
    locked: bool = False
    """Whether the host has locked the table: nobody new can take a seat."""
    epoch: int = 0
    """The highest epoch given to any seat."""
    race: int = 1
    """The number of the race that is gathering, running or over."""
    rules_version: int = 1
    """The default is the first version, never the newest: `pack` leaves defaults out."""
    seed: str = ""
    """The seed of that race's deal, in hexadecimal. Secret until the race is over."""
    commitment: str = ""
    call_until: Millis = NO_TIME
    """The end of the call in which players may still get ready, from *start* on."""
    racers: dict[str, Racer] = {}
    """The racers of the race by player id, from the end of the call on; they never change."""
    nonces: dict[str, str] = {}
    """The racers' nonces, as revealed in the countdown. Secret until the race is over."""
    deal_key: str = ""
    """The deal key in hexadecimal, once all nonces are revealed. Secret until the race is over."""
    left: dict[str, State] = {}
    """The racers who lost their seats in the running race; their boards end as `left` or `gone`."""
    reveal_by: Millis = NO_TIME
    is_begun_again: bool = False
    """Whether the countdown has begun again because of the server."""
    lost_node: bool = False
    """Whether a racer's node died in the countdown before the racer's nonce came."""
    start_at: Millis = NO_TIME
    deadline: Millis = NO_TIME
    """The time at which the time limit ends the race; 0 = no time limit."""
    ranked: bool = False
    """Whether the race counts for the people's leaderboards; fixed at its start (`ranked`)."""
    ranked_bots: bool = False
    """Whether the race counts for the bots' leaderboards; fixed at its start."""
    last_racer: str = ""
    """The only player who still races in a race of several; empty while others do, too."""
    end_from: Millis = NO_TIME
    """The time from which the host may end the board of `last_racer`."""
    is_ended_by_host: bool = False
    """Whether the host has ended that board; the server stores its ending."""
    votes: tuple[str, ...] = ()
    """The racers who want to end the race: one whose board had ended asked first."""
    deposed: str = ""
    """The first host who was silent too long or left, since one was chosen by hand; or empty."""
    waited_since: Millis = NO_TIME
    """The time from which the silence of a racer or of the host counts, because others wait since
    then: the end of the last race, the choice of the host, or the coming of the first other player."""
    outcome: Outcome | None = None
    notice: str = ""
    """A sentence for players about the last change."""
    previous: Ended | None = None
    """The table's last race that is over or was voided; the next record names it."""
    voids: dict[str, int] = {}
    """The number of countdowns that a player voided, by player id."""
    blocked: tuple[str, ...] = ()
    """The players among them who may not get ready again until the host allows it."""
    match: Match | None = None
    """The match in progress, or the one that the finished race has ended (`matches`)."""
    open: OpenRun | None = None
    """The open race of which one player's run is played here; `None` at a table for friends. Such a
    table has one race, in which the deal is fixed from the beginning and the player is the only
    racer."""
    voided: RaceFinish | None = None
    """The record of the race or countdown that this change voids, which is stored beside the table
    and not in it: a table that was read has none."""

    @property
    def race_id(self) -> str:
        return f"{self.code}/{self.race}"

    @property
    def deal_id(self) -> str:
        """The id that goes into the deal key and the heads: of the race, or of the open race."""
        return self.open.id if self.open else self.race_id

    @property
    def missing(self) -> tuple[str, ...]:
        """The racers who have not revealed their nonces."""
        return tuple(player for player in self.racers if player not in self.nonces)

    def seat(self, player: str) -> TableSeat | None:
        return next((seat for seat in self.seats if seat.player == player), None)

    def without(self, *gone: TableSeat) -> "TableState":
        """Return the table without these seats."""
        return replace(self, seats=tuple(seat for seat in self.seats if seat not in gone))

    def is_racing(self, player: str) -> bool:
        """Return whether the player is in the countdown or the running race and has not left it."""
        is_on = self.phase in (TablePhase.COUNTDOWN, TablePhase.RUNNING)
        return is_on and player in self.racers and player not in self.left

    def has_others(self, player: str) -> bool:
        """Return whether anyone else at the table may be waiting for the player."""
        return any(seat.player != player for seat in self.seats)

    def is_blocked(self, player: str) -> bool:
        """Return whether the player may get ready only if the host allows it."""
        return player in self.blocked and player != self.host

    def blaming(self, *players: str) -> "TableState":
        """Return the table that remembers that these players voided a countdown."""
        voids = dict(self.voids)
        for player in players:
            voids[player] = voids.pop(player, 0) + 1
        voids = dict([*voids.items()][-MOST_BLOCKED:])
        blocked = {*self.blocked, *players}
        return replace(self, voids=voids, blocked=tuple(each for each in voids if each in blocked))

    def name(self, player: str) -> str:
        """Return the name of a player who is or was at the table."""
        seat = self.seat(player)
        if seat is None and player in self.racers:
            return self.racers[player].name
        return seat.name if seat else player

    def with_seat(self, seat: TableSeat) -> "TableState":
        """Return the table with this seat in place of its player's old one."""
        seats = tuple(seat if old.player == seat.player else old for old in self.seats)
        return replace(self, seats=seats)


class CommandRejected(Exception):
    """The refusal of a command or change; nothing has changed."""

    def __init__(self, code: str, detail: str = "", wait: float = 0.0) -> None:
        self.code: Final = code
        self.detail: Final = detail or REASONS[code]
        """A sentence for the player: what was wrong, and what to do."""
        self.retry: Final = code in RETRIED
        self.wait: Final = wait
        """Seconds after which the command may be allowed; 0 = unknown."""
        super().__init__(f"{code}: {self.detail}")


def listed(names: Iterable[str]) -> str:
    """Return the names as text: `Ann`, `Ann and Ben`, `Ann, Ben and Cleo`."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


# A table for its players, and as the store keeps it


def public_view(
    table: TableState, version: int, owner: str = "", bots: Sequence[str] = ()
) -> WireTable:
    """Return the table for the wire, without seed, nonces, deal key and node names.

    `owner` is the player id of the server's owner, `bots` the strengths of the bots that can be
    added.
    """
    return WireTable(
        code=table.code,
        version=version,
        host=table.host,
        phase=table.phase.value,
        settings=table.settings,
        race=table.race_id,
        rules=table.rules_version,
        commitment=table.commitment,
        seats=[_public_seat(table, seat, owner) for seat in table.seats],
        call_until=table.call_until,
        racers=[*table.racers.values(), *_ghosts(table)],
        reveal_by=table.reveal_by,
        start_at=table.start_at,
        deadline=table.deadline,
        ranked=table.ranked,
        notice=table.notice,
        locked=table.locked,
        last_racer=table.last_racer,
        end_from=table.end_from,
        votes=list(table.votes),
        bots=list(bots),
        previous=table.previous,
        open="" if table.open is None else table.open.id,
    )


def _ghosts(table: TableState) -> list[Racer]:
    ghosts = () if table.open is None else table.open.ghosts
    return [
        Racer(player=each.player, name=each.name, bot=each.bot, nonce_hash="", ghost=True)
        for each in ghosts
    ]


def _public_seat(table: TableState, seat: TableSeat, owner: str) -> WireSeat:
    return WireSeat(
        player=seat.player,
        name=seat.name,
        bot=seat.bot,
        level=seat.level,
        ready=seat.is_ready,
        connected=seat.is_connected,
        races=seat.races,
        wins=seat.wins,
        net=seat.net,
        voids=table.voids.get(seat.player, 0),
        blocked=table.is_blocked(seat.player),
        epoch=seat.epoch,
        owner=seat.player == owner,
    )


_DECODER = msgspec.msgpack.Decoder(TableState)


def pack(table: TableState) -> bytes:
    """Return the table packed; equal tables give equal bytes."""
    return msgspec.msgpack.encode(table)


def unpack(body: bytes) -> TableState:
    """Return the table that `pack` packed. Raises `Damage` on other bytes."""
    try:
        state = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Damage(f"this is not a packed table: {error}") from error
    if state.settings.game not in RULES.get(state.rules_version, ()):
        raise Damage(f"this release does not know the game {state.settings.game!r}")
    return state
