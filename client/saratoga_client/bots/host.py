"""A bot host: a connection that offers bots to a server's tables, and the bots that it was asked for.

Every bot is a player with a connection of its own. It leaves when its table closes, when it is kicked, or when no
person is at the table any more.
"""

import asyncio
import logging
from collections import deque
from functools import partial
from typing import Final

from saratoga_client.bots.player import first_result
from saratoga_client.bots.seat import seated_bot
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import LinkState, RequestTimedOut
from saratoga_client.problems import Exit, Problem, told_alarms
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.table_session import TableSession
from saratoga_client.wording import BOT_LEVELS
from saratoga_protocol.commands import OfferBots
from saratoga_protocol.events import BotWanted

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
