r"""Everything a player may say to the server, one struct a message.

Every command carries an `id`, and the answer carries it back as `re`. The ids of one token
only grow (`Welcome.next_id` says where to go on): a command whose id was accepted before is
answered again and not done again, so a client may repeat whatever it got no answer to.

Reading is strict: an unknown field, a wrong type or a number out of range is refused, and the
refusal names it. (Patterns end in `\Z`, for `$` would let a line break through.)
"""

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from saratoga_protocol.version import LARGEST_NUMBER

CommandId: TypeAlias = Annotated[int, Meta(ge=1, le=LARGEST_NUMBER)]
Token: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
"""A player's secret: 32 random bytes in hexadecimal, made by the client, never shown to others."""
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
Code: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}\Z")]
"""A table's code, such as `mint-otter-42`."""
RaceId: TypeAlias = Annotated[
    str, Meta(pattern=r"^[a-z]{2,12}-[a-z]{2,12}-[0-9]{2}/[1-9][0-9]{0,5}\Z")
]
"""A race: the table's code and the number of the race there, such as `mint-otter-42/3`."""
OwnRace: TypeAlias = Annotated[str, Meta(max_length=35)]
"""A race id by which nothing is looked for but the race that one is in: its form is not asked for."""
PlayerId: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z2-7]{16}\Z")]
"""A player in public: 16 characters of base 32, derived by the server from the token."""
GameName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=32)]
Hash: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Nonce: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
MoveText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=16)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=LARGEST_NUMBER)]
CapMinutes: TypeAlias = Annotated[int, Meta(ge=0, le=20)]
"""3, 5, 10 or 20; 0 is no cap, at private tables only."""
Seats: TypeAlias = Annotated[int, Meta(ge=1, le=16)]


class Command(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="type",
):
    """What every command has. Fields at their defaults are left out of the frame."""

    id: CommandId


class Hello(Command, frozen=True, kw_only=True, tag="hello"):
    """The first command of a connection: who is there. Answered by `Welcome`."""

    token: Token
    name: Name | None = None
    """Claims this name if the player has none yet; a name of one's own already claimed is fine."""
    bot: bool = False
    """A program plays, not a person. Said once, at the first hello of a token, for good."""
    legal: bool = False
    """Send the legal moves with every view."""
    client: Annotated[str, Meta(max_length=64)] = ""
    """What program this is, for the host's log."""

    def __repr__(self) -> str:
        """Without the token, which belongs into no log and no error message."""
        return f"Hello(id={self.id}, name={self.name!r}, bot={self.bot}, client={self.client!r})"


class ClaimName(Command, frozen=True, kw_only=True, tag="claim_name"):
    """Take a name, or change it. Answered by `NameClaimed`."""

    name: Name


class CreateTable(Command, frozen=True, kw_only=True, tag="create_table"):
    """Open a table and sit down as its host. Answered by `Snapshot`."""

    game: GameName
    cap: CapMinutes = 10
    seats: Seats = 16
    public: bool = False


class JoinTable(Command, frozen=True, kw_only=True, tag="join_table"):
    """Sit down at a table; to come back to one's own seat is the same. Answered by `Snapshot`."""

    table: Code


class Resume(Command, frozen=True, kw_only=True, tag="resume"):
    """Come back to one's seat after a lost connection. Answered by `Snapshot`."""

    table: Code


class LeaveTable(Command, frozen=True, kw_only=True, tag="leave_table"):
    """Give up the seat; in a running race, leave the race too. Answered by `Done`."""

    table: Code


class WatchTable(Command, frozen=True, kw_only=True, tag="watch_table"):
    """Follow a table without a seat. Answered by `Snapshot`."""

    table: Code


class UnwatchTable(Command, frozen=True, kw_only=True, tag="unwatch_table"):
    """Stop following. Answered by `Done`."""

    table: Code


