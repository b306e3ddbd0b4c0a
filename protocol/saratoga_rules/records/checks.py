"""The outcome of one check of a record."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check."""

    name: str
    ok: bool
    detail: str
    """A sentence that says what was found, or what is wrong."""
    unknown: bool = False
    """True if only a newer program may be able to make the check; `ok` is false then."""

    @property
    def mark(self) -> str:
        return "ok" if self.ok else "unknown" if self.unknown else "WRONG"


def check_of(name: str, faults: Iterable[str], otherwise: str) -> Check:
    """Return a check that says what is wrong, or `otherwise` if there is no fault."""
    found = "; ".join(faults)
    return Check(name, not found, found or otherwise)
