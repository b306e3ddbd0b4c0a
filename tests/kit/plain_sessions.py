"""Plain sessions without a terminal: prepared commands as input, and a list of the lines written.

A player types at a table without a server, or joins or watches a table of a scripted server.
"""

import asyncio
import io
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import cast

from msgspec.structs import replace

from kit.screens import FakeSession
from kit.scripted_server import CODE, PLAYER, TOKEN, ScriptedPeer, scripted_server, snapshot
from kit.session_states import opening
from saratoga_client.net.connection import Connection, Timing
from saratoga_client.plain.commands import TableCommands
from saratoga_client.plain.event_lines import ChangeWriter
from saratoga_client.plain.grammar import Context, parse_line
from saratoga_client.plain.session import ExitReason, LineOutput, LineReader, PlainSession
from saratoga_client.plain.table import play_table
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_protocol import commands, events
from saratoga_rules.records.record import RaceRecord


class RecordedOutput(LineOutput):
    """An output that keeps every line written to it."""

    def __init__(self) -> None:
        super().__init__(prompts=False)
        self.lines: list[str] = []

    def write(self, *lines: str) -> None:
        self.lines.extend(lines)

    def write_all(self, lines: Iterable[str]) -> None:
        self.write(*lines)


def scripted_session(*commands: str) -> tuple[PlainSession, RecordedOutput]:
    """Return a session that reads these commands and then ends, and its output.

    Call it inside a running event loop.
    """
    output = RecordedOutput()
    source = io.BytesIO("".join(f"{command}\n" for command in commands).encode())
    return PlainSession(LineReader(source.read), output), output


class AnsweringSession(FakeSession):
    """A session whose server answers at once."""

    server = "ws://192.168.1.7:7470"

    async def until(self, holds: Callable[[SessionState], bool]) -> None:
        while not holds(self._now()):
            self.confirm()


class TypingPlayer:
    """A player who types commands at a table; the server answers at once."""

    def __init__(
        self,
        first: SessionState,
        context: Context = Context.TABLE,
        record: RaceRecord | None = None,
    ) -> None:
        session, self.output = scripted_session()
        self.session = session
        self.seat = AnsweringSession(first, opening(), record)
        self.context = context
        table = cast(TableSession, self.seat)
        self.writer = ChangeWriter(self.output, table.now)
        self.commands = TableCommands(session, table, self.writer, context)

    async def say(self, line: str) -> list[str]:
        """Type a line; return the lines that answer it."""
        output: RecordedOutput = self.output
        before = len(output.lines)
        await self.commands.do(parse_line(line, self.context))
        return output.lines[before:]


@asynccontextmanager
async def at_table(
    *typed: str,
    is_watching: bool = False,
    timing: Timing = Timing(),  # noqa: B008 - frozen
) -> AsyncIterator[tuple[ScriptedPeer, "asyncio.Future[ExitReason]", RecordedOutput]]:
    """Join or watch a table and type these commands there."""
    async with (
        scripted_server() as server,
        Connection(server.url, TOKEN, timing=timing) as connection,
    ):
        peer = await server.peer()
        session, output = scripted_session(*typed)
        playing = asyncio.ensure_future(
            play_table(connection, CODE, is_watching=is_watching, session=session)
        )
        entering = await peer.command()
        assert entering == commands.JoinTable(id=entering.id, table=CODE, seat=not is_watching)
        seats = [] if is_watching else [events.Seat(player=PLAYER, name="Anna")]
        entered = snapshot(re=entering.id)
        await peer.send(replace(entered, table=replace(entered.table, seats=seats)))
        yield peer, playing, output
