"""The tables that this node could not read, so that each of them is logged once."""

from typing import Final

MOST_NOTED: Final = 10_000
"""The most tables that are noted; those that were asked for least recently are dropped first."""


class UnreadableTables:
    """The codes of the tables that could not be read for one reason."""

    def __init__(self) -> None:
        self._codes: dict[str, None] = {}

    def __contains__(self, code: str) -> bool:
        return code in self._codes

    def note(self, code: str) -> bool:
        """Note that a table could not be read; return whether it was not noted before."""
        is_new = code not in self._codes
        self._codes.pop(code, None)
        self._codes[code] = None
        if len(self._codes) > MOST_NOTED:
            del self._codes[next(iter(self._codes))]
        return is_new

    def discard(self, code: str) -> None:
        """Drop a table that could be read."""
        self._codes.pop(code, None)
