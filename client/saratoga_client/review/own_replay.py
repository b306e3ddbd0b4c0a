"""The replay of the player's own board before the race is over: only what the player saw."""

from saratoga_client.review.boards import OpenBoard
from saratoga_client.review.replay import Replay
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import rows
from saratoga_rules.records.record import LogLine
from saratoga_rules.records.standing import State


def own_replay(state: SessionState) -> Replay | None:
    """Return the replay of the player's own board at its first view; `None` while it races, or without one."""
    own, trail = state.own, state.trail
    if own is None or own.is_racing or trail is None or trail.race != own.race:
        return None
    row = next((row for row in rows(state.table_view) if row.player == state.player), None)
    board = OpenBoard(
        player=state.player,
        name="you",
        bot=False,
        place=1 if row is None else row.place,
        banked=own.banked,
        net=own.net,
        state=State(own.state),
        reached=None,
        entries=tuple(LogLine(step.at, 0, step.text) for step in trail.steps),
        seen=(trail.first, *(step.view for step in trail.steps)),
        since=trail.since,
    )
    return Replay(own.game, own.race, (board,), moment=trail.since)
