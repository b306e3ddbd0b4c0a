"""Warn a player who has given no sign of activity, before the server ends the board or chooses another host."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from saratoga_client.session.state import SessionState
from saratoga_client.session.state_store import StateStore
from saratoga_rules.records.standing import IDLE_MILLIS

WARNED_AT: Final = (15, 60)
"""Seconds before the board's end at which the player is warned, the last warning first. A host is warned once,
at the first of them: whether the place passes on depends on the others too."""


def may_end_as_idle(state: SessionState) -> bool:
    """Return whether the server ends the player's board after three minutes without a sign."""
    own = state.own
    is_racing = own is not None and own.is_racing and state.phase == "running"
    return is_racing and len(state.table.seats) > 1


def may_lose_host(state: SessionState) -> bool:
    """Return whether the server makes another person host after three minutes without a sign."""
    others = (seat for seat in state.table.seats if seat.player != state.player and not seat.bot)
    return state.is_host and state.is_between_races and any(others)


class Activity:
    """The time since the player's last sign of activity; writes `SessionState.idle_left`.

    It counts by the server's clock, which goes on while this machine is suspended. The server counts from its
    last start at the earliest, and says so in every snapshot.
    """

    def __init__(self, store: StateStore, now: Callable[[], int]) -> None:
        """`now` returns the server's time in milliseconds since 1970."""
        self._store = store
        self._now = now
        self._since = 0
        """The time of the last sign; 0 if this program has not seen one."""
        self._warned_at: tuple[int, ...] = ()
        """`_warned_at` of the state at the last check."""

    def note(self) -> None:
        """Note a sign of activity; a warning ends."""
        self._since = self._now()
        self._warn(0)

    def check(self) -> None:
        """Warn if it is time."""
        state = self._store.state
        if state is None:
            return
        before, self._warned_at = self._warned_at, _warned_at(state)
        if not self._warned_at or (before and before != self._warned_at):
            self.note()
            return
        since = max(self._since, state.idle_since, state.start_at)
        left = since + IDLE_MILLIS - self._now()
        at = next((seconds for seconds in self._warned_at if left <= seconds * 1000), 0)
        self._warn(at, since + IDLE_MILLIS if at else 0)

    def _warn(self, left: int, until: int = 0) -> None:
        state = self._store.state
        if state is not None and state.idle_left != left:
            self._store.replace(replace(state, idle_left=left, idle_until=until))


def _warned_at(state: SessionState) -> tuple[int, ...]:
    """Return how many seconds before the end of the three minutes the player is warned; empty if never."""
    if may_end_as_idle(state):
        return WARNED_AT
    return WARNED_AT[-1:] if may_lose_host(state) else ()
