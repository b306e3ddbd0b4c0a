"""The announced result is compared with the record in every field."""

import dataclasses
from typing import Any

import pytest
from msgspec.structs import asdict, fields, replace

from kit.finished_races import finished_race
from kit.sightings import announced
from saratoga_client.session.announced_result import (
    RESULT_UNREADABLE,
    faults_of_outcome,
    faults_of_repeat,
)
from saratoga_protocol.events import Outcome, Result

RECORD = finished_race()
TOLD = announced(RECORD)

OTHERS: dict[str, Any] = {
    "digest": "00" * 32,
    "nonces": {},
    "results": [],
    "tie": "reached it later",
}
"""Another value of a field, if neither one more nor another text will do."""


def other(value: object, name: str) -> Any:
    if name in OTHERS:
        return OTHERS[name]
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}x"


def test_an_honest_result_has_no_fault() -> None:
    assert list(faults_of_outcome(TOLD, RECORD, TOLD.digest)) == []
    assert list(faults_of_repeat(TOLD, TOLD)) == []


@pytest.mark.parametrize("name", [field.name for field in fields(Outcome)])
def test_every_field_of_the_result_is_compared(name: str) -> None:
    lie = replace(TOLD, **{name: other(asdict(TOLD)[name], name)})
    (fault,) = faults_of_outcome(lie, RECORD, TOLD.digest)
    assert "in the record" in fault
    (fault,) = faults_of_repeat(TOLD, lie)
    assert "in a later announcement" in fault


@pytest.mark.parametrize("name", [field.name for field in fields(Result)])
def test_every_field_of_a_row_is_compared(name: str) -> None:
    first = TOLD.results[0]
    rows = [replace(first, **{name: other(asdict(first)[name], name)}), *TOLD.results[1:]]
    (fault,) = faults_of_outcome(replace(TOLD, results=rows), RECORD, TOLD.digest)
    assert fault.startswith("the announced ")
    assert first.player in fault


def test_many_differences_are_counted() -> None:
    rows = [replace(row, name=f"{row.name}x", moves=0, bot=not row.bot) for row in TOLD.results]
    faults = list(faults_of_repeat(TOLD, replace(TOLD, results=rows)))
    assert faults[-1] == "and 4 more parts of the announced result differ"
    assert faults[0] == (
        f"the announced name of {rows[0].player} was {TOLD.results[0].name}, "
        f"and in a later announcement is {rows[0].name}"
    )
    (fault,) = faults_of_repeat(TOLD, replace(TOLD, ranked=not TOLD.ranked))
    assert fault == "the announced mark as ranked was yes, and in a later announcement is no"


def test_a_result_that_cannot_be_computed_is_a_fault() -> None:
    for record in (
        dataclasses.replace(RECORD, game="nerts"),
        dataclasses.replace(RECORD, racers=RECORD.racers[1:]),
    ):
        assert list(faults_of_outcome(TOLD, record, TOLD.digest)) == [RESULT_UNREADABLE]
