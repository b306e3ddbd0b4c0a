"""Check the endings of boards: the log shows how each board ended, and the server may declare it so."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from saratoga_rules.game import Game
from saratoga_rules.play import is_won
from saratoga_rules.position import Position
from saratoga_rules.records.record import RaceRecord, RacerLog
from saratoga_rules.records.replay import Step
from saratoga_rules.records.standing import IDLE_MILLIS, LAST_BOARD_MILLIS, LOG_ENDINGS, State
from saratoga_rules.stuck.stuck import is_stuck, may_declare

PROOF_LIMIT: Final = 50_000
"""The most arrangements searched to prove a board stuck; the server searches far fewer."""


class _End(NamedTuple):
    """The end of a racer's board; `made` is the replay of the racer's log."""

    game: Game
    record: RaceRecord
    racer: RacerLog
    made: Sequence[Step]

    @property
    def at(self) -> int:
        return self.made[-1].line.at

    @property
    def others(self) -> list[RacerLog]:
        return [each for each in self.record.racers if each is not self.racer]


def state_of(game: Game, made: Sequence[Step], deal: Position) -> State:
    """Return the state of a board after the replay of its log."""
    if made and made[-1].line.text in LOG_ENDINGS:
        return State(made[-1].line.text)
    return State.WON if is_won(game, made[-1].position if made else deal) else State.RACING


def faults_of_ending(
    game: Game, record: RaceRecord, racer: RacerLog, made: Sequence[Step]
) -> Iterator[str]:
    """Yield what is wrong with the end of a racer's board; `made` is the replay of the racer's log."""
    for line, position in made[:-1]:
        if not line.is_move or is_won(game, position):
            yield f"the log continues after the board ended at {line.at} ms"
    if not made:
        return
    line, position = made[-1]
    if not line.is_move and is_won(game, position):
        yield f"{line.text} follows the win"
    if line.text in _PROOFS and (fault := _PROOFS[line.text](_End(game, record, racer, made))):
        yield fault


def _stuck_fault(end: _End) -> str:
    position = end.made[-1].position
    if not may_declare(position):
        return "declared stuck before every stock card had been seen"
    stuck = is_stuck(end.game, position, limit=PROOF_LIMIT)
    if stuck is None:
        return f"a search of {PROOF_LIMIT} arrangements did not prove the board stuck"
    return "" if stuck else "declared stuck, but more cards could have been banked"


def _timeout_fault(end: _End) -> str:
    allowed = end.record.time_allowed
    if allowed is None:
        return "ended out of time in a race without a time limit"
    return f"ended out of time at {end.at} ms, before the deadline" if end.at < allowed else ""


def _host_fault(end: _End) -> str:
    others = [each.log[-1].at for each in end.others if each.log]
    if not others:
        return "ended by the host, but nobody else raced"
    is_early = end.at - max(others) < LAST_BOARD_MILLIS
    return f"ended by the host less than {LAST_BOARD_MILLIS} ms after all other boards" * is_early


def _idle_fault(end: _End) -> str:
    last = end.made[-2].line.at if len(end.made) > 1 else 0
    is_early = end.at - last < IDLE_MILLIS
    return f"ended as idle less than {IDLE_MILLIS} ms after the racer's last move" * is_early


def _bot_fault(end: _End) -> str:
    if not end.racer.bot:
        return "stopped as a bot, but a person raced here"
    people = [each for each in end.others if not each.bot and each.log]
    late = [each.name for each in people if each.log[-1].at > end.at]
    return f"stopped as a bot while {late[0]} still raced" if late else ""


def _vote_fault(end: _End) -> str:
    return "" if end.others else "ended by a vote, but nobody else raced"


_PROOFS: Final[Mapping[str, Callable[[_End], str]]] = {
    State.STUCK: _stuck_fault,
    State.OUT_OF_TIME: _timeout_fault,
    State.ENDED_BY_HOST: _host_fault,
    State.IDLE: _idle_fault,
    State.BOTS_STOPPED: _bot_fault,
    State.ENDED_BY_VOTE: _vote_fault,
}
"""For each ending that only the server declares, a function that returns why it may not, or an empty text."""