class ChangeSettings(Command, frozen=True, kw_only=True, tag="change_settings"):
    """The host changes what is given; clears ready marks, makes a new commitment. Answered by `Done`."""

    table: Code
    game: GameName | None = None
    cap: CapMinutes | None = None
    seats: Seats | None = None
    public: bool | None = None


class Kick(Command, frozen=True, kw_only=True, tag="kick"):
    """The host sends a player who is in no race away, for this evening. Answered by `Done`."""

    table: Code
    player: PlayerId


class Ready(Command, frozen=True, kw_only=True, tag="ready"):
    """Ready for the race whose deal `commitment` fixes. Answered by `Done`.

    `nonce_hash` is SHA-256 of the racer's own 16 random bytes, which `Reveal` shows at the
    countdown: so neither the server nor any racer alone chooses the deal.
    """

    table: Code
    commitment: Hash
    nonce_hash: Hash


class NotReady(Command, frozen=True, kw_only=True, tag="not_ready"):
    """Take the ready mark back. Answered by `Done`."""

    table: Code


class Start(Command, frozen=True, kw_only=True, tag="start"):
    """The host starts the countdown with all who are ready. Answered by `Done`."""

    table: Code


class Reveal(Command, frozen=True, kw_only=True, tag="reveal"):
    """Show the nonce, once the countdown has frozen who races. Answered by `Done`."""

    table: Code
    nonce: Nonce


class MakeMove(Command, frozen=True, kw_only=True, tag="move"):
    """Play a move on one's own board. Answered by `MoveMade`."""

    race: OwnRace
    after: Count
    """How many moves were made before this one."""
    move: MoveText


class CashOut(Command, frozen=True, kw_only=True, tag="cash_out"):
    """End one's own board and keep what is banked. Answered by `MoveMade`."""

    race: RaceId


class NextRace(Command, frozen=True, kw_only=True, tag="next_race"):
    """The host gathers the table for the next race. Answered by `Done`."""

    table: Code


class ListTables(Command, frozen=True, kw_only=True, tag="list_tables"):
    """The public tables. Answered by `Tables`."""


class GetLeaderboard(Command, frozen=True, kw_only=True, tag="get_leaderboard"):
    """A page of a leaderboard. Answered by `Leaderboard`."""

    game: GameName
    ranking: Annotated[str, Meta(pattern=r"^(best|bankroll)\Z")] = "best"
    period: Annotated[str, Meta(pattern=r"^(day|week|month|all)\Z")] = "day"
    bots: bool = False
    """The leaderboard of the bots instead of the people's."""
    offset: Count = 0
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    around_me: bool = False
    """The page around the asking player's own rank, instead of `offset`."""


class SubscribeLeaderboard(GetLeaderboard, frozen=True, kw_only=True, tag="subscribe_leaderboard"):
    """The page now, and again whenever it changes (at most once a second). Answered by `Leaderboard`.

    A connection follows one page at a time; a new subscription takes the place of the old one.
    """


class UnsubscribeLeaderboard(Command, frozen=True, kw_only=True, tag="unsubscribe_leaderboard"):
    """Stop following the leaderboard. Answered by `Done`."""


class GetRecord(Command, frozen=True, kw_only=True, tag="get_record"):
    """The record of a finished race. Answered by `Record`."""

    race: RaceId


class Heartbeat(Command, frozen=True, kw_only=True, tag="heartbeat"):
    """Are you there, and what time is it? Answered by `Alive`."""


AnyCommand: TypeAlias = (
    Hello
    | ClaimName
    | CreateTable
    | JoinTable
    | Resume
    | LeaveTable
    | WatchTable
    | UnwatchTable
    | ChangeSettings
    | Kick
    | Ready
    | NotReady
    | Start
    | Reveal
    | MakeMove
    | CashOut
    | NextRace
    | ListTables
    | GetLeaderboard
    | SubscribeLeaderboard
    | UnsubscribeLeaderboard
    | GetRecord
    | Heartbeat
)
