"""The bots' seats: an identity that one process at a time uses, a connection and a table; and a host of bots.

A bot that returns under its name is the same player on the bots' leaderboards. Two processes cannot
use one identity: the second takes another free name, or fails if its name was given. A bot host
offers bots to a server's tables. Its bots leave when their table closes, when they are kicked, or
when no person is at the table.
"""

import asyncio
import logging
import random
import sys
from binascii import crc32
from collections import deque
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
from saratoga_client.net.errors import LinkState, RequestTimedOut
from saratoga_client.problems import Exit, Problem, told_alarms
from saratoga_client.session.join import give_up_seat
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.open_race import until_over
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.run_watch import RunWatch
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness
from saratoga_client.wording import BOT_LEVELS, shown_name
from saratoga_protocol.commands import LeaveTable, OfferBots
from saratoga_protocol.events import BotWanted, Table

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

    Without a `name` the bot gets a free one of `NAMES`. With `reports_link`, a lost connection is
    reported on the error stream. What the bot sees is kept in `witness`, by default in memory.
    Raises `Problem`.
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


LOG: Final = logging.getLogger("saratoga.bots")

MOST_BOTS: Final = 12
"""The most bots of a bot host."""

MOST_AT_TABLE: Final = 3
"""The most bots that a bot host has at one table."""

KEYS_KEPT: Final = 100
"""The number of requests that are remembered, so that a repeat of one brings no second bot."""


async def serve(server: str, token: str = "") -> None:
    """Offer bots at a server until cancelled. Without a `token`, the player of this machine does.

    Raises `Problem` if the server cannot be reached at first, or refuses the offer.
    """
    async with open_connection(server, token=token, reports_link=False) as connection:
        await BotHost(connection).run()


class BotHost:
    """The bots of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._playing: dict[asyncio.Task[None], str] = {}
        """The task of each bot, with the code of its table."""
        self._keys: deque[str] = deque(maxlen=KEYS_KEPT)
        self._changed = asyncio.Event()
        """Set when the offer must be sent: at each connection, and when a bot comes or goes."""

    async def run(self) -> None:
        """Offer bots and seat those that are wanted, until cancelled; then let all leave."""
        self._link_changed(self._connection.state)
        unsubscribe = self._connection.subscribe(self._link_changed)
        try:
            await first_result(self._offer(), self._listen())
        finally:
            unsubscribe()
            for bot in self._playing:
                bot.cancel()
            await asyncio.gather(*self._playing, return_exceptions=True)

    def _link_changed(self, state: LinkState) -> None:
        if state is LinkState.CONNECTED:
            self._changed.set()

    async def _offer(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            free = MOST_BOTS - len(self._playing)
            try:
                await self._connection.request(
                    partial(OfferBots, levels=list(BOT_LEVELS), free=free)
                )
            except RequestTimedOut:
                self._changed.set()

    async def _listen(self) -> None:
        async for event in self._connection.events():
            if isinstance(event, BotWanted) and self._has_room(event):
                self._keys.append(event.key)
                bot = asyncio.create_task(self._play(event))
                self._playing[bot] = event.table
                bot.add_done_callback(self._ended)
                self._changed.set()

    def _has_room(self, wanted: BotWanted) -> bool:
        """Test whether to seat that bot: the request is new, and neither table nor bot host has too many."""
        at_table = sum(code == wanted.table for code in self._playing.values())
        is_new = wanted.key not in self._keys and wanted.level in BOT_LEVELS
        return is_new and at_table < MOST_AT_TABLE and len(self._playing) < MOST_BOTS

    async def _play(self, wanted: BotWanted) -> None:
        """Seat a bot and let it race until it leaves."""
        try:
            async with seated_bot(
                self._connection.url,
                lambda session: session.sit_down(wanted.table),
                wanted.level,
                reports_link=False,
            ) as bot:
                try:
                    await first_result(bot.play(), _deserted(bot.session))
                finally:
                    alarms = bot.session.state.alarms if bot.session.state else ()
                    for told in told_alarms(alarms):
                        LOG.warning("%s at %s: %s", bot.name, wanted.table, told)
        except Problem as problem:
            is_usual = problem.code in (Exit.REFUSED, Exit.NOT_VERIFIED)
            LOG.log(
                logging.INFO if is_usual else logging.WARNING,
                "a bot has left %s: %s",
                wanted.table,
                problem,
            )
        except Exception:
            LOG.exception("a bot at %s has failed", wanted.table)

    def _ended(self, bot: asyncio.Task[None]) -> None:
        del self._playing[bot]
        self._changed.set()


async def _deserted(session: TableSession) -> None:
    """Wait until no person is at the table."""
    async for state in session.states():
        if all(seat.bot for seat in state.table.seats):
            return
    await asyncio.Event().wait()  # `play` says how the session has ended
