"""What a bot's decision is made of: a move or none, and what to remember.

A chooser is pure: no chance, no clock. What looks random in a weak bot is drawn from the view
itself, so the same view and memory give the same choice, whatever lies face down.
"""

from typing import NamedTuple, Protocol

from saratoga_client.bots.memory import Memory
from saratoga_rules.game import Game
from saratoga_rules.moves import Move
from saratoga_rules.views import View


class Choice(NamedTuple):
    """What a bot does next."""

    move: Move | None
    """`None`: it sees nothing that leads further, and cashes out."""
    memory: Memory
    """To be carried to the next choice, through `memory.remember`."""


class Chooser(Protocol):
    """A bot's way to play."""

    def __call__(self, game: Game, view: View, memory: Memory, /) -> Choice:
        """Choose a legal move, or stop; whoever follows it always comes to an end."""
        ...
