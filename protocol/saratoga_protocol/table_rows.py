"""The rows of the list of public tables on the wire."""

from msgspec import Struct


class TableSummary(Struct, frozen=True, kw_only=True):
    """A public table in `Tables`."""

    code: str
    game: str
    cap: int
    host: str
    """The host's name."""
    phase: str
    seated: int
    seats: int
