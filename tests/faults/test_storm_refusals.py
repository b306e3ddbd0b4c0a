"""The judgement of refusals that players received in a storm."""

import dataclasses
from typing import Any

import pytest

from kit.recorded_players import Notes, Refusal
from kit.storms.refusals import untrue_refusals


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
