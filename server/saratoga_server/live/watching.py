"""Who may follow a table without a seat: many, and no one address all of them."""

from collections.abc import Iterable

from saratoga_server.domain.tables import Refusal
from saratoga_server.live.session import Session
from saratoga_server.rate_limits.rates import MAX_WATCHERS


def check_room_to_watch(session: Session, code: str, audience: Iterable[Session]) -> None:
    """Whether one more of that audience may watch; raises `Refusal`."""
    if code in session.watching:
        return
    watchers = [each.quota for each in audience if code in each.watching]
    if len(watchers) >= MAX_WATCHERS:
        raise Refusal("table_full", "As many watch that table as can.")
    if not session.quota.may_watch_beside(watchers):
        raise Refusal("table_full", "As many watch that table from your address as may.")
