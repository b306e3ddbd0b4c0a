"""Everything the server may say to a player, one struct a message.

An event that answers a command carries its id as `re`; an event of the server's own has none.
Times are milliseconds since 1970 UTC by the server's clock unless a field says otherwise.
Cards are two characters, rank (`A23456789TJQK`) and suit (`CSHD`); a pile is one string of
cards from bottom to top. Nothing here can name a card that its receiver may not see: others'
boards are `Standing`s, and one's own is a `BoardView`. Readers ignore fields they do not know.
"""

from typing import TypeAlias

from msgspec import Struct


class TableSettings(Struct, frozen=True, kw_only=True):
    """What the host chose."""

    game: str
    cap: int
    """Minutes; 0 is no cap."""
    seats: int
    public: bool


class Seat(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player at the table."""

    player: str
    name: str
    bot: bool = False
    ready: bool = False
    connected: bool = True
    nonce_hash: str = ""
    """Of the ready player's nonce."""
    races: int = 0
    """How many races the player raced at this table."""
    wins: int = 0
    """How many of them the player came first in, alone or shared."""
    net: int = 0
    """Casino dollars over all of them."""


class Table(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A table as everyone at it sees it."""

    code: str
    version: int
    """Grows with every change; of two pictures the larger is the newer."""
    host: str
    phase: str
    """`gathering`, `countdown`, `running`, `over` or `closed`."""
    settings: TableSettings
    race: str
    """The id of the race that is gathering, running or over."""
    commitment: str
    """SHA-256 over the seed of that race (protocol/README.md, Fairness)."""
    seats: list[Seat]
    racers: list[str] = []
    """The players in the race, from the countdown on."""
    reveal_by: int = 0
    """Until when the nonces must be shown, in the countdown."""
    start_at: int = 0
    """When the deal comes."""
    deadline: int = 0
    """When the cap ends the race; 0 is no cap."""
    notice: str = ""
    """What happened last, for people: why a countdown was voided, who became host."""


class View(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A position as its player may see it."""

    stock: int
    waste: str = ""
    reserve: int = 0
    reserve_top: str = ""
    up: list[int] = []
    """Cards on each foundation that builds up, suit by suit (C S H D), a suit's piles side by side."""
    down: list[int] = []
    """Cards on each foundation that builds down."""
    columns: list[str] = []
    base: int = 1
    """The rank that starts the up foundations: 1 (ace) to 13 (king)."""
    passes: int = 1
    """The pass through the stock that is going on, from 1."""


class BoardView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One's own board."""

    race: str
    count: int
    """How many moves were made."""
    view: View
    banked: int
    net: int
    state: str
    """`racing`, `won`, `cashed out`, `stuck`, `out of time` or `left`."""
    legal: list[str] | None = None
    """Every legal move, where `Hello.legal` asked for it."""


class Standing(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a racer stands. While a race runs this is all that others see."""

    player: str
    place: int
    """From 1; equal racers share a place."""
    banked: int
    net: int
    state: str


class Result(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a racer came out of a race."""

    player: str
    name: str
    place: int
    banked: int
    net: int
    state: str
    moves: int
    bot: bool = False
    reached: int | None = None
    """Milliseconds from the start to when this count was last reached; absent: never bettered."""
    ended: int = 0
    """Milliseconds from the start to the end of this board."""
    tie: str = ""
    """What decided against a racer with the same net, for people."""


class Outcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished race, opened: the seed and nonces that made the deal, and who came where."""

    race: str
    game: str
    results: list[Result]
    seed: str
    nonces: dict[str, str]
    """By player."""
    digest: str
    """Chained over the whole record: `Record.text` must end in it."""
    ranked: bool = False


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """What every event has."""

    re: int | None = None
    """The id of the command that this answers."""


class Welcome(Event, frozen=True, kw_only=True, tag="welcome"):
    """The server knows who is there. Answers `Hello`."""

    player: str
    name: str | None
    bot: bool
    next_id: int
    """Use this id or a larger one next."""
    now: int
    server: str
    """Program and version."""
    node: str
    games: list[str]
    table: str | None = None
    """The table where the player still has a seat."""


class NameClaimed(Event, frozen=True, kw_only=True, tag="name_claimed"):
    """The name is the player's, as the server writes it. Answers `ClaimName`."""

    name: str


class Done(Event, frozen=True, kw_only=True, tag="done"):
    """The command was carried out; what it changed comes as events of its own."""


class Refused(Event, frozen=True, kw_only=True, tag="refused"):
    """The command was not carried out, and nothing was changed."""

    code: str
    """One of the closed list in `refusals`."""
    message: str
    """What was wrong, and what to do."""
    retry: bool = False
    """Whether the same command may work later."""
    wait: int = 0
    """Milliseconds before which it will not, where that is known."""
    board: BoardView | None = None
    """The present board, where the command was meant for another position."""


class Snapshot(Event, frozen=True, kw_only=True, tag="snapshot"):
    """All that one may know of a table at this moment."""

    table: Table
    now: int
    next_id: int = 1
    board: BoardView | None = None
    standings: list[Standing] = []
    outcome: Outcome | None = None


class TableChanged(Event, frozen=True, kw_only=True, tag="table_changed"):
    """The table, whole, after something about it has changed."""

    table: Table
    now: int


class Dealt(Event, frozen=True, kw_only=True, tag="dealt"):
    """The race has started; to each racer, one's own board."""

    board: BoardView
    start_at: int
    deadline: int
    now: int


class MoveMade(Event, frozen=True, kw_only=True, tag="move_made"):
    """The move (or the cash-out) is judged, durable, and done; the board as it is now."""

    board: BoardView
    at: int
    """Milliseconds from the start of the race."""
    repeat: bool = False
    """This id was accepted before; nothing was done again."""


class BoardEnded(Event, frozen=True, kw_only=True, tag="board_ended"):
    """The server ended one's board: stuck, out of time, or left."""

    board: BoardView
    at: int


class Standings(Event, frozen=True, kw_only=True, tag="standings"):
    """Where everybody in a running race stands, at most four times a second."""

    race: str
    standings: list[Standing]
    """Of every racer, in order of place."""


class RaceOver(Event, frozen=True, kw_only=True, tag="race_over"):
    """The race has ended; everything about it opens."""

    outcome: Outcome


class TableSummary(Struct, frozen=True, kw_only=True):
    """A public table in the list."""

    code: str
    game: str
    cap: int
    host: str
    """The host's name."""
    phase: str
    seated: int
    seats: int


class Tables(Event, frozen=True, kw_only=True, tag="tables"):
    """The public tables, newest first. Answers `ListTables`."""

    tables: list[TableSummary]


class LeaderboardRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One player on a leaderboard."""

    rank: int
    player: str
    name: str
    value: int
    """Banked cards (best) or dollars (bankroll)."""
    net: int = 0
    """Casino dollars: of the best result, or the bankroll itself."""
    elapsed: int | None = None
    """Milliseconds from the start to that count (best)."""
    race: str = ""
    """The race of the result, to be verified (best); the last race counted (bankroll)."""
    races: int = 0
    """How many races were counted (bankroll)."""


class Leaderboard(Event, frozen=True, kw_only=True, tag="leaderboard"):
    """A page of a leaderboard. Answers the query and the subscription, and follows the latter."""

    game: str
    ranking: str
    period: str
    key: str
    """The period by name: `2026-09-01`, `2026-W36`, `2026-09` or `all`."""
    bots: bool
    total: int
    """How many are on the leaderboard."""
    offset: int
    rows: list[LeaderboardRow]
    me: LeaderboardRow | None = None
    """The asking player's own row."""


class Record(Event, frozen=True, kw_only=True, tag="record"):
    """The record of a finished race, as text to be verified. Answers `GetRecord`."""

    race: str
    text: str


class Alive(Event, frozen=True, kw_only=True, tag="alive"):
    """The server is there. Also sent unasked every two seconds."""

    now: int


class Announcement(Event, frozen=True, kw_only=True, tag="announcement"):
    """A word from whoever runs the server, such as a restart to come."""

    text: str


class SeatLost(Event, frozen=True, kw_only=True, tag="seat_lost"):
    """The seat at this table is gone: kicked, absent for too long, or the table closed."""

    table: str
    reason: str


AnyEvent: TypeAlias = (
    Welcome
    | NameClaimed
    | Done
    | Refused
    | Snapshot
    | TableChanged
    | Dealt
    | MoveMade
    | BoardEnded
    | Standings
    | RaceOver
    | Tables
    | Leaderboard
    | Record
    | Alive
    | Announcement
    | SeatLost
)
