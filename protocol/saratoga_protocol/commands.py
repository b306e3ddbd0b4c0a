r"""The messages that a client sends to the server, one struct each.

Every command carries an `id`, and its answer carries the same number as `re`. A command names what it
acts on, so a repeat is harmless: what is done already is answered and not done again. So a client may
repeat every command that got no answer.

Decoding is strict: an unknown field, a wrong type or a number out of range is refused, and the
refusal names the field. Patterns end in `\Z`, because `$` would accept a line break.
"""

import hashlib
from base64 import b32encode
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct

LARGEST_NUMBER: Final = 2**53 - 1
"""The largest integer on the wire: exact in JSON readers and in the store alike."""
CommandId: TypeAlias = Annotated[int, Meta(ge=1, le=LARGEST_NUMBER)]
Token: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
"""A player's secret: 32 random bytes in hexadecimal, made by the client, never sent to others."""
Level: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z]{1,12}\Z")]
"""How strong a bot is, by its own account: one lower-case word, such as `strong`."""
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
"""A player's name, as typed (protocol/README.md says which are allowed)."""
Code: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}\Z")]
"""A table's code, such as `mint-otter-42`."""
RaceId: TypeAlias = Annotated[
    str, Meta(pattern=r"^[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}/[1-9][0-9]{0,5}\Z")
]
"""The table's code and the number of the race at that table, such as `mint-otter-42/3`."""
OwnRace: TypeAlias = Annotated[str, Meta(max_length=35)]
"""The id of the player's own race. It is only compared, so its form is not checked."""
PlayerId: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z2-7]{16}\Z")]
"""A player's public id: 16 characters of base 32, derived from the token (`player_id`)."""
GameName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=32)]
"""The name of a game, one of `Welcome.games`."""
Hash: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
"""A SHA-256 hash in hexadecimal."""
Nonce: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
"""16 random bytes in hexadecimal."""
OpenId: TypeAlias = Annotated[
    str, Meta(pattern=r"^(?:day/[a-z][a-z0-9-]{0,31}/[0-9]{4}-[0-9]{2}-[0-9]{2}|[a-z2-7]{16})\Z")
]
"""The id of an open race: `day/GAME/YYYY-MM-DD`, or 16 characters of base 32."""
AnyRaceId: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^(?:[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}/[1-9][0-9]{0,5}"
        r"|day/[a-z][a-z0-9-]{0,31}/[0-9]{4}-[0-9]{2}-[0-9]{2}|[a-z2-7]{16})\Z"
    ),
]
"""The id of a race at a table, or of an open race."""
MoveText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=16)]
"""A move, such as `t3>t5:4` (protocol/README.md, *Moves*)."""
Count: TypeAlias = Annotated[int, Meta(ge=0, le=LARGEST_NUMBER)]
CapMinutes: TypeAlias = Annotated[int, Meta(ge=0, le=20)]
"""The time limit of a race in minutes: 3, 5, 10 or 20; 0 = none (private tables only)."""
Seats: TypeAlias = Annotated[int, Meta(ge=1, le=16)]
"""The number of seats of a table."""
Races: TypeAlias = Annotated[int, Meta(ge=1, le=5)]
"""The number of races of a match: 3 or 5; 1 = no match."""


def player_id(token: str) -> str:
    """Return the id of the player with this token. It has 80 bits and does not reveal the token."""
    digest = hashlib.sha256(b"saratoga player" + bytes.fromhex(token)).digest()
    return b32encode(digest).decode().lower()[:16]


class Command(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="type",
):
    """The base of all commands. Fields with their default value are omitted from the frame."""

    id: CommandId


class Hello(Command, frozen=True, kw_only=True, tag="hello"):
    """Identify the player; the first command of a connection. Answered by `Welcome`."""

    token: Token
    name: Name | None = None
    """The name to claim if the player has none yet; ignored if the player has a name."""
    bot: bool = False
    """True if the player is a program, not a person. Fixed by the first hello of a token."""
    level: Level = ""
    """How strong the bot is, shown beside its name; empty if unknown. Ignored for a person."""
    legal: bool = False
    """True if the server should send the legal moves with every view."""
    client: Annotated[str, Meta(max_length=64)] = ""
    """The client's name and version, for the server's log."""

    def __repr__(self) -> str:
        """Return the command as text without the token, which must not appear in logs."""
        return f"Hello(id={self.id}, name={self.name!r}, bot={self.bot}, client={self.client!r})"


