"""A bot's seat: an identity that one process at a time uses, a connection, and the table.

A bot that returns under its name is the same player on the bots' leaderboards. Two processes
cannot use one identity: the second takes another free name, or fails if its name was given.
"""

import random
import sys
from binascii import crc32
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from saratoga_client.bots.choose import CHOOSERS
from saratoga_client.bots.player import first_result, human_pace, stay, steady_pace
from saratoga_client.local.identity import derived, load_or_create
from saratoga_client.local.origins import check_address, origin_of
from saratoga_client.local.paths import data_folder
from saratoga_client.net.connection import Connection
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.join import give_up_seat
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.open_race import until_over
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.run_watch import RunWatch
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness
from saratoga_client.wording import shown_name
from saratoga_protocol.commands import LeaveTable
from saratoga_protocol.events import Table

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NAMES: Final = (
    *("Otto", "Mabel", "Ferris", "Greta", "Hugo", "Ida", "Jasper", "Klara"),
    *("Linus", "Marta", "Nils", "Olive", "Pavel", "Romy", "Silas", "Thea"),
)
"""Names for bots whose user gave no name."""

OTHER_NAME: Final = frozenset({"name_taken", "kicked"})
"""Refusals after which a bot tries another name."""

LEAVE_WITHIN: Final = 1.0
"""Timeout in seconds for the leave command at the end of the program."""

SitDown: TypeAlias = Callable[[TableSession], Awaitable[Table]]
"""How a bot takes its seat, such as `lambda session: session.sit_down("mint-otter-42")`."""


@contextmanager
def claim_identity(name: str, server: str, folder: Path | None = None) -> Iterator[str | None]:
    """Yield a bot's token for a server; `None` if another process uses this identity.

    Raises `Problem`, or `ValueError` if `server` is not a server's address.
    """
    folder = data_folder() / "bots" if folder is None else folder
    # a name with special characters becomes hexadecimal
    file = name.lower() if name.isascii() and name.isalnum() else name.encode().hex()
    token = derived(load_or_create(folder / f"{file}.secret"), origin_of(server))
    with (folder / f"{file}.lock").open("wb") as lock:
        # the system unlocks the file when it is closed
        try:
            if sys.platform == "win32":
                msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            is_free = False
        else:
            is_free = True
        yield token if is_free else None


def variation_of(name: str) -> int:
    """Return the number, derived from a bot's name, that varies its weights; never 0, which varies nothing."""
    return crc32(name.encode()) or 1


@dataclass(frozen=True, slots=True)
class SeatedBot:
    """A bot with a connection and a seat at a table."""

    session: TableSession
    code: str
    """The table's code."""
    player: str
    """The bot's player id."""
    name: str
    strength: str

    @property
    def shown_name(self) -> str:
        """The bot's name with its mark, as other players see it."""
        return shown_name(self.name, True)

    async def play(self, *, pace: float | None = None, races: int | None = None) -> None:
        """Play `races` races, or until the table closes; raises `Problem` as `player.stay` does.

        `pace` is in moves per second, 0 for no pauses; without it the bot pauses like a person.
        """
        paused = human_pace if pace is None else steady_pace(pace)
        choose, variation = CHOOSERS[self.strength], variation_of(self.name)
        await stay(self.session, choose, paused, variation=variation, races=races)

    async def run_open(self, *, pace: float | None = None) -> None:
        """Play a run in an open race, whose table the bot has entered, and leave. Raises `Problem`."""
        await first_result(self.play(pace=pace), until_over(self.session))


@asynccontextmanager
async def seated_bot(
    server: str,
    sit_down: SitDown,
    strength: str,
    *,
    name: str | None = None,
    folder: Path | None = None,
    reports_link: bool = True,
    witness: Witness | None = None,
) -> AsyncIterator[SeatedBot]:
    """Return a context manager that seats a bot at a table, and leaves the table at the end.

    Without a `name` the bot gets a free one of `NAMES`. With `reports_link`, a lost connection is reported on the
    error stream. What the bot sees is kept in `witness`, by default in memory. Raises `Problem`.
    """
    check_address(server)
    drawn = random.sample(NAMES, len(NAMES))
    free = [*drawn, *(f"{each} {number}" for number in (2, 3) for each in drawn)]
    for candidate in free if name is None else [name]:
        async with AsyncExitStack() as stack:
            connecting = _connected(server, strength, candidate, folder, reports_link=reports_link)
            try:
                connection = await stack.enter_async_context(connecting)
                if connection is None:
                    continue
                if connection.welcome.table is not None:
                    # An earlier run of this bot ended without leaving its table.
                    await give_up_seat(connection, connection.welcome.table)
                session = TableSession(
                    connection,
                    witness=witness or Witness(in_memory=True),
                    records=RecordStore(in_memory=True),
                    watch=RunWatch(connection.player, in_memory=True),
                )
                table = await sit_down(session)
            except Problem as problem:
                if problem.refusal in OTHER_NAME and name is None:
                    continue
                raise
            try:
                own_name = connection.welcome.name or ""
                yield SeatedBot(session, table.code, connection.player, own_name, strength)
            finally:
                if (seat := connection.seat) is not None:
                    # the program ends, so no error matters
                    with suppress(Exception):
                        await connection.request(partial(LeaveTable, table=seat), LEAVE_WITHIN)
            return
    if name is None:
        raise Problem("All bot names are taken.", "Choose one with --name.", Exit.REFUSED)
    what = f"The bot {name} is already running on this machine."
    raise Problem(what, "Choose another name with --name.", Exit.REFUSED)


@asynccontextmanager
async def _connected(
    server: str, strength: str, name: str, folder: Path | None, *, reports_link: bool
) -> AsyncIterator[Connection | None]:
    """Return a context manager of a bot's connection; `None` if another process uses its identity."""
    with claim_identity(name, server, folder) as token:
        if token is None:
            yield None
            return
        async with open_connection(
            server, token=token, name=name, bot=True, level=strength, reports_link=reports_link
        ) as connection:
            yield connection
