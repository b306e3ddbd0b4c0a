"""A table followed over a connection, as a stream of pictures."""

from collections.abc import AsyncIterator
from functools import partial

from saratoga_client.local.clock import now
from saratoga_client.net.connection import Connection
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.table_view import TableView, first_view, next_view
from saratoga_protocol import events
from saratoga_protocol.commands import WatchTable

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
