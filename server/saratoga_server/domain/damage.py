"""Damage: stored data of a race from which the race cannot go on."""

from collections.abc import Iterable
from typing import Final

from saratoga_server.ports import LogEntry


class Damage(ValueError):
    """Stored data of a race that cannot be what the server wrote; the text says what is wrong."""


class BoardDamaged(Damage):
    """A stored board that cannot be replayed."""

    def __init__(self, what: str, readable: Iterable[LogEntry] = ()) -> None:
        super().__init__(what)
        self.readable: Final = tuple(readable)
        """The entries of its log before the damage."""
