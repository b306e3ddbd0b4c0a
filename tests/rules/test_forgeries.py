"""Forgeries: no record with a lie is accepted, though all its digests are right."""

from collections import Counter

import pytest

from kit.forgeries import forgeries, honest_races
from kit.record_lies import LIES
from saratoga_rules.records.record import RaceRecord, digest_of
from saratoga_rules.records.verify import verify


@pytest.mark.parametrize(
    "record", honest_races(), ids=lambda record: f"{record.game}-{record.race}"
)
def test_the_races_that_are_forged_are_honest(record: RaceRecord) -> None:
    verdict = verify(record)
    assert verdict.ok, verdict.faults


def accepted(count: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Return the forgeries that verify, and how many there were of each lie."""
    found, tried = [], Counter[str]()
    for lie, text in forgeries(count, seed):
        tried[lie] += 1
        verdict = verify(text)
        if verdict.ok:
            found.append(f"{lie}: {digest_of(text)}")
    return found, tried


def test_no_forgery_is_accepted() -> None:
    found, tried = accepted(300, seed=1)
    assert found == []
    assert set(LIES) <= set(tried), "every lie was told"


@pytest.mark.long
def test_of_ten_thousand_forgeries_none_is_accepted() -> None:
    found, tried = accepted(10_000, seed=2)
    assert found == []
    assert min(tried[lie] for lie in LIES) > 20
