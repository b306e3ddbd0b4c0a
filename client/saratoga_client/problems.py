"""What can go wrong for a player, in words: what happened, what to do, and the exit code.

Every error that a command foresees is a `Problem`; `commands.group` prints it on the error
stream and ends with its code. Anything else is a mistake of ours and ends with `UNEXPECTED`.
"""

from enum import IntEnum

from saratoga_protocol.events import Refused


class Exit(IntEnum):
    """How a command ends, for scripts. Machine-readable and stable, like the JSON schemas."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    UNREACHABLE = 3
    REFUSED = 4
    TOO_OLD = 5
    NOT_FOUND = 6
    NOT_VERIFIED = 7
    INTERRUPTED = 130


class Problem(Exception):
    """A command cannot go on: `what` happened and `remedy`, each a sentence."""

    def __init__(
        self, what: str, remedy: str, code: Exit, refusal: str = "", said: tuple[str, ...] = ()
    ) -> None:
        super().__init__(what, remedy, code, refusal, said)
        self.what = what
        self.remedy = remedy
        self.code = code
        self.refusal = refusal
        """The house's own code, where the house said no."""
        self.said = said
        """Another program's last lines, to be shown below."""

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}".strip()


_NOT_FOUND = frozenset({"no_such_table", "no_such_race", "table_closed"})


def unreachable(server: str, reason: str) -> Problem:
    """Nobody answers at `server`."""
    return Problem(
        f"Cannot reach the house at {server}: {reason}.",
        "Is it running, and is the address right? Say which one with --server or SARATOGA_SERVER.",
        Exit.UNREACHABLE,
    )


def refused(refusal: Refused) -> Problem:
    """The house said no."""
    code = Exit.NOT_FOUND if refusal.code in _NOT_FOUND else Exit.REFUSED
    remedy = "The same may work later; nothing was changed." if refusal.retry else ""
    return Problem(refusal.message, remedy, code, refusal.code)


def too_old(server: str) -> Problem:
    """House and program have no subprotocol in common."""
    return Problem(
        f"The house at {server} speaks another version of the protocol.",
        "Bring this program up to date: pip install --upgrade saratoga.",
        Exit.TOO_OLD,
    )
