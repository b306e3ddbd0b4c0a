"""Check the endings of boards: the log shows how each board ended, and the server may declare it so."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from saratoga_rules.game import Game
from saratoga_rules.play import is_won
from saratoga_rules.position import Position
from saratoga_rules.records.record import LOG_ENDINGS, LogLine, RaceRecord, RacerLog
from saratoga_rules.records.replay import Step
from saratoga_rules.records.standing import IDLE_MILLIS, LAST_BOARD_MILLIS, State
from saratoga_rules.stuck.stuck import is_stuck, may_declare

PROOF_LIMIT: Final = 50_000
"""The most arrangements searched to prove a board stuck; the server searches far fewer."""


def faults_of_ending(
    game: Game, record: RaceRecord, racer: RacerLog, made: Sequence[Step]
) -> Iterator[str]:
    """Yield what is wrong with the ending of a racer's board; `made` is the replay of the racer's log."""
    yield from faults_after_end(game, made)
    line, position = made[-1] if made else Step(LogLine(0, 0, ""), record.deal)
    if is_won(game, position) and line.is_move:
        declared = State.WON
    else:
        declared = State(line.text) if line.text in LOG_ENDINGS else State.RACING
    if declared is not racer.state:
        yield f"the log ends as {declared}, not {racer.state}"
    proof = _PROOFS.get(declared)
    if proof is not None:
        yield from proof(game, record, line, position)
    if declared is State.IDLE:
        yield from _idle_faults(made)


def faults_after_end(game: Game, made: Sequence[Step]) -> Iterator[str]:
    """Yield where the replay of a log goes on after an ending or a win."""
    for line, position in made[:-1]:
        if not line.is_move or is_won(game, position):
            yield f"the log continues after the board ended at {line.at} ms"


def _stuck_faults(
    game: Game, record: RaceRecord, line: LogLine, position: Position
) -> Iterator[str]:
    if not may_declare(position):
        yield "declared stuck before every stock card had been seen"
        return
    stuck = is_stuck(game, position, limit=PROOF_LIMIT)
    if stuck is None:
        yield f"a search of {PROOF_LIMIT} arrangements did not prove the board stuck"
    elif not stuck:
        yield "declared stuck, but more cards could have been banked"


def _timeout_faults(
    game: Game, record: RaceRecord, line: LogLine, position: Position
) -> Iterator[str]:
    allowed = record.time_allowed
    if allowed is None:
        yield "ended out of time in a race without a time limit"
    elif line.at < allowed:
        yield f"ended out of time at {line.at} ms, before the deadline"


def _host_faults(
    game: Game, record: RaceRecord, line: LogLine, position: Position
) -> Iterator[str]:
    others = [racer.log[-1] for racer in record.racers if racer.log and racer.log[-1] != line]
    if not others:
        yield "ended by the host, but nobody else raced"
    elif line.at - max(other.at for other in others) < LAST_BOARD_MILLIS:
        yield f"ended by the host less than {LAST_BOARD_MILLIS} ms after all other boards"


def _idle_faults(made: Sequence[Step]) -> Iterator[str]:
    last = made[-2].line.at if len(made) > 1 else 0
    if made[-1].line.at - last < IDLE_MILLIS:
        yield f"ended as idle less than {IDLE_MILLIS} ms after the racer's last move"


_Proof: TypeAlias = Callable[[Game, RaceRecord, LogLine, Position], Iterator[str]]

_PROOFS: Final[Mapping[State, _Proof]] = {
    State.STUCK: _stuck_faults,
    State.OUT_OF_TIME: _timeout_faults,
    State.ENDED_BY_HOST: _host_faults,
}
"""The proofs of the endings that only the server declares, by state."""
