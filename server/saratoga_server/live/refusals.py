"""How a no is said: the code, what was wrong this time, and whether to try again."""

from math import ceil

from saratoga_protocol.events import BoardView, Refused
from saratoga_protocol.refusals import REASONS
from saratoga_server.domain.tables import Refusal


def refused(
    code: str,
    re: int | None,
    detail: str = "",
    board: BoardView | None = None,
    wait: float = 0.0,
) -> Refused:
    """The refusal with this code; without a detail, the sentence that goes with the code.

    `wait`: seconds after which the same may be a yes, where that is known.
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


def too_much(what: str, wait: float) -> Refusal:
    """A no to who has met a limit: `what` there was too much of, and how long to wait."""
    seconds = max(1, ceil(wait))
    return Refusal("too_fast", f"{what} Wait {seconds} s.", wait)
