"""Judge the refusals that players received in a storm: each must be true.

The racing bots obey the protocol, so most codes can only be wrong for them.
"""

from collections.abc import Iterator, Sequence

from kit.races import replay, state_in
from kit.recorded_players import Notes, Refusal
from saratoga_protocol.commands import CashOut, MakeMove, Reveal
from saratoga_protocol.refusals import RETRIED
from saratoga_rules.analysis import legal_moves
from saratoga_rules.games import GAMES
from saratoga_rules.position import redact
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.standing import State
from saratoga_server.ports import StoredBoard

TRUE_AT_TIMES = {
    "board_over",
    "draining",
    "illegal_move",
    "no_such_race",
    "nobody_ready",
    "ready_blocked",
    "stale_move",
    "store_unavailable",
    "time_up",
    "wrong_commitment",
    "wrong_phase",
}
"""The codes that a bot may receive in a storm."""

NOTICED_LATE = 5.0
"""Seconds after the recovery from a fault for which the store may still be unavailable to a player."""

Period = tuple[float, float]
"""When a fault was injected, and when all players were back (`time.monotonic()`)."""


def untrue_refusals(notes: Notes, troubles: Sequence[Period]) -> Iterator[str]:
    """Describe the refusals that cannot be true, whatever the race.

    `troubles` are the faults of nodes and store.
    """
    for refusal in notes.refusals:
        what = f"{notes.player} was refused {refusal.code} for command {refusal.id}"
        if refusal.code not in TRUE_AT_TIMES:
            yield what
        elif refusal.retry != (refusal.code in RETRIED):
            yield f"{what}, with retry {refusal.retry}"
        elif refusal.retry and refusal.wait <= 0:
            yield f"{what}, without a time to wait"
        elif refusal.code == "store_unavailable" and not any(
            began <= refusal.moment <= back + NOTICED_LATE for began, back in troubles
        ):
            yield f"{what}, without a fault of nodes or store"


def untrue_refusals_of_race(record: RaceRecord, board: StoredBoard, notes: Notes) -> Iterator[str]:
    """Describe the refusals of nonces, moves and cash-outs in a race that its record contradicts."""
    racer = record.racer(notes.player)
    state = state_in(record, notes.player)
    stored = [entry.text for entry in board.entries]
    for refusal in notes.refusals:
        command = notes.sent.get(refusal.id)
        if isinstance(command, Reveal) and _is_first(command, notes):
            if refusal.code == "wrong_phase" and command.nonce == racer.nonce:
                yield f"{notes.player} was refused a nonce as too late, and its countdown went on"
            continue
        if not isinstance(command, MakeMove | CashOut) or command.race != record.race_id:
            continue
        what = f"{notes.player} was refused {refusal.code} for command {refusal.id}"
        yield from _contradicted(refusal, command, stored, what)
        if refusal.code == "time_up" and state != State.OUT_OF_TIME:
            yield f"{what}, and ended as {state}"
        if refusal.code == "illegal_move" and _is_legal(record, command, notes.player):
            yield f"{what}, which was legal"
        if refusal.code == "stale_move" and _is_at(refusal, command):
            yield f"{what}, which was meant for the board's position"
    if state in (State.LEFT, State.GONE):
        yield f"{notes.player} was taken from the race, and has not left it"


def _is_first(command: Reveal, notes: Notes) -> bool:
    """Return whether no earlier command revealed the same nonce."""
    shown = (sent for sent in notes.sent.values() if isinstance(sent, Reveal))
    return command.id == min(sent.id for sent in shown if sent.nonce == command.nonce)


def _contradicted(
    refusal: Refusal, command: MakeMove | CashOut, stored: Sequence[str], what: str
) -> Iterator[str]:
    """Describe a refusal that the entries of the board contradict: the command was carried out."""
    if refusal.code == "no_such_race" or isinstance(command, CashOut):
        return  # the race was over: its record says whether the move counts
    is_there = stored[command.after : command.after + 1] == [command.move]
    if not refusal.retry and is_there and not _is_too_early(refusal, command.after + 1):
        yield f"{what}, which was carried out"


def _is_too_early(refusal: Refusal, place: int) -> bool:
    """Return whether a move came before the move that its place in the log follows.

    Links deliver moves in another order, and again. The id of a refused move is free, so the same frame
    is carried out when it comes again in its turn.
    """
    board = refusal.board
    return refusal.code == "stale_move" and board is not None and board.count < place - 1


def _is_legal(record: RaceRecord, command: MakeMove | CashOut, player: str) -> bool:
    """Return whether a move was legal at the position that it was meant for."""
    positions = replay(record, player)
    if isinstance(command, CashOut) or command.after >= len(positions):
        return False
    view = redact(positions[command.after])
    return command.move in map(str, legal_moves(GAMES[record.game], view))


def _is_at(refusal: Refusal, command: MakeMove | CashOut) -> bool:
    """Return whether the board that came with the refusal is the one that the move was meant for."""
    if refusal.board is None or isinstance(command, CashOut):
        return False
    return refusal.board.count == command.after and refusal.board.race == command.race
