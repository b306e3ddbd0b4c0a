"""How a no is said: the code, what was wrong this time, and whether to try again."""

from saratoga_protocol.events import BoardView, Refused
from saratoga_protocol.refusals import REASONS


def refused(code: str, re: int | None, detail: str = "", board: BoardView | None = None) -> Refused:
    """The refusal with this code; without a detail, the sentence that goes with the code."""
    reason = REASONS[code]
    return Refused(
        re=re, code=code, message=detail or reason.sentence, retry=reason.retry, board=board
    )
