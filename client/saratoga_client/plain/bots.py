"""The typed command `bot`, and the lines on the bots that a player has brought to a table."""

from saratoga_client.bots.local_bots import LocalBots
from saratoga_client.plain.session import PlainSession
from saratoga_client.session.table_session import TableSession
from saratoga_client.wording import BOT_LEVELS


class BotCommand:
    """The bots of one player at one table."""

    def __init__(self, session: PlainSession, table_session: TableSession) -> None:
        self._session = session
        self._table = table_session
        self._bots = LocalBots(
            lambda name: session.output.write(f"ok: {name} has sat down"),
            self._raise_alarm,
            lambda problem: session.output.write(f"bot: {problem}"),
        )

    async def bring(self, words: str) -> None:
        """Seat a bot of the strength that the words name. Raises `Problem`."""
        state = self._table.state
        assert state is not None, "commands are read once the table is known"
        if words.lower() not in BOT_LEVELS:
            self._session.output.write("no: Which bot? Type bot weak, bot even, or bot strong.")
            return
        await self._bots.bring(self._table.server, state.table.code, words.lower())

    async def leave(self) -> None:
        """Let all bots leave the table."""
        await self._bots.leave()

    def _raise_alarm(self, alarm: str) -> None:
        self._session.alarms.append(alarm)
        self._session.output.write(f"alarm: {alarm}")
