"""What comes before a table: a name, an old seat given up or taken up again, a table opened.

It happens on the plain terminal, before any picture opens, so that whatever goes wrong is said
where it can be read.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from saratoga_client.net.errors import CommandRefused
from saratoga_client.output import say
from saratoga_client.problems import Exit, Problem
from saratoga_protocol import events
from saratoga_protocol.commands import ClaimName, CreateTable, JoinTable, LeaveTable, WatchTable

if TYPE_CHECKING:
    from saratoga_client.net.connection import Connection

BAD_NAMES: Final = frozenset({"name_taken", "bad_name"})
"""Refusals after which another name may do."""

TAKEN_BY_ONESELF: Final = (
    "If it is you, who came by another address of this house before: saratoga token use --help."
)
"""Each address is told another token (`identity`)."""

RACING: Final = frozenset({"countdown", "running"})
"""Phases in which a seat is worth going back to."""


class NameWanted(Exception):
    """The house knows no name of the player's: `why` the wanted one will not do, and the `question`."""

    def __init__(self, why: str, question: str) -> None:
        super().__init__(why, question)
        self.why = why
        self.question = question


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWanted:
    """A table to be opened."""

    game: str
    cap: int
    """Minutes; 0 is no cap."""
    seats: int
    public: bool


def asked(question: str) -> str:
    """Ask at the terminal; raises `Problem` where nobody sits there to answer."""
    import click

    from saratoga_client.local.terminal import this_terminal

    if not this_terminal().is_terminal:
        raise Problem(
            "This house does not know you yet.", "Say who you are with --name NAME.", Exit.USAGE
        )
    answer: str = click.prompt(question, err=True)
    return answer


async def have_a_name(house: "Connection", wanted: str) -> str:
    """The player's name at this house: the one they have, or the one they want.

    Raises `NameWanted` if that cannot be. Nobody is asked while the connection is held: they may
    think for minutes, and it would fall silent.
    """
    known = house.welcome.name
    if known is not None:
        return known
    if not wanted:
        raise NameWanted("", "Your name at this house")
    try:
        return (await house.ask(partial(ClaimName, name=wanted[:64]), events.NameClaimed)).name
    except CommandRefused as no:
        if no.code not in BAD_NAMES:
            raise
        hint = f" {TAKEN_BY_ONESELF}" if no.code == "name_taken" else ""
        raise NameWanted(f"{no.message}{hint}", "Another name") from None


async def opened(house: "Connection", table: TableWanted) -> events.Table:
    """Open a table and sit down at it; raises `CommandRefused`."""
    draft = partial(
        CreateTable, game=table.game, cap=table.cap, seats=table.seats, public=table.public
    )
    return (await house.ask(draft, events.Snapshot)).table


async def joined(house: "Connection", code: str) -> events.Table:
    """Sit down at a table; raises `CommandRefused`."""
    return (await house.ask(partial(JoinTable, table=code), events.Snapshot)).table


async def freed(house: "Connection", wanted: str = "") -> str:
    """Give up the seat at another table than the wanted one, unless a race runs there.

    Returns the code of the table to go back to, where one does; empty: the way is free.
    """
    code = house.welcome.table
    if code is None or code == wanted:
        return ""
    try:
        table = (await house.ask(partial(WatchTable, table=code), events.Snapshot)).table
        if table.phase in RACING and house.welcome.player in table.racers:
            return code
        await house.request(partial(LeaveTable, table=code))
    except CommandRefused:
        # closed since the welcome, or left at another terminal: nothing is held any more
        return ""
    say(f"You have given up your seat at {code}.")
    return ""


async def others_at(house: "Connection", code: str) -> tuple[str, ...]:
    """The names of other people who are at the table now; bots go by themselves."""
    try:
        table = (await house.ask(partial(WatchTable, table=code), events.Snapshot)).table
    except CommandRefused:
        return ()
    if table.phase == "closed":
        return ()
    return tuple(
        seat.name
        for seat in table.seats
        if seat.connected and not seat.bot and seat.player != house.welcome.player
    )
