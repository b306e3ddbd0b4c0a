"""Moves that stand in a record, and that the player who made them never had an answer to.

Every answer may get lost on its way, and the next line brings it once more; for good it is lost only
where the board has ended meanwhile, or the player has asked again under another id. Then something
has happened to the player for every such move, and whoever played on was shown the board first.
"""

from collections.abc import Iterator

from kit.recorded_players import Notes
from saratoga_rules.records.record import LOG_ENDINGS, RaceRecord


def unheard(record: RaceRecord, notes: Notes) -> list[int]:
    """The places in the player's log of moves, and of a cash-out, that were never acknowledged."""
    log = record.racer(notes.player).log
    heard = {_place(each.after, len(log)) for each in notes.of_race(record.race_id)}
    return [
        place
        for place, line in enumerate(log)
        if place not in heard and (line.text == "cash-out" or line.text not in LOG_ENDINGS)
    ]


def unexplained(record: RaceRecord, notes: Notes) -> Iterator[str]:
    """Where the house has kept answers to itself, as far as the player's notes can tell."""
    race, missing = record.race_id, unheard(record, notes)
    if not missing:
        return
    lost, hurried = notes.lost_answers[race], notes.hurried[race]
    # at most one move is under way when an answer gets lost, or as many as were sent in a hurry
    if len(missing) > lost + (hurried if lost else 0):
        yield (
            f"never had an answer to {len(missing)} moves, at {missing}, and at most {lost} "
            f"answers can have got lost ({hurried} moves were sent in a hurry)"
        )
    if not hurried:
        yield from _played_blindly(race, missing, notes)


def _played_blindly(race: str, missing: list[int], notes: Notes) -> Iterator[str]:
    """Behind a move without an answer another was made, and no picture of the board lay between."""
    pictures = {board.count for board in notes.shown.get(race, ())}
    moves = {each.after for each in notes.of_race(race) if each.after is not None}
    for place in missing:
        if place + 1 in moves and place + 1 not in pictures:
            yield f"went on from {place + 1} moves, and was never told of the last of them"


def _place(after: int | None, length: int) -> int:
    return length - 1 if after is None else after
