"""A bot's decision: the next move, or none, and the memory for the next decision.

A chooser is a pure function: the same view and memory always give the same choice, whatever the
hidden cards are. The weak bot derives its apparent randomness from a hash of the view.
"""

from binascii import crc32
from typing import NamedTuple, Protocol

from saratoga_client.bots.memory import Memory
from saratoga_rules.game import Game
from saratoga_rules.moves import Move
from saratoga_rules.position import View


def percent(*values: object) -> int:
    """Return a number from 0 to 99 that depends only on the values."""
    return crc32(" ".join(map(str, values)).encode()) % 100


class Choice(NamedTuple):
    """A bot's decision."""

    move: Move | None
    """The move to make; `None` to cash out, because the bot finds no useful move."""
    memory: Memory
    """The memory for the next choice, to be updated by `memory.remember`."""


class Chooser(Protocol):
    """A function that decides for a bot."""

    def __call__(self, game: Game, view: View, memory: Memory, /) -> Choice:
        """Choose a legal move, or stop; a game played by these choices always ends."""
        ...
