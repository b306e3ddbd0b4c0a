"""The judgement of refusals that players received in a storm."""

import dataclasses
from typing import Any

import msgspec
import pytest

from kit.messages import BOARD
from kit.races import Entrant, race
from kit.recorded_players import Acknowledged, Notes, Refusal
from kit.storms.refusals import untrue_refusals, untrue_refusals_of_race
from kit.walks import banking
from saratoga_protocol.commands import AnyCommand, MakeMove, Ready
from saratoga_server.ports import LogEntry, Millis, StoredBoard


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"code": "banned", "retry": False}, "was refused banned for command 7"),
        ({"retry": False}, "with retry False"),
        ({"wait": 0}, "without a time to wait"),
        ({"moment": 99.0}, "without a fault of nodes or store"),
        ({}, ""),
    ],
)
def test_a_refusal_that_no_fault_explains_is_described(changed: dict[str, Any], words: str) -> None:
    refusal = Refusal(id=7, code="store_unavailable", retry=True, wait=500, board=None, moment=12.0)
    notes = Notes(refusals=[dataclasses.replace(refusal, **changed)])
    found = list(untrue_refusals(notes, [(10.0, 20.0)]))
    assert len(found) == bool(words)
    assert all(words in fault for fault in found)


MOVE = MakeMove(id=7, race=BOARD.race, after=3, move="draw")
READY = Ready(id=7, table="mint-otter-42", commitment="c0" * 32, nonce_hash="d0" * 32)


@pytest.mark.parametrize(
    ("command", "is_acknowledged", "is_true"),
    [(MOVE, False, True), (MOVE, True, False), (None, False, False), (READY, False, False)],
    ids=["refused before", "acknowledged", "acknowledged in an audited race", "not a move"],
)
def test_only_a_move_that_was_not_acknowledged_can_be_stale(
    command: AnyCommand | None, is_acknowledged: bool, is_true: bool
) -> None:
    stale = Refusal(id=7, code="stale_id", retry=False, wait=0, board=None, moment=12.0)
    done = Acknowledged(7, BOARD.race, 3, "draw", BOARD, repeat=False, moment=11.0)
    notes = Notes(
        sent={} if command is None else {7: command},
        acknowledged=[done] if is_acknowledged else [],
        refusals=[stale],
    )
    assert (list(untrue_refusals(notes, [])) == []) is is_true


RACE = race("canfield", 1, [Entrant("Anna", banking, patience=6)])
(ANNA,) = RACE.racers
CARRIED_OUT = StoredBoard(
    epoch=1,
    last_id=6,
    banked=ANNA.banked,
    state="",
    entries=tuple(
        LogEntry(line.text, Millis(line.at), line.number, command_id)
        for command_id, line in enumerate(ANNA.log, start=1)
    ),
)


@pytest.mark.parametrize(
    ("code", "count", "is_true"),
    [("stale_move", 3, True), ("stale_move", 5, False), ("bad_move", 3, False)],
    ids=["it came too early", "it had been carried out", "another code"],
)
def test_a_move_that_was_carried_out_can_only_have_been_refused_as_too_early(
    code: str, count: int, is_true: bool
) -> None:
    move = MakeMove(id=5, race=RACE.race_id, after=4, move=ANNA.log[4].text)
    board = msgspec.structs.replace(BOARD, race=RACE.race_id, count=count)
    refusal = Refusal(id=5, code=code, retry=False, wait=0, board=board, moment=12.0)
    notes = Notes(player=ANNA.player, sent={5: move}, refusals=[refusal])
    found = list(untrue_refusals_of_race(RACE, CARRIED_OUT, notes))
    assert found == [] if is_true else "which was carried out" in found[0]
