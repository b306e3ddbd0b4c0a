"""Replays of records, mainly of recorded whole races that must stay replayable.

The recorded games were played at random, the won boards by a search that saw every card. They
belong to version 1 of the rules: if one of them no longer holds, either a rule was changed without a
new version or the engine is wrong.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from kit.races import Entrant, race, replay
from kit.walks import banking, wandering
from saratoga_rules.analysis import legal_moves
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import LogLine, RaceRecord, format_record, parse_record
from saratoga_rules.records.replay import ReplayError
from saratoga_rules.records.standing import State
from saratoga_rules.records.verify import verify

FILES = sorted((Path(__file__).parent).glob("*.record"))
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)

RECORD = race("canfield", 5, [Entrant("Anna", banking), Entrant("Ben", wandering, patience=9)])
ANNA, BEN = RECORD.racers


@cache
def recorded(path: Path) -> RaceRecord:
    return parse_record(path.read_bytes().decode("ascii"))


@every_file
def test_a_recorded_race_verifies(path: Path) -> None:
    verdict = verify(path.read_bytes())
    assert verdict.ok, verdict.faults


@every_file
def test_a_recorded_race_is_written_byte_for_byte(path: Path) -> None:
    assert format_record(recorded(path)).encode() == path.read_bytes()


def test_won_and_lost_races_of_every_game_are_recorded() -> None:
    for game in GAMES:
        records = [recorded(path) for path in FILES if recorded(path).game == game]
        endings = {row.state for record in records for row in record.results}
        assert endings >= {State.WON, State.STUCK, State.CASH_OUT, State.OUT_OF_TIME}, game


def test_a_move_against_the_rules_is_named() -> None:
    assert "r>t1" not in map(str, legal_moves(GAMES["canfield"], RECORD.opening))
    cheated = replace(ANNA, log=(LogLine(1, 1, "r>t1"), *ANNA.log))
    with pytest.raises(ReplayError, match="entry 1: r>t1: "):
        replay(replace(RECORD, racers=(cheated, BEN)), ANNA.player)
