"""Errors for players: a message, a remedy and an exit code.

Every expected error of a command is a `Problem`; `cli.frame.run` prints it on standard error and
returns its code. Any other exception is a bug and ends with `UNEXPECTED`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum

MISSING = "Missing: "
"""The beginning of the sentence about a race whose record the server does not have."""


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


@contextmanager
def alarmed_at_end(alarms: Sequence[str]) -> Iterator[None]:
    """End a block of a program with the alarms that were raised in it, if there are any.

    Raises `Problem` with all of `alarms`, and with the message of the `Problem` that ended the
    block.
    """
    try:
        yield
    except Problem as problem:
        told = [alarm for alarm in told_alarms(alarms) if alarm not in problem.what]
        if not told:
            raise
        said = (*problem.said, *told)
        raise Problem(problem.what, problem.remedy, Exit.NOT_VERIFIED, said=said) from problem
    if alarms:
        first, *others = told_alarms(alarms)
        raise Problem(first, "", Exit.NOT_VERIFIED, said=tuple(others))


def told_alarms(alarms: Sequence[str]) -> list[str]:
    """Return alarms as they are printed; a record that is missing is said as such."""
    told = (each if each.startswith(MISSING) else f"ALARM: {each}" for each in alarms)
    return list(dict.fromkeys(told))
