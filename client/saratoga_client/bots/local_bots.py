"""The bots that a player brings to a table: they run in the player's program, and leave with the player."""

import asyncio
from collections.abc import AsyncIterator, Callable

from saratoga_client.problems import MISSING, Exit, Problem
from saratoga_client.session.state import SessionState


class LocalBots:
    """The bots of one player at one table."""

    def __init__(
        self,
        alarm: Callable[[str], None],
        stopped: Callable[[str], None],
    ) -> None:
        """Call `alarm` with how the server contradicted itself, `stopped` with why a bot has stopped."""
        self._alarm = alarm
        self._stopped = stopped
        self._playing: set[asyncio.Task[None]] = set()

    async def bring(self, server: str, code: str, strength: str) -> str:
        """Seat a bot, which then races until the table closes; return its name. Raises `Problem`."""
        is_seated: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        bot = asyncio.create_task(self._play(server, code, strength, is_seated))
        self._playing.add(bot)
        await asyncio.wait((bot, is_seated), return_when=asyncio.FIRST_COMPLETED)
        if not is_seated.done():
            self._playing.discard(bot)
            bot.result()
        bot.add_done_callback(self._ended)
        return is_seated.result()

    async def leave(self) -> None:
        """Let all bots leave the table; raise the internal error of a bot that had one."""
        for bot in self._playing:
            bot.cancel()
        for ended in await asyncio.gather(*self._playing, return_exceptions=True):
            if isinstance(ended, Exception) and not isinstance(ended, Problem):
                raise ended

    async def _play(
        self, server: str, code: str, strength: str, is_seated: asyncio.Future[str]
    ) -> None:
        # Imported here, so that programs without a bot start faster.
        from saratoga_client.bots.seat import seated_bot

        async with seated_bot(
            server, lambda session: session.sit_down(code), strength, reports_link=False
        ) as bot:
            is_seated.set_result(bot.shown_name)
            telling = asyncio.create_task(self._tell_alarms(bot.name, bot.session.states()))
            try:
                await bot.play()
            except Problem as problem:
                if problem.code != Exit.REFUSED:
                    raise
                # the host has removed the bot, or its seat is gone
                self._stopped(f"{bot.name} has left.")
            finally:
                await asyncio.wait([telling])

    async def _tell_alarms(self, name: str, states: AsyncIterator[SessionState]) -> None:
        told: set[str] = set()
        async for state in states:
            for alarm in state.alarms:
                # of a missing record the player's own program says so, until it comes
                if alarm not in told and not alarm.startswith(MISSING):
                    self._alarm(f"The bot {name}: {alarm}")
                told.add(alarm)

    def _ended(self, bot: asyncio.Task[None]) -> None:
        if not bot.cancelled() and isinstance(problem := bot.exception(), Problem):
            self._playing.discard(bot)
            self._stopped(str(problem))
