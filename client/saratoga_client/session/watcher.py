"""Follow a table without a seat, as a stream of states."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

from saratoga_client.local.clock import now
from saratoga_client.net.connection import Connection
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.table_view import TableView, first_view, next_view
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_protocol.commands import WatchTable


async def watched_states(
    connection: Connection,
    code: str,
    *,
    witness: Witness | None = None,
    records: RecordStore | None = None,
) -> AsyncIterator[SessionState]:
    """Yield the table's state, and the new state after every change, until the table is closed.

    Raises `Problem` if the table cannot be watched, or not any longer. Close the generator
    (`contextlib.aclosing`) to stop watching earlier. All times are of the server's clock:
    `connection.now()`.
    """
    session = TableSession(connection, witness=witness, records=records)
    changes: asyncio.Queue[SessionState | None] = asyncio.Queue()
    session.subscribe(changes.put_nowait)
    await session.watch(code)
    attending = asyncio.create_task(session.attend(), name=f"watching {code}")
    attending.add_done_callback(lambda _: changes.put_nowait(None))
    try:
        while (state := await changes.get()) is not None:
            yield state
            if state.phase == "closed":
                return
        await attending
    finally:
        attending.cancel()
        await asyncio.gather(attending, return_exceptions=True)


CLOSED = "closed"


async def pictures(house: Connection, code: str) -> AsyncIterator[TableView]:
    """The table as it is, and again whenever it has changed, until it is closed.

    Raises `Problem` if it cannot be followed any longer, or what came between.
    """
    # the answer comes among the events too, and so does every later snapshot
    await house.request(partial(WatchTable, table=code))
    picture: TableView | None = None
    async for event in house.events():
        if isinstance(event, events.SeatLost) and event.table == code:
            raise Problem(
                f"The table {code} can no longer be watched.", event.reason, Exit.NOT_FOUND
            )
        before = picture
        if picture is not None:
            picture = next_view(picture, event, now())
        elif isinstance(event, events.Snapshot) and event.table.code == code:
            picture = first_view(event, now())
        if picture is not None and picture is not before:
            yield picture
            if picture.table.phase == CLOSED:
                return
