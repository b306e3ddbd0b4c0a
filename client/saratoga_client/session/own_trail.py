"""The player's own moves in a race with their times, for a review before the race is over. Pure.

A trail has only what the player saw: the player's own board, without its hidden cards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from saratoga_client.session.own_board import OwnBoard
from saratoga_rules.records.record import LOG_ENDINGS
from saratoga_rules.views import View

ENDING_WORDS: Final = {str(state): word for word, state in LOG_ENDINGS.items()}
"""The log's word for each ending that is an entry of its own."""


@dataclass(frozen=True, slots=True)
class TrailStep:
    """An entry of the player's log, and the board after it."""

    at: int
    """Milliseconds from the start of the race."""
    text: str
    """A move, or the log's word for an ending; empty for moves that this program did not see."""
    view: View


@dataclass(frozen=True, slots=True)
class Trail:
    """The course of the player's board in one race."""

    race: str
    first: View
    """The board at the deal, or the first one that this program saw."""
    steps: tuple[TrailStep, ...] = ()
    since: int = 0
    """Milliseconds from the start of the race until this program saw `first`; 0 if that is the deal."""


def next_trail(trail: Trail | None, before: OwnBoard | None, own: OwnBoard, at: int) -> Trail:
    """Return the trail after the confirmed board has changed, `at` milliseconds into the race."""
    if trail is None or before is None or trail.race != own.race:
        trail = Trail(own.race, own.view, since=at if own.count else 0)
        return trail if own.is_racing else replace(trail, steps=tuple(_ending(own, at)))
    steps = trail.steps
    if own.count < before.count:
        # the server has lost the last moves
        steps = steps[: max(0, len(steps) - (before.count - own.count))]
    elif own.count > before.count or (before.is_racing and not own.is_racing):
        steps = (*steps, *_made(before, own, at))
    return trail if steps is trail.steps else replace(trail, steps=steps)


def _made(before: OwnBoard, own: OwnBoard, at: int) -> Sequence[TrailStep]:
    ending = _ending(own, at) if before.is_racing and not own.is_racing else []
    moves = own.count - before.count - len(ending)
    if moves < 1:
        return ending
    is_known = moves == 1 and before.in_flight
    text = str(before.in_flight[0].move) if is_known else ""
    return [TrailStep(at, text, own.view), *ending]


def _ending(own: OwnBoard, at: int) -> list[TrailStep]:
    word = ENDING_WORDS.get(own.state, "")
    return [TrailStep(at, word, own.view)] if word else []
