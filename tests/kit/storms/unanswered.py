"""Stored moves whose acknowledgement never reached the player.

A fault may lose an answer; the player's next connection receives it again. An answer is lost for
good only if the board ended meanwhile, or the player asked again with another id. Every lost answer
must have a cause in the player's notes, and the player must have seen the board before moving on.
"""

from collections.abc import Iterator

from kit.recorded_players import Notes
from saratoga_rules.records.record import LOG_ENDINGS, RaceRecord


def unanswered_moves(record: RaceRecord, notes: Notes) -> list[int]:
    """Return the positions in the player's log of commands that were never acknowledged."""
    log = record.racer(notes.player).log
    answered = {_place(each.after, len(log)) for each in notes.of_race(record.race_id)}
    return [
        place
        for place, line in enumerate(log)
        if place not in answered and (line.text == "cash-out" or line.text not in LOG_ENDINGS)
    ]


def unexplained(record: RaceRecord, notes: Notes) -> Iterator[str]:
    """Describe missing answers that no fault in the player's notes explains."""
    race, missing = record.race_id, unanswered_moves(record, notes)
    if not missing:
        return
    lost, pipelined = notes.lost_answers[race], notes.pipelined[race]
    # One move at most is unanswered when an answer gets lost, or all that were pipelined.
    if len(missing) > lost + (pipelined if lost else 0):
        yield (
            f"never had an answer to {len(missing)} moves, at {missing}, and at most {lost} "
            f"answers can have got lost ({pipelined} moves were pipelined)"
        )
    if not pipelined:
        yield from _moves_without_a_board(race, missing, notes)


def _moves_without_a_board(race: str, missing: list[int], notes: Notes) -> Iterator[str]:
    """Find moves made after an unanswered one without a view of the board in between."""
    shown = {board.count for board in notes.shown.get(race, ())}
    moves = {each.after for each in notes.of_race(race) if each.after is not None}
    for place in missing:
        if place + 1 in moves and place + 1 not in shown:
            yield f"moved on after {place + 1} moves without having been shown the last of them"


def _place(after: int | None, length: int) -> int:
    return length - 1 if after is None else after
