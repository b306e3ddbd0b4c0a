"""Build refusal events: code, sentence, and whether and when to retry."""

from math import ceil

from saratoga_protocol.events import BoardView, Refused
from saratoga_protocol.refusals import REASONS
from saratoga_server.domain.tables import CommandRejected


def refused(
    code: str,
    re: int | None,
    detail: str = "",
    board: BoardView | None = None,
    wait: float = 0.0,
) -> Refused:
    """Return the refusal with this code; without `detail` it has the code's own sentence.

    `wait`: seconds after which the command may succeed; 0: unknown.
    """
    reason = REASONS[code]
    return Refused(
        re=re,
        code=code,
        message=detail or reason.sentence,
        retry=reason.retry,
        wait=ceil(wait * 1000),
        board=board,
    )


def too_much(what: str, wait: float) -> CommandRejected:
    """Return the refusal for a rate limit; `what` is a sentence about the limit, `wait` in seconds."""
    seconds = max(1, ceil(wait))
    return CommandRejected("too_fast", f"{what} Wait {seconds} s.", wait)
