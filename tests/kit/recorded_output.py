"""A plain session without a terminal: prepared commands as input, and a list of the lines written."""

import io
from collections.abc import Iterable

from saratoga_client.plain.line_reader import LineReader
from saratoga_client.plain.output import LineOutput
from saratoga_client.plain.session import PlainSession


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
    return PlainSession(LineReader(source), output), output
