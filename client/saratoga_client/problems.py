"""Errors for players: a message, a remedy and an exit code.

Every expected error of a command is a `Problem`; `cli.commands.run` prints it on standard error and
returns its code. Any other exception is a bug and ends with `UNEXPECTED`.
"""

from enum import IntEnum

from saratoga_protocol.events import Refused


class Exit(IntEnum):
    """Exit codes of the commands; they are stable, like the JSON schemas."""

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
    """The error that a command cannot continue; `what` and `remedy` are sentences for the player."""

    def __init__(
        self, what: str, remedy: str, code: Exit, refusal: str = "", said: tuple[str, ...] = ()
    ) -> None:
        super().__init__(what, remedy, code, refusal, said)
        self.what = what
        self.remedy = remedy
        self.code = code
        self.refusal = refusal
        """The server's refusal code; empty if the server did not refuse."""
        self.said = said
        """The last lines of another program, printed below the message."""

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}".strip()


_NOT_FOUND = frozenset({"no_such_table", "no_such_race", "table_closed"})


def unreachable(server: str, reason: str) -> Problem:
    """Return the error that no server answers at an address."""
    return Problem(
        f"Can't reach the server at {server}: {reason}.",
        "Is it running, and is the address right? Set it with --server or SARATOGA_SERVER.",
        Exit.UNREACHABLE,
    )


def refused(refusal: Refused) -> Problem:
    """Return the error for a refusal by the server."""
    code = Exit.NOT_FOUND if refusal.code in _NOT_FOUND else Exit.REFUSED
    remedy = "Try again later." if refusal.retry else ""
    return Problem(refusal.message, remedy, code, refusal.code)


def too_old(server: str) -> Problem:
    """Return the error that the server speaks another version of the protocol."""
    return Problem(
        f"The server at {server} speaks another version of the protocol.",
        "Update this program: pip install --upgrade saratoga.",
        Exit.TOO_OLD,
    )
