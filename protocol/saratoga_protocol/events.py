"""The messages that the server sends to a client, one struct each.

An event that answers a command carries the command's id as `re`; other events have none.
Times are milliseconds since 1970 UTC by the server's clock unless a field says otherwise.
Cards are two characters, rank (`A23456789TJQK`) and suit (`CSHD`). A pile is one string of
cards from bottom to top. No event can name a card that its receiver may not see: another player's
board is a `Standing`, the player's own is a `BoardView`. Clients ignore unknown fields.
"""

from typing import Final

from msgspec import Struct

MOST_RIVALS: Final = 100
"""The number up to which leaderboards count the people that a player raced against."""


class TableSettings(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings that the host chose."""

    game: str
    cap: int
    """The time limit of a race in minutes; 0 = none."""
    seats: int
    public: bool
    races: int = 1
    """The number of races of a match; 1 = no match."""


class Seat(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player at the table."""

    player: str
    name: str
    bot: bool = False
    level: str = ""
    """How strong the bot is, by its own account; empty if unknown."""
    ready: bool = False
    connected: bool = True
    races: int = 0
    """The number of races of the player at this table."""
    wins: int = 0
    """The number of these races in which the player finished first, alone or tied."""
    net: int = 0
    """Casino dollars won or lost in all these races."""
    voids: int = 0
    """The number of countdowns here that the player voided, by a missing nonce or by leaving."""
    blocked: bool = False
    """True if the player voided a countdown, and may not get ready until the host allows it."""
    epoch: int = 0
    """A number that grows at the table with each connection to a seat; `kick` names it."""
    owner: bool = False
    """True if the player is the owner of the server."""


class Racer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player in a race, as fixed at the end of the call."""

    player: str
    name: str
    """The name with which the player entered the race; it stays when the player is renamed."""
    bot: bool = False
    nonce_hash: str
    """`Ready.nonce_hash`: SHA-256 of the nonce to be revealed; empty in an open race."""
    ghost: bool = False
    """True for an earlier run in the same open race, shown up to the player's own elapsed time."""


class Ended(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A race that is over or was voided."""

    race: str
    """The id of the race."""
    digest: str
    """The digest of its record."""
    reason: str = ""
    """Why the race was voided (`saratoga_rules.records.record.VOID_REASONS`); empty if it finished."""
    blamed: list[str] = []
    """The racers because of whom the countdown was voided: their nonces were missing, or they left."""


class Table(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A table as everyone at it sees it."""

    code: str
    version: int
    """A number that grows with every change: of two copies, the larger version is newer."""
    host: str
    phase: str
    """The table's phase: `gathering`, `call`, `countdown`, `running`, `over` or `closed`."""
    settings: TableSettings
    race: str
    """The id of the race that is gathering, running or over."""
    rules: int
    """The version of the rules of that race."""
    commitment: str
    """SHA-256 over the seed of that race (protocol/FAIRNESS.md)."""
    seats: list[Seat]
    call_until: int = 0
    """The end of the call, until which players may get ready; 0 without a countdown."""
    racers: list[Racer] = []
    """Every racer of the race, also those who have left: complete and unchanged from the end of the
    call until the next race gathers, and empty before."""
    reveal_by: int = 0
    """The time by which all nonces must be revealed, in the countdown."""
    start_at: int = 0
    """The time at which the deal is sent and the race starts; 0 before the countdown."""
    deadline: int = 0
    """The time at which the time limit ends the race; 0 = no limit, or before the countdown."""
    ranked: bool = False
    """True if the race counts for the people's leaderboards; fixed when the race starts."""
    notice: str = ""
    """A sentence about the last change, such as why a countdown was void."""
    locked: bool = False
    """True if nobody new can take a seat, because the host has locked the table."""
    last_racer: str = ""
    """The only person who still races, in a race of several people, or the only racer at all; the
    host may end that board from `end_from` on."""
    end_from: int = 0
    """The time from which the host may end the race (`EndRace`); 0 = not yet known."""
    votes: list[str] = []
    """The ids of the racers who want to end the race (`EndRace`)."""
    bots: list[str] = []
    """The strengths of the bots that can be added (`AddBot`); empty without a bot host. A change of
    these alone does not change `version`."""
    previous: Ended | None = None
    """The last race before `race`, or `race` itself once it is over; `None` before the first."""
    open: str = ""
    """The id of the open race of which the player's run is played here; empty at a table for
    friends. Such a run has no call and no nonces, and what is secret about the deal stays so until
    the open race closes."""

    def racer(self, player: str) -> Racer | None:
        """Return the racer with this player id; `None` if the player is not in the race."""
        return next((racer for racer in self.racers if racer.player == player), None)


class MatchResult(Struct, frozen=True, kw_only=True):
    """A player's result of one race of a match."""

    race: str
    """The id of the race."""
    place: int
    net: int
    """Casino dollars won or lost in that race."""


class MatchRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player's results in a match. `saratoga_protocol.matches` derives totals and place."""

    player: str
    name: str
    """The name in the player's last race of the match."""
    bot: bool = False
    results: list[MatchResult]
    """The player's results in the order of the races; a race that the player missed has none."""


class Match(Struct, frozen=True, kw_only=True):
    """A match: several races at one table. It is over when `finished` has `races` races."""

    races: int
    """The number of races: 3 or 5."""
    finished: list[str]
    """The ids of its finished races, in their order; voided races do not count."""
    rows: list[MatchRow]
    """Everyone who raced in the match, in order of place."""


class View(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A position as its player may see it."""

    stock: int
    waste: str = ""
    reserve: int = 0
    reserve_top: str = ""
    up: list[int] = []
    """Cards on each foundation that builds up, by suit (C S H D), a suit's piles side by side."""
    down: list[int] = []
    """Cards on each foundation that builds down."""
    columns: list[str] = []
    face_down: list[int] = []
    """The number of face-down cards under each of `columns`; empty if no column has any."""
    base: int = 1
    """The rank that starts the up foundations: 1 (ace) to 13 (king)."""
    passes: int = 1
    """The number of the current pass through the stock, from 1."""


class BoardView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The player's own board."""

    race: str
    count: int
    """The number of moves made; after an ending other than a win, one more."""
    view: View
    banked: int
    net: int
    state: str
    """The board's state: `racing`, `won`, `cash-out`, `stuck`, `out-of-time`, `left`, `gone`,
    `ended-by-host`, `idle`, `bots-stopped` or `ended-by-vote`."""
    head: str
    """The head after the last entry of the log (`saratoga_rules.records.heads`)."""
    legal: list[str] | None = None
    """Every legal move, if `Hello.legal` asked for them."""


class Standing(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A racer's standing. While a race runs, this is all that others see."""

    player: str
    place: int
    """The place from 1; equal racers share a place."""
    banked: int
    net: int
    state: str
    head: str
    """The head after the last entry that changed count or state. While these are as last sent, so
    is the head. Empty for a ghost (`Racer.ghost`)."""


class Result(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A racer's result."""

    player: str
    place: int
    banked: int
    net: int
    state: str
    moves: int
    head: str
    """The head after the last entry of the racer's log."""
    reached: int | None = None
    """Milliseconds from the start to the last rise to `banked`; absent if it never rose."""
    ended: int = 0
    """Milliseconds from the start of the race to the end of this board."""


class Outcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished race: the results, and the seed and nonces that made the deal."""

    race: str
    game: str
    results: list[Result]
    seed: str
    nonces: dict[str, str]
    """The racers' nonces, by player id."""
    digest: str
    """The digest at the end of `Record.text`, over all lines before it."""
    ranked: bool = False


class TableSummary(Struct, frozen=True, kw_only=True):
    """A public table in `Tables`."""

    code: str
    game: str
    cap: int
    """The time limit of a race in minutes."""
    host: str
    """The host's name."""
    phase: str
    """The table's phase, as in `Table`."""
    seated: int
    """The number of taken seats."""
    seats: int
    """The number of all seats."""


class LeaderboardRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of a leaderboard: one player."""

    rank: int
    player: str
    name: str
    value: int
    """Banked cards (best), dollars (bankroll) or points (rating)."""
    net: int = 0
    """Casino dollars: of the best result, or the bankroll itself."""
    elapsed: int | None = None
    """Milliseconds from the start of the race until `value` was reached (best).

    `None` if no move raised the count above the deal's, and for the other rankings.
    """
    race: str = ""
    """The race of the result (best), or the last race counted (bankroll)."""
    races: int = 0
    """The number of races counted (bankroll)."""
    rivals: int = 0
    """The number of different people among the rivals of the player's races in this period.

    100 stands for that many or more.
    """
    doubt: int = 0
    """Points to both sides of `value` in which the true rating lies, 19 times in 20 (rating)."""


class OpenResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run in an open race."""

    player: str
    name: str
    bot: bool = False
    banked: int
    net: int
    """Casino dollars."""
    state: str
    """The board's state, as in `BoardView`."""
    elapsed: int
    """Milliseconds from the start of the run until its board ended, or until now."""
    place: int = 0
    """The place so far; 0 while the board is racing, and for the unranked."""
    young: bool = False
    """True if the player is not older than the day whose deal it is, and so has no place."""


class OpenRace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A race on one deal that each entrant runs on a clock of their own, until the race closes."""

    id: str
    """`day/GAME/YYYY-MM-DD`, or 16 characters of base 32. `EnterOpen` needs nothing else."""
    kind: str
    """`day`, `challenge` or `known`."""
    game: str
    rules: int
    """The version of the rules."""
    cap: int
    """The time limit of a run in minutes."""
    opened: int
    """When it was opened; for a day: when its deal was committed to."""
    closes: int
    """Until then it can be entered. Its record is there when the last run has ended."""
    by: str = ""
    """The name of the player whose challenge it is."""
    commitment: str = ""
    """The commitment to the deal; empty for a known deal."""
    entrants: int = 0
    """The number of players who have entered."""
    mine: str = ""
    """The state of the player's own board; empty if the player has not entered. The rest below is
    sent only when it has ended, or when the race is closed."""
    results: list[OpenResult] = []
    """At most 100 results, best first, and the player's own."""
    counts: list[int] = []
    """How many ended runs have banked 0, 1, 2 .. cards."""
    climb: list[int] = []
    """Milliseconds from the start of the run to the last rise to each count above the deal's."""
    middle: list[int] = []
    """The same of the run in the middle of all that have ended."""
    streak: int = 0
    """Days in a row with a run of this game, up to this day or the one before."""
    digest: str = ""
    """The digest of the closing record; empty while the race is open."""


class Day(Struct, frozen=True, kw_only=True):
    """A deal that is committed to in advance."""

    open: str
    """The id of the open race of that day."""
    commitment: str


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """The base of all events."""

    re: int | None = None
    """The id of the command that this event answers."""


class Welcome(Event, frozen=True, kw_only=True, tag="welcome"):
    """The server's confirmation of the player's identity. Answers `Hello`."""

    player: str
    name: str | None
    bot: bool
    now: int
    server: str
    """The server's program and version."""
    node: str
    games: list[str]
    table: str | None = None
    """The code of the table where the player still has a seat; `None` without a seat."""
    owner: bool = False
    """True if the player is the owner of the server."""
    durability: str = "safe"
    """What an acknowledged move survives: `fast`, `safe` or `replicated`."""


class NameClaimed(Event, frozen=True, kw_only=True, tag="name_claimed"):
    """The player's name, as the server normalised it. Answers `ClaimName`."""

    name: str


class Done(Event, frozen=True, kw_only=True, tag="done"):
    """The answer to a command that was carried out. Its effects come as separate events."""


class Refused(Event, frozen=True, kw_only=True, tag="refused"):
    """The answer to a command that was not carried out.

    Nothing was changed, except perhaps with the codes `store_unavailable` and `server_fault`.
    """

    code: str
    """A code of the closed list in `refusals`."""
    message: str
    """A sentence for the player: what went wrong and what to do."""
    retry: bool = False
    """True if a client should send the same command again, with the same id, after `wait`."""
    wait: int = 0
    """Milliseconds to wait before sending the command again; never 0 if `retry` is true."""
    board: BoardView | None = None
    """The current board, if the command was meant for another position."""


class Snapshot(Event, frozen=True, kw_only=True, tag="snapshot"):
    """Everything that this player may know about a table at this moment."""

    table: Table
    now: int
    board: BoardView | None = None
    standings: list[Standing] = []
    outcome: Outcome | None = None
    match: Match | None = None
    """As in `MatchChanged`."""


class TableChanged(Event, frozen=True, kw_only=True, tag="table_changed"):
    """A change of the table. Carries the whole table."""

    table: Table
    now: int


class MatchChanged(Event, frozen=True, kw_only=True, tag="match"):
    """A change of the table's match: one of its races has finished, or it has ended."""

    table: str
    """The code of the table."""
    match: Match | None
    """The match in progress, or the one that the finished race has ended; `None` before the first
    race of a match has finished."""


class BoardChanged(Event, frozen=True, kw_only=True, tag="board"):
    """The player's own board: dealt, changed by the player's command, or ended by the server.

    The answer to `MakeMove` and `CashOut` has `re`. The deal has no entries.
    """

    board: BoardView
    place: int = 0
    """The number of the first of `entries` in the board's log, from 1."""
    entries: list[str] = []
    """The entries that were added, as lines of the record: `1186 16 r>up`, two if `stuck` follows
    its move. The answer to a repeat has those of the command."""
    start_at: int = 0
    """The start of the race; only in the deal."""
    deadline: int = 0
    """The end of the race, 0 = no time limit; only in the deal."""
    now: int = 0
    """The server's time; only in the deal."""


class Standings(Event, frozen=True, kw_only=True, tag="standings"):
    """The standings of a race: at most four times a second while it runs, and once at its end."""

    race: str
    standings: list[Standing]
    """The standing of every racer, in order of place."""


class RaceOver(Event, frozen=True, kw_only=True, tag="race_over"):
    """The end of the race. Carries the results and everything that was secret until then."""

    outcome: Outcome


class Tables(Event, frozen=True, kw_only=True, tag="tables"):
    """The public tables: most connected people first, then newest first.

    Answers `ListTables`; sent again to followers.
    """

    tables: list[TableSummary]


class Leaderboard(Event, frozen=True, kw_only=True, tag="leaderboard"):
    """A page of a leaderboard. Answers `GetLeaderboard`; sent again to followers."""

    game: str
    ranking: str
    period: str
    key: str
    """The period by name: `2026-09-01`, `2026-W36`, `2026-09` or `all`."""
    bots: bool
    total: int
    """The number of players on the leaderboard."""
    offset: int
    rows: list[LeaderboardRow]
    me: LeaderboardRow | None = None
    """The player's own row; `None` if the player is not on the leaderboard."""


class Record(Event, frozen=True, kw_only=True, tag="record"):
    """The record of a finished race, as text. Answers `GetRecord`."""

    race: str
    text: str


class Par(Event, frozen=True, kw_only=True, tag="par"):
    """A line of moves on a finished race's deal, and the cards that it banks. Answers `GetPar`.

    It is a lower bound: at least so many cards could have been banked. Play it on the deal of the
    record to be sure.
    """

    race: str
    banked: int
    moves: list[str]


class Alive(Event, frozen=True, kw_only=True, tag="alive"):
    """A sign that the server is alive. Answers `Heartbeat`; also sent every two seconds."""

    now: int


class Announcement(Event, frozen=True, kw_only=True, tag="announcement"):
    """A message from the operator of the server, such as a planned restart."""

    text: str


class Reacted(Event, frozen=True, kw_only=True, tag="reacted"):
    """A player's reaction at the table (`React`), for everyone there."""

    table: str
    player: str
    reaction: str
    """`gg`, `again` or `nice`."""


class OpenRaceShown(Event, frozen=True, kw_only=True, tag="open_race"):
    """An open race, as this player may see it now. Answers `GetOpen` and `CreateChallenge`."""

    open: OpenRace
    days: list[Day] = []
    """For a day: this and the days of its game to come whose deals are committed to."""


class BotWanted(Event, frozen=True, kw_only=True, tag="bot_wanted"):
    """A request to a bot host (`OfferBots`): a bot of this strength should join the table."""

    table: str
    level: str
    key: str
    """`AddBot.key`: a second request with the same key is a repeat."""


class SeatLost(Event, frozen=True, kw_only=True, tag="seat_lost"):
    """The loss of the player's seat: kicked, gone for too long, or the table closed."""

    table: str
    reason: str
