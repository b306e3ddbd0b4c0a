"""Forgeries: no record with a lie is accepted, though all its digests are right."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import pytest

from kit.races import Entrant, race, void_record
from kit.record_lies import LIES, loosely_written
from kit.walks import banking, wandering
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import RaceRecord, digest_of, format_record, parse_record
from saratoga_rules.records.standing import State
from saratoga_rules.records.verify import verify
from saratoga_rules.records.voided import NONCE_MISSING


class Forgery(NamedTuple):
    """A forged record, its digest computed again."""

    lie: str
    text: str


FIELD: Final = (
    Entrant("Anna", banking, patience=70),
    Entrant("Zoë", wandering, goes=State.LEFT, patience=40),
    Entrant("Cay", banking, bot=True, patience=25),
    Entrant("Ben", wandering, patience=2),
    Entrant("Dan", wandering, patience=1),
)
STUCK_FIELD: Final = (Entrant("Anna", banking), Entrant("Ben", banking))


RECORDS: Final = Path(__file__).parent.parent / "rules" / "records"


@cache
def honest_races() -> tuple[RaceRecord, ...]:
    """Return honest races of every game: won ones, ones that end at the time limit, one with a chosen seed."""
    won = [parse_record(path.read_text("ascii")) for path in sorted(RECORDS.glob("*-won-*.record"))]
    played = [
        record
        for name in GAMES
        for record in (
            race(name, 0, FIELD),
            race(name, 1, FIELD, pace=30_000),
            race(name, 2, STUCK_FIELD),
            _voided_before(race(name, 3, FIELD[:3])),
            race(name, 4, FIELD[:2], chosen_seed=True),
        )
    ]
    return (*won, *played)


def forgeries(count: int, seed: int = 0) -> Iterator[Forgery]:
    """Yield forged records; every kind of lie in turn, each about a race that chance chooses."""
    chance = Random(f"forgeries {seed}")
    made = 0
    while made < count:
        for name, lie in LIES.items():
            for record in chance.sample(honest_races(), 8):
                forged = lie(record, chance)
                if forged is not None:
                    yield Forgery(name, format_record(forged))
                    break
            else:
                continue
            made += 1
        for record in chance.sample(honest_races(), 6):
            name, text = loosely_written(format_record(record), chance)
            yield Forgery(name, text)
            made += 1


def _voided_before(record: RaceRecord) -> RaceRecord:
    """Return the record with the race and the countdown before it listed as voided."""
    ids = [f"{record.table}/{number}" for number in (record.race - 2, record.race - 1)]
    race_line, line = (void_record(each, record.game).line for each in ids)
    hashes = dict.fromkeys(line.nonces, "ab" * 32)
    countdown = replace(line, reason=NONCE_MISSING, logs=0, nonces={}, missing=hashes)
    return replace(record, voided=(race_line, countdown))


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
