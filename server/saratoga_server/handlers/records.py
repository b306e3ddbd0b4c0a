"""Handler of records of finished races, for players and over HTTP."""

from saratoga_protocol.commands import GetRecord
from saratoga_protocol.events import Record
from saratoga_server.domain.tables import CommandRejected, TablePhase, TableState
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache
from saratoga_server.store.tables import TableStore


class RecordHandlers:
    """The handler of `get_record`, and what the page asks about tables and races."""

    def __init__(self, tables: TableStore, table_cache: TableCache) -> None:
        self._tables = tables
        self._table_cache = table_cache

    async def get_record(self, session: Session, command: GetRecord) -> Record:
        return Record(re=command.id, race=command.race, text=await self.record(command.race))

    async def record(self, race: str) -> str:
        """Return the record of a finished race. Raises `CommandRejected`."""
        code, _, number = race.partition("/")
        text = await self._tables.load_record(code, int(number))
        if text is not None:
            return text
        state = (await self._table_cache.get(code)).state
        if state.race == int(number) and state.phase is not TablePhase.CLOSED:
            raise CommandRejected(
                "race_running", "That race is not over yet. Its record opens when it is."
            )
        raise CommandRejected("no_such_race")

    async def has_table(self, code: str) -> bool:
        """Return whether there is an open table with this code."""
        state = await self._state(code)
        return state is not None and state.phase is not TablePhase.CLOSED

    async def has_race(self, race: str) -> bool:
        """Return whether a race with this id has been gathered; its record may not be open yet."""
        code, _, number = race.partition("/")
        state = await self._state(code)
        return state is not None and int(number) <= state.race

    async def _state(self, code: str) -> TableState | None:
        try:
            return (await self._table_cache.get(code)).state
        except CommandRejected:
            return None
