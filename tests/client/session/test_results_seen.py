"""Results, matches and voided races as they were announced, compared with what this machine saw."""

from typing import Any

import pytest
from msgspec.structs import asdict, fields, replace

from kit.finished_races import finished_race
from kit.sightings import announced
from saratoga_client.session.announced_result import (
    faults_of_outcome,
    faults_of_repeat,
)
from saratoga_protocol.events import Outcome

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


@pytest.mark.parametrize("name", [field.name for field in fields(Outcome)])
def test_every_field_of_the_result_is_compared(name: str) -> None:
    lie = replace(TOLD, **{name: other(asdict(TOLD)[name], name)})
    (fault,) = faults_of_outcome(lie, RECORD, TOLD.digest)
    assert "in the record" in fault
    (fault,) = faults_of_repeat(TOLD, lie)
    assert "in a later announcement" in fault
