"""A talk in lines without a terminal: orders written down beforehand, and what is said to them."""

import io
from collections.abc import Iterable

from saratoga_client.plain.line_reader import LineReader
from saratoga_client.plain.output import Voice
from saratoga_client.plain.session import Talk


class Listener(Voice):
    """Remembers what is said."""

    def __init__(self) -> None:
        super().__init__(prompts=False)
        self.said: list[str] = []

    def say(self, *lines: str) -> None:
        self.said.extend(lines)

    def say_all(self, lines: Iterable[str]) -> None:
        self.say(*lines)


def talk_of(*orders: str) -> tuple[Talk, Listener]:
    """A talk with somebody who says these lines and then no more; inside a running loop."""
    listener = Listener()
    source = io.BytesIO("".join(f"{order}\n" for order in orders).encode())
    return Talk(LineReader(source), listener), listener
