"""Follow a table without a seat, as a stream of states."""

import asyncio
from collections.abc import AsyncGenerator

from saratoga_client.net.connection import Connection
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness


async def watched_states(
    connection: Connection,
    code: str,
    *,
    witness: Witness | None = None,
    records: RecordStore | None = None,
) -> AsyncGenerator[SessionState, None]:
    """Yield the table's state, and the new state after every change, until the table is closed.

    After it is closed, states follow until the records of its races are checked.
    Raises `Problem` if the table cannot be watched, also later. Close the generator
    (`contextlib.aclosing`) to stop watching earlier. All times are of the server's clock:
    `connection.now()`.
    """
    session = TableSession(connection, witness=witness, records=records)
    changes: asyncio.Queue[SessionState | None] = asyncio.Queue()
    session.subscribe(changes.put_nowait)
    await session.watch(code)
    attending = asyncio.create_task(session.attend(), name=f"watching {code}")
    attending.add_done_callback(lambda _: changes.put_nowait(None))
    is_closed = False
    try:
        while (state := await changes.get()) is not None:
            is_closed = state.phase == "closed"
            yield state
        if not is_closed:
            await attending
    finally:
        attending.cancel()
        await asyncio.gather(attending, return_exceptions=True)
