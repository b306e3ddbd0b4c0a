"""A client's table session over a stepped connection, for tests of the client."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import pytest

from kit.in_process_server import Deal, open_in_process_server
from kit.players import RECEIVED_WITHIN
from kit.stepped_connection import AT_ONCE, SteppedConnection
from saratoga_client.net.connection import Timing
from saratoga_client.problems import Problem
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness
from saratoga_protocol.commands import Command, JoinTable, Start
from saratoga_protocol.events import Event
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.position import redact
from saratoga_server.domain.board import Board
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS

Result = TypeVar("Result")


class SteppedSession:
    """A client's session of a player at a table, on a server in the test's own process."""

    def __init__(self, connection: SteppedConnection, folder: Path) -> None:
        self.connection = connection
        self.network = connection.network
        self.server = connection.network.server
        self.records = RecordStore(folder / "records")
        self.session = TableSession(
            connection, witness=Witness(folder / "witness"), records=self.records, backoff=AT_ONCE
        )
        self.attending = asyncio.create_task(self.session.attend())

    @property
    def state(self) -> SessionState:
        assert self.session.state is not None
        return self.session.state

    @property
    def own(self) -> OwnBoard:
        assert self.state.own is not None
        return self.state.own

    async def do(self, action: Awaitable[Result]) -> Result:
        """Start an action of the player, answer and deliver all messages, and return the action's result."""
        doing = asyncio.ensure_future(action)
        async with asyncio.timeout(RECEIVED_WITHIN):
            while not doing.done():
                await self.settle()
        return await doing

    async def receive(self, *sent: Event) -> None:
        """Deliver events that an honest server would not send, or not at this moment."""
        for event in sent:
            self.network.send_event(event)
        await self.settle()

    async def problem(self) -> Problem:
        """Wait until a problem ends the session; return the problem."""
        with pytest.raises(Problem) as ended:
            await self.attending
        return ended.value

    async def settle(self) -> None:
        """Answer and deliver until no message is on its way and the server has finished its work."""
        await self.network.settle()
        await self.server.settle()
        while self.network.has_work:
            await self.network.settle()
            await self.server.settle()

    async def pass_time(self, millis: int) -> None:
        """Advance the server's time and deliver the events that this causes."""
        await self.server.pass_time(millis)
        await self.settle()

    async def gather(self, game: str = "canfield", cap: int = 10) -> str:
        """Open a table and return its code."""
        return (await self.do(self.session.open_table(game, cap=cap))).code

    async def start_race(self) -> None:
        """Start a race against Ben, who makes no move, and wait until the boards are dealt."""
        rival = await self.server.player("Ben")
        await rival.at_table(JoinTable, table=self.state.table.code)
        await rival.ready()
        await self.do(self.session.ready())
        await self.do(self.session.send(Start))
        await rival.reveal()
        await self.settle()
        await self.pass_time(COUNTDOWN_MILLIS)
        assert self.own.is_racing

    async def on_another_device(self, kind: type[Command], **fields: object) -> None:
        """Disconnect, and meanwhile send a command about the race from another device."""
        await self.network.cut()
        device = await self.server.player("Ann")
        await device.at_table(JoinTable, table=self.state.table.code)
        await device.ask(kind, race=self.own.race, **fields)
        await device.disconnect()

    # The server's side

    async def board(self) -> Board:
        """Return the player's board at the server."""
        race = self.server.node.races.known(self.own.race)
        assert race is not None
        _, board = await self.server.node.races.board(race, self.state.player)
        return board

    async def check_board(self) -> None:
        """Check that the shown board is the server's board."""
        board = await self.board()
        assert self.own.in_flight == ()
        assert self.own.shown == redact(board.position)
        assert self.own.state == board.state
        assert self.own.count == board.length

    async def moves(self) -> list[str]:
        """Return the entries of the board's log at the server."""
        return [entry.text for entry in (await self.board()).log]


@asynccontextmanager
async def stepped_session(
    deal: Deal = deal_for_key,
    timing: Timing = Timing(),  # noqa: B008 - frozen
) -> AsyncIterator[SteppedSession]:
    """Open a server and connect one player, who is at no table yet."""
    with TemporaryDirectory() as folder:
        async with (
            open_in_process_server(deal) as server,
            SteppedConnection(server, "Ann", timing) as connection,
        ):
            stepped = SteppedSession(connection, Path(folder))
            try:
                yield stepped
            finally:
                stepped.attending.cancel()
                await asyncio.gather(stepped.attending, return_exceptions=True)
