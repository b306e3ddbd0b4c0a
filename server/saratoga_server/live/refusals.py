"""Build refusals, each with a code, a sentence, and when to retry; also for internal errors."""

from math import ceil

from saratoga_protocol.events import BoardView, Refused
from saratoga_protocol.refusals import REASONS, RETRIED, RETRY_WAIT
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.live.session import Session
from saratoga_server.logs import EventLog
from saratoga_server.metrics import Metrics
from saratoga_server.ports import Damage, StoreUnavailable

log = EventLog("commands")


def refused(
    code: str,
    re: int | None,
    detail: str = "",
    board: BoardView | None = None,
    wait: float = 0.0,
) -> Refused:
    """Return the refusal with this code; without `detail` it has the code's own sentence.

    `wait`: seconds after which the command may succeed; 0: unknown. A refusal that asks for a retry
    always has a wait, so that no client repeats a command in a tight loop.
    """
    unknown = RETRY_WAIT if code in RETRIED else 0
    return Refused(
        re=re,
        code=code,
        message=detail or REASONS[code],
        retry=code in RETRIED,
        wait=ceil(wait * 1000) or unknown,
        board=board,
    )


def too_much(what: str, wait: float) -> CommandRejected:
    """Return the refusal for a rate limit; `what`: a sentence about it, `wait` in seconds."""
    seconds = max(1, ceil(wait))
    return CommandRejected("too_fast", f"{what} Wait {seconds} s.", wait)


def unknown_player() -> CommandRejected:
    """Return the refusal for a connection whose player the store has lost."""
    return CommandRejected(
        "hello_first",
        "The server does not know you any more: its store has lost your data. Connect again.",
    )


def failed(session: Session, command_id: int | None, fault: Exception, metrics: Metrics) -> Refused:
    """Log and count an unexpected error of a command, and return the answer to the command."""
    if isinstance(fault, StoreUnavailable):
        metrics.store_errors.inc()
        log.debug("store_unavailable", player=session.player, reason=str(fault))
        code = "store_unavailable"
    elif isinstance(fault, Damage):
        log.error("data_damaged", player=session.player, reason=str(fault))
        code = "damaged"
    else:
        log.error("server_fault", fault=fault, player=session.player)
        code = "server_fault"
    metrics.refusals.labels(code).inc()
    return refused(code, command_id)