class ClaimName(Command, frozen=True, kw_only=True, tag="claim_name"):
    """Claim a name, or change it. Answered by `NameClaimed`."""

    name: Name


class CreateTable(Command, frozen=True, kw_only=True, tag="create_table"):
    """Open a table and take a seat as its host. Answered by `Snapshot`."""

    game: GameName
    cap: CapMinutes = 10
    seats: Seats = 16
    public: bool = False
    races: Races = 1
    key: Nonce | None = None
    """A random key of this request: a repeat with the same key opens no second table."""


class JoinTable(Command, frozen=True, kw_only=True, tag="join_table"):
    """Take or return to a seat, or follow the table without one. Answered by `Snapshot`."""

    table: Code
    seat: bool = True
    """True to take the seat or return to it, false to watch."""


class LeaveTable(Command, frozen=True, kw_only=True, tag="leave_table"):
    """Give up the seat of this connection, and a running race, or stop watching.

    Answered by `Done`, and does nothing if the connection neither holds the seat nor watches.
    """

    table: Code


class ChangeSettings(Command, frozen=True, kw_only=True, tag="change_settings"):
    """Change the given settings; the deal and ready marks go. Host only. Answered by `Done`."""

    table: Code
    commitment: Hash | None = None
    """The commitment that the host saw; another is refused with `wrong_commitment`."""
    game: GameName | None = None
    cap: CapMinutes | None = None
    seats: Seats | None = None
    public: bool | None = None
    races: Races | None = None
    """In a match that has begun, only 1 is accepted: it ends the match without a champion."""


class Kick(Command, frozen=True, kw_only=True, tag="kick"):
    """Remove for good a player who is not racing. Host only. Answered by `Done`."""

    table: Code
    player: PlayerId
    epoch: Count = 0
    """The `Seat.epoch` that the host saw; another is refused with `no_such_player`. 0 = any."""


class LockTable(Command, frozen=True, kw_only=True, tag="lock_table"):
    """Lock the table to newcomers, or unlock it. Host only. Answered by `Done`."""

    table: Code
    race: RaceId | None = None
    """The table's race that the host saw; refused with `no_such_race` if the table has another."""
    locked: bool = True


class AllowReady(Command, frozen=True, kw_only=True, tag="allow_ready"):
    """Let a player who voided a countdown get ready again. Host only. Answered by `Done`."""

    table: Code
    player: PlayerId


class Ready(Command, frozen=True, kw_only=True, tag="ready"):
    """Mark the player as ready for the race whose deal `commitment` fixes. Answered by `Done`.

    `nonce_hash` is SHA-256 of the racer's own 16 random bytes. `Reveal` sends these bytes in the
    countdown, so neither the server nor any single racer can choose the deal.
    """

    table: Code
    commitment: Hash
    nonce_hash: Hash


class NotReady(Command, frozen=True, kw_only=True, tag="not_ready"):
    """Withdraw the ready mark; in the call, the host's calls off the start. Answered by `Done`."""

    table: Code


class Start(Command, frozen=True, kw_only=True, tag="start"):
    """Open the call, after which all players who are ready race. Host only. Answered by `Done`."""

    table: Code
    race: RaceId | None = None
    """The race to start; refused with `no_such_race` if the table has another."""


class Reveal(Command, frozen=True, kw_only=True, tag="reveal"):
    """Reveal the nonce in the countdown, when the racers are fixed. Answered by `Done`."""

    table: Code
    commitment: Hash | None = None
    """The commitment that the nonce is for; another is refused with `wrong_commitment`."""
    nonce: Nonce


class MakeMove(Command, frozen=True, kw_only=True, tag="move"):
    """Play a move on the player's own board. Answered by `BoardChanged`."""

    race: OwnRace
    after: Count
    """The number of moves made on the board before this one."""
    move: MoveText


class CashOut(Command, frozen=True, kw_only=True, tag="cash_out"):
    """End the player's own board and keep the banked cards. Answered by `BoardChanged`."""

    race: RaceId
    after: Count | None = None
    """The number of moves made on the board; another is refused with `stale_move`. `None` = any."""


class EndRace(Command, frozen=True, kw_only=True, tag="end_race"):
    """End the race early. Answered by `Done`.

    A racer whose board has ended asks for it, and it ends when every person who still races agrees
    by the same command (`Table.votes`). The host may end the last person's board 60 s after the
    other people's have ended. When only bots still race, the server ends their boards by itself.
    """

    race: RaceId


