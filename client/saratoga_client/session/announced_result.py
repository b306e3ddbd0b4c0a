"""The result that the server announces, compared with the record and with what it announced before. Pure.

Every field of the result follows from the record, so every field is compared. The result of a race
never changes: players keep the names under which they raced, and a server that forgets a player
keeps the record.
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import asdict

from saratoga_client.session.seen_board import shortened
from saratoga_protocol.events import Outcome, Result
from saratoga_protocol.outcomes import outcome_of
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import ReplayError

MOST_DIFFERENCES: Final = 5
"""The most differences that are told; the rest is counted."""

PARTS: Final = "parts of the announced result"

RESULT_AND_VOID: Final = "the server announced a result, and now says that it voided the race"
RESULT_UNREADABLE: Final = "the announced result cannot be compared: the record's result has players who did not race, or a game that this program does not know"


def faults_of_outcome(announced: Outcome, record: RaceRecord, digest: str) -> Iterator[str]:
    """Yield the differences between an announced result and the record with that digest."""
    try:
        implied = outcome_of(record, digest)
    except (KeyError, ReplayError):
        yield RESULT_UNREADABLE
        return
    yield from shortened(_differences(announced, implied, "in the record"), PARTS, MOST_DIFFERENCES)


def faults_of_repeat(first: Outcome, later: Outcome) -> Iterator[str]:
    """Yield the differences between the first result that was announced and a later one of the race."""
    differences = _differences(first, later, "in a later announcement")
    yield from shortened(differences, PARTS, MOST_DIFFERENCES)


def _differences(first: Outcome, other: Outcome, where: str) -> Iterator[str]:
    one, two = asdict(first), asdict(other)
    for part in ("race", "game", "ranked"):
        if one[part] != two[part]:
            yield _sentence(_WORDS.get(part, part), one[part], two[part], where)
    for part in ("seed", "nonces", "digest"):
        if one[part] != two[part]:
            yield f"the announced {part} is not the one {where}"
    players, others = ([row.player for row in each.results] for each in (first, other))
    if players != others:
        yield _sentence("order of players", ", ".join(players), ", ".join(others), where)
        return
    for row, counterpart in zip(first.results, other.results, strict=True):
        yield from _row_differences(row, counterpart, where)


def _row_differences(row: Result, other: Result, where: str) -> Iterator[str]:
    one, two = asdict(row), asdict(other)
    for part, value in one.items():
        if value != two[part]:
            what = f"{_WORDS.get(part, part)} of {row.player}"
            yield _sentence(what, value, two[part], where)


def _sentence(what: str, first: object, other: object, where: str) -> str:
    return f"the announced {what} was {_shown(first)}, and {where} is {_shown(other)}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in (None, "") else str(value)


_WORDS: Final = {
    "ranked": "mark as ranked",
    "bot": "bot mark",
    "moves": "number of moves",
    "banked": "number of banked cards",
    "reached": "time of the last rise",
    "ended": "time of the ending",
}
