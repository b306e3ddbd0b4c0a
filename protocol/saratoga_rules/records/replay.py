"""Replay a record: every position follows from the deal and the log."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from saratoga_rules.game import Game
from saratoga_rules.games import RULES, RULES_VERSION
from saratoga_rules.moves import parse_move
from saratoga_rules.play import is_won, play
from saratoga_rules.position import Position
from saratoga_rules.records.record import LogLine, RaceRecord
from saratoga_rules.records.standing import State


class ReplayError(ValueError):
    """A record that cannot be replayed; the text says why."""


class UnknownGame(ReplayError):
    """A record of a game, or of a version of the rules, that this program does not know."""


class Step(NamedTuple):
    """An entry of a log and the position after it."""

    line: LogLine
    position: Position


def game_of(record: RaceRecord) -> Game:
    """Return the game of a record, in the version of the rules by which the race was played.

    Raises `UnknownGame` if this program does not know the version or the game.
    """
    version = record.rules_version
    game = RULES.get(version, {}).get(record.game)
    if game is None:
        release = "an older" if version < RULES_VERSION else "a newer"
        raise UnknownGame(
            f"made by {release} release: this program does not know {record.game} by version {version} of the rules"
        )
    return game


def steps(record: RaceRecord, player: str) -> list[Step]:
    """Return every entry of a racer's log with the position after it.

    Raises `ReplayError` if the game is unknown or a move is illegal, `ValueError` if nothing was
    dealt, and `KeyError` if the player did not race.
    """
    return steps_from(game_of(record), record.opening, record.racer(player).log)


def steps_from(game: Game, position: Position, log: Iterable[LogLine]) -> list[Step]:
    """Return every entry of a log with the position after it. Raises `ReplayError` at an illegal move."""
    made: list[Step] = []
    for entry, line in enumerate(log, start=1):
        if line.is_move:
            try:
                position = play(game, position, parse_move(line.text))
            except ValueError as refused:
                raise ReplayError(f"entry {entry}: {refused}") from refused
        made.append(Step(line, position))
    return made


def state_of(game: Game, made: Sequence[Step], deal: Position) -> State:
    """Return the state of a board after the replay of its log."""
    if made and not made[-1].line.is_move:
        return State(made[-1].line.text)
    return State.WON if is_won(game, made[-1].position if made else deal) else State.RACING
