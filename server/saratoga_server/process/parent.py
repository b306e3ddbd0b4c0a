"""Answer the program that started this server with `--until-eof`, over standard input and output.

It asks who would be sent away before it stops the server. Only that program has the two pipes.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from saratoga_server.logs import EventLog
from saratoga_server.process.output import STDOUT, write_within

QUESTION: Final = b"people"
"""The line on standard input that asks for the people on the server."""

ANSWER: Final = "saratoga-server people "
"""The beginning of the answer on standard output; a JSON list of player, name and table follows."""

WRITTEN_WITHIN: Final = 0.1
"""Seconds for which the event loop may wait for the answer to be written."""

log = EventLog("server")


async def answer_parent(
    lines: asyncio.Queue[bytes],
    people: Callable[[], Iterable[Any]],
    descriptor: int = STDOUT,
) -> None:
    """Answer the questions among the lines until cancelled; other lines mean nothing."""
    while True:
        if (await lines.get()).strip() != QUESTION:
            continue
        answer = ANSWER.encode() + msgspec.json.encode(list(people())) + b"\n"
        try:
            write_within(descriptor, answer, WRITTEN_WITHIN)
        except OSError as error:
            log.warning("answer_failed", text=str(error))
