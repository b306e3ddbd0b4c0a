"""Replay a record: every position follows from the deal and the log."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from saratoga_rules.game import Game
from saratoga_rules.games import RULES, RULES_VERSION
from saratoga_rules.moves import parse_move
from saratoga_rules.play import IllegalMove, play
from saratoga_rules.position import Position
from saratoga_rules.records.record import LogLine, RaceRecord
from saratoga_rules.records.void_record import VoidRecord


class ReplayError(ValueError):
    """A record that cannot be replayed; the text says why."""


class Step(NamedTuple):
    """An entry of a log and the position after it."""

    line: LogLine
    position: Position


def game_of(record: RaceRecord | VoidRecord) -> Game:
    """Return the game of a record, in the version of the rules by which the race was played.

    Raises `ReplayError` if this program does not know the version or the game.
    """
    games = RULES.get(record.rules_version)
    if games is None:
        newer = "; a newer one may" if record.rules_version > RULES_VERSION else ""
        raise ReplayError(
            f"the race was played by version {record.rules_version} of the rules;"
            f" this program knows version {listed(RULES)}{newer}"
        )
    if record.game not in games:
        raise ReplayError(f"there is no game called {record.game}")
    return games[record.game]


def listed(versions: Collection[int]) -> str:
    """Return the versions as text: `1`, or `1 to 3` (versions have no gaps)."""
    first, last = min(versions), max(versions)
    return f"{first}" if first == last else f"{first} to {last}"


def replay(record: RaceRecord, player: str) -> list[Position]:
    """Return the deal and the position after every entry of a racer's log.

    An ending is an entry too, and does not change the position. Raises `ReplayError` if the game is
    unknown or a move is illegal, and `KeyError` if the player did not race.
    """
    return [record.deal, *(step.position for step in steps(record, player))]


def steps(record: RaceRecord, player: str) -> list[Step]:
    """Return every entry of a racer's log with the position after it; raise as `replay` does."""
    return steps_from(game_of(record), record.deal, record.racer(player).log)


def steps_from(game: Game, position: Position, log: Iterable[LogLine]) -> list[Step]:
    """Return every entry of a log with the position after it. Raises `ReplayError` at an illegal move."""
    made: list[Step] = []
    for entry, line in enumerate(log, start=1):
        if line.is_move:
            position = _played(game, position, line, entry)
        made.append(Step(line, position))
    return made


def _played(game: Game, position: Position, line: LogLine, entry: int) -> Position:
    try:
        return play(game, position, parse_move(line.text))
    except IllegalMove as refused:
        raise ReplayError(f"entry {entry}: {refused}") from refused
