"""A player who types commands at a table, without a server."""

from collections.abc import Callable
from typing import cast

from kit.recorded_output import RecordedOutput, scripted_session
from kit.session_states import opening
from kit.table_screens import FakeSession
from saratoga_client.plain.change_writer import ChangeWriter
from saratoga_client.plain.commands import TableCommands
from saratoga_client.plain.grammar import Context, parse_line
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_rules.records.record import RaceRecord


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