class NextRace(Command, frozen=True, kw_only=True, tag="next_race"):
    """Gather for the next race. Host only. Answered by `Done`."""

    table: Code
    race: RaceId | None = None
    """The race that is over; refused with `no_such_race` if the table has another."""


class React(Command, frozen=True, kw_only=True, tag="react"):
    """Show a reaction to everyone at the table (`Reacted`). Answered by `Done`."""

    table: Code
    reaction: Annotated[str, Meta(pattern=r"^(gg|again|nice)\Z")]


class HandOver(Command, frozen=True, kw_only=True, tag="hand_over"):
    """Make another person at the table its host. Host only. Answered by `Done`."""

    table: Code
    player: PlayerId


class AddBot(Command, frozen=True, kw_only=True, tag="add_bot"):
    """Ask a bot host for a bot, which then takes a seat. Host only. Answered by `Done`."""

    table: Code
    level: Level
    """One of `Table.bots`."""
    key: Nonce
    """A random key of this request: a repeat with the same key brings no second bot."""


class OfferBots(Command, frozen=True, kw_only=True, tag="offer_bots"):
    """Offer bots to all tables, in place of this player's last offer. Answered by `Done`.

    The player is then a *bot host*, which gets a `BotWanted` for each bot that it is asked for.
    Only the owner of the server and a bot host that the server has started may offer bots. The
    offer ends with the connection.
    """

    levels: Annotated[list[Level], Meta(max_length=8)]
    """The strengths that can be asked for, weakest first; empty to end the offer."""
    free: Annotated[int, Meta(ge=0, le=12)]
    """The number of bots that can be added now, at all tables together: at most 12."""


class ListTables(Command, frozen=True, kw_only=True, tag="list_tables"):
    """List the public tables. Answered by `Tables`."""

    follow: bool = False
    """True to get the list again whenever it changes, at most once a second, until this
    connection's next `list_tables`."""


class GetLeaderboard(Command, frozen=True, kw_only=True, tag="get_leaderboard"):
    """Get a page of a leaderboard. Answered by `Leaderboard`."""

    game: GameName
    ranking: Annotated[str, Meta(pattern=r"^(best|bankroll|rating)\Z")] = "best"
    """The order of the rows. Ratings are of people, for all time, whatever the period."""
    period: Annotated[str, Meta(pattern=r"^(day|week|month|all)\Z")] = "day"
    bots: bool = False
    """True for the bots' leaderboard, false for the people's."""
    offset: Count = 0
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    around_me: bool = False
    """True for the page around the player's own rank; `offset` is then ignored."""
    follow: bool = False
    """True to get the page again whenever it changes, at most once a second, until this
    connection's next `get_leaderboard`."""


class GetRecord(Command, frozen=True, kw_only=True, tag="get_record"):
    """Get the record of a finished race or a closed open race. Answered by `Record`."""

    race: AnyRaceId


class GetPar(Command, frozen=True, kw_only=True, tag="get_par"):
    """Get a line of moves that banks many cards of a finished race's deal. Answered by `Par`.

    Until the server has found it, in some seconds, it is refused with `too_fast`.
    """

    race: AnyRaceId


class Heartbeat(Command, frozen=True, kw_only=True, tag="heartbeat"):
    """Check the connection and ask for the server's time. Answered by `Alive`."""

    active: bool = False
    """True if the player has pressed a key, clicked or scrolled since the last command."""


class EnterOpen(Command, frozen=True, kw_only=True, tag="enter_open"):
    """Start a run in an open race. Answered by the `Snapshot` of a table of its own.

    A repeat, or a return while the run lasts, gives its seat back. A player has one run in each
    open race.
    """

    open: OpenId


class CreateChallenge(Command, frozen=True, kw_only=True, tag="create_challenge"):
    """Open a race that others enter in the next seven days. Answered by `OpenRaceShown`."""

    game: GameName
    race: RaceId | None = None
    """The finished race of the player whose deal to play; `None` for a fresh deal."""
    key: Nonce
    """A random key of this request: a repeat with the same key opens no second race."""


class GetOpen(Command, frozen=True, kw_only=True, tag="get_open"):
    """Get an open race; its results only after the own run. Answered by `OpenRaceShown`."""

    open: OpenId
