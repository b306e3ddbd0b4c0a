"""After a restore: give every open table race numbers that no lost race had."""

from saratoga_server.domain.tables import Change, CommandRejected, TableState, restored
from saratoga_server.live.seeds import new_seed
from saratoga_server.live.table_cache import TableCache
from saratoga_server.ports import Millis
from saratoga_server.stores import Stores


async def renumber(stores: Stores, table_cache: TableCache) -> int:
    """Let the race numbers of all open tables go on higher (`domain.tables.restored`); return how many tables.

    Tables that this program cannot read are left as they are.
    """

    def renumbered(state: TableState, now: Millis) -> Change | None:
        return restored(state, now=now, fresh_seed=new_seed())

    tables = 0
    async for code in stores.tables.all_codes():
        try:
            applied = await table_cache.change(code, renumbered)
        except CommandRejected:
            continue
        table_cache.forget(code)
        tables += applied.change is not None
    return tables
