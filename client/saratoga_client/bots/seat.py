"""A bot's seat: an identity that one process at a time uses, a connection, and the table.

A bot that returns under its name is the same player on the bots' leaderboards. Two processes
cannot use one identity: the second takes another free name, or fails if its name was given.
"""

import contextlib
import random
import sys
from binascii import crc32
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Final

from saratoga_client.bots.choose import CHOOSERS, Strength
from saratoga_client.bots.pace import human_pace, steady_pace
from saratoga_client.bots.player import stay
from saratoga_client.local.identity import derived, load_or_create
from saratoga_client.local.origins import check_address, origin_of
from saratoga_client.local.paths import data_folder
from saratoga_client.net.connection import Connection
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.join import give_up_seat
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness
from saratoga_client.wording import shown_name
from saratoga_protocol.commands import LeaveTable
from saratoga_protocol.events import Table

FOLDER: Final = "bots"

NAMES: Final = (
    *("Otto", "Mabel", "Ferris", "Greta", "Hugo", "Ida", "Jasper", "Klara"),
    *("Linus", "Marta", "Nils", "Olive", "Pavel", "Romy", "Silas", "Thea"),
)
"""Names for bots whose user gave no name."""


@contextmanager
def claim_identity(name: str, server: str, folder: Path | None = None) -> Iterator[str | None]:
    """Yield a bot's token for a server; `None` if another process uses this identity.

    Raises `Problem`, or `ValueError` if `server` is not a server's address.
    """
    folder = data_folder() / FOLDER if folder is None else folder
    path = folder / f"{_file_name(name)}.secret"
    token = derived(load_or_create(path), origin_of(server))
    with path.with_suffix(".lock").open("wb") as lock:
        if not _lock(lock):
            yield None
            return
        try:
            yield token
        finally:
            _unlock(lock)


def variation_of(name: str) -> int:
    """Return the number, derived from a bot's name, that varies its weights; never 0, which varies nothing."""
    return crc32(name.encode()) or 1


def _file_name(name: str) -> str:
    """Return a valid file name for a bot; names with special characters become hexadecimal."""
    return name.encode().hex() if not (name.isascii() and name.isalnum()) else name.lower()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        with contextlib.suppress(OSError):
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


LEAVE_WITHIN: Final = 1.0
"""Timeout in seconds for the leave command at the end of the program."""


SitDown = Callable[[TableSession], Awaitable[Table]]
"""How a bot takes its seat, such as `lambda session: session.sit_down("mint-otter-42")`."""


class SeatedBot:
    """A bot with a connection and a seat at a table."""

    def __init__(
        self, connection: Connection, session: TableSession, code: str, strength: Strength
    ) -> None:
        self.session = session
        self.code = code
        """The table's code."""
        self.player = connection.player
        """The bot's player id."""
        self.name = connection.welcome.name or ""
        self.shown_name = shown_name(self.name, True, strength)
        """The bot's name with its mark, as other players see it."""
        self._strength = strength

    async def play(self, *, pace: float | None = None, races: int | None = None) -> None:
        """Play `races` races, or until the table closes; raises `Problem` as `player.stay` does.

        `pace` is in moves per second, 0 for no pauses; without it the bot pauses like a person.
        """
        paused = human_pace if pace is None else steady_pace(pace)
        choose, variation = CHOOSERS[self._strength], variation_of(self.name)
        await stay(self.session, choose, paused, variation=variation, races=races)


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
    async with AsyncExitStack() as stack:
        connection = await _connect(
            stack, server, strength, name, folder, reports_link=reports_link
        )
        if connection.welcome.table is not None:
            # An earlier run of this bot ended without leaving its table.
            await give_up_seat(connection, connection.welcome.table)
        session = TableSession(
            connection,
            witness=witness or Witness(in_memory=True),
            records=RecordStore(in_memory=True),
        )
        table = await sit_down(session)
        try:
            yield SeatedBot(connection, session, table.code, Strength(strength))
        finally:
            await _leave(connection)


async def _connect(
    stack: AsyncExitStack,
    server: str,
    strength: str,
    name: str | None,
    folder: Path | None,
    *,
    reports_link: bool,
) -> Connection:
    """Connect under a name that no other process and no other player uses."""
    check_address(server)
    names = [name] if name is not None else _candidate_names()
    for candidate in names:
        async with AsyncExitStack() as attempt:
            token = attempt.enter_context(claim_identity(candidate, server, folder))
            if token is None:
                continue
            try:
                connection = await attempt.enter_async_context(
                    open_connection(
                        server,
                        token=token,
                        name=candidate,
                        bot=True,
                        level=strength,
                        reports_link=reports_link,
                    )
                )
            except Problem as problem:
                if problem.refusal == "name_taken" and name is None:
                    continue
                raise
            stack.push_async_exit(attempt.pop_all())
            return connection
    if name is not None:
        raise Problem(
            f"The bot {name} is already running on this machine.",
            "Choose another name with --name.",
            Exit.REFUSED,
        )
    raise Problem("All bot names are taken.", "Choose one with --name.", Exit.REFUSED)


def _candidate_names() -> list[str]:
    """Return the names in random order, then the same names with numbers 2 and 3."""
    drawn = random.sample(NAMES, len(NAMES))
    return drawn + [f"{name} {number}" for number in (2, 3) for name in drawn]


async def _leave(connection: Connection) -> None:
    """Give up the seat if the bot has one; ignore errors, since the program ends."""
    if connection.seat is None:
        return
    with suppress(Exception):
        await connection.request(partial(LeaveTable, table=connection.seat), within=LEAVE_WITHIN)
