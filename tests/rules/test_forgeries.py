"""Forgeries: no record with a lie is accepted, though all its digests are right.

A record alone does not prove a racer's name, when the race started, the table's race before, who of two racers
left, whether a racer cashed out, left or was removed, or the time of an entry as long as the order of all entries
stays; if nothing was dealt, not even who raced. What a client saw proves them. All else is forged here.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.races import BEFORE, Entrant, closed, countdown_voided, race
from kit.record_lies import LIES, VOID_LIES, sealed
from kit.walks import banking, wandering
from saratoga_rules.games import GAMES
from saratoga_rules.records.record import (
    VOID_REASONS,
    RaceRecord,
    digest_of,
    format_record,
    parse_record,
)
from saratoga_rules.records.standing import State
from saratoga_rules.records.verify import verify


class Forgery(NamedTuple):
    """A forged record, its digest computed again."""

    lie: str
    text: str


FIELD: Final = (
    Entrant("Anna", banking, patience=30),
    Entrant("Zoë", wandering, goes=State.LEFT, patience=20),
    Entrant("Cay", banking, bot=True, patience=12),
    Entrant("Ben", wandering, patience=2),
    Entrant("Dan", wandering, patience=1),
)
STUCK_FIELD: Final = (Entrant("Anna", banking), Entrant("Ben", banking))


RECORDS: Final = Path(__file__).parent.parent / "rules" / "records"


@cache
def honest_races() -> tuple[RaceRecord, ...]:
    """Return honest races of every game, also won ones, ones that end at the time limit, one racer alone."""
    files = [*RECORDS.glob("caprice-won-*.record"), *RECORDS.glob("klondike-won-*.record")]
    won = [parse_record(path.read_text("ascii")) for path in files]
    played = [
        record
        for name in GAMES
        for record in (
            race(name, 0, FIELD),
            race(name, 1, FIELD, pace=30_000, previous=BEFORE),
            race(name, 2, FIELD[:1]),
        )
    ]
    stuck = [race(name, 3, STUCK_FIELD) for name in ("klondike", "canfield", "lafayette")]
    return (*won, *played, *stuck)


@cache
def honest_voids() -> tuple[RaceRecord, ...]:
    """Return honest voided races, for every reason."""
    record = race("canfield", 4, FIELD, previous=BEFORE)
    countdowns = [countdown_voided(record, reason) for reason in VOID_REASONS if reason != "closed"]
    return (*countdowns, closed(record, 20), closed(race("caprice", 1, STUCK_FIELD), 30))


def forgeries(count: int, seed: int = 0) -> Iterator[Forgery]:
    """Yield forged records; every kind of lie in turn, each about a race that chance chooses."""
    chance = Random(f"forgeries {seed}")
    sources = [
        *((name, lie, honest_races()) for name, lie in LIES.items()),
        *((f"voided: {name}", lie, honest_voids()) for name, lie in VOID_LIES.items()),
    ]
    made = 0
    while made < count:
        for name, lie, records in sources:
            for record in chance.sample(records, 7):
                forged = lie(record, chance)
                if forged is not None:
                    yield Forgery(name, format_record(forged))
                    break
            else:
                continue
            made += 1
        for record in chance.sample((*honest_races(), *honest_voids()), 12):
            text = format_record(record)
            if record.deal is not None:
                yield Forgery("one field", one_field(text, chance))
                made += 1


PROVED: Final = (
    r"^(?:game|rules|race|cap|public|commitment|seed|deal|nonce-hash) (.+)$|^nonce ([0-9a-f]+)$"
    r"|^racer ([a-z2-7]+) |^[0-9]+ ([0-9]+) |^[0-9]+ [0-9]+ ((?:draw|redeal|.+>.+))$"
    r"|^place ([0-9]+) |^place [0-9]+ ([a-z2-7]+) |^place \S+ \S+ ([0-9]+) |^place (?:\S+ ){3}(\S+) "
    r"|^place (?:\S+ ){4}(\S+) |^place .+ (\S+)$"
)
"""The fields that a record proves by itself."""


def one_field(text: str, chance: Random) -> str:
    """Return a record with another character in one field that the record proves."""
    lines = text.split("\n")[:-2]
    while True:
        at = chance.randrange(1, len(lines))
        found = re.search(PROVED, lines[at])
        if found is None or found.lastindex is None:
            continue
        start, end = found.span(found.lastindex)
        place = chance.randrange(start, end)
        other = chance.choice("0123456789abcdefCSHDAJ>twr")
        changed = lines[at][:place] + other + lines[at][place + 1 :]
        if changed != lines[at]:
            return sealed([*lines[:at], changed, *lines[at + 1 :]])


@pytest.mark.parametrize(
    "record",
    [*honest_races(), *honest_voids()],
    ids=lambda record: f"{record.game} {record.voided}",
)
def test_the_races_that_are_forged_are_honest(record: RaceRecord) -> None:
    verdict = verify(record)
    assert verdict.ok, verdict.faults


def accepted(count: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Return the forgeries that are not contradicted, and how many there were of each lie.

    One that claims to be made by another release may not be checkable.
    """
    found, tried = [], Counter[str]()
    for lie, text in forgeries(count, seed):
        tried[lie] += 1
        verdict = verify(text)
        unknown = {check.name for check in verdict.checks if check.unknown}
        if verdict.ok or not (verdict.is_contradicted or unknown <= {"text", "rules"}):
            found.append(f"{lie}: {digest_of(text)}")
    return found, tried


def test_no_forgery_is_accepted() -> None:
    found, tried = accepted(2000, seed=1)
    assert found == []
    lies = {*LIES, *(f"voided: {name}" for name in VOID_LIES)}
    assert lies <= set(tried), "every lie was told"


# Tampering: every changed byte is detected, and no forgery crashes the verifier


DIGEST_LINE = "digest\n"
SHORT = format_record(
    race(
        "caprice", 2, [Entrant("Anna", banking, patience=2), Entrant("Ben", wandering, patience=1)]
    )
)


def test_every_single_byte_counts() -> None:
    for at in range(len(SHORT)):
        assert not verify(SHORT[:at] + SHORT[at + 1 :]).ok, f"without byte {at}"
        other = "1" if SHORT[at] != "1" else "2"
        assert not verify(SHORT[:at] + other + SHORT[at + 1 :]).ok, f"another byte {at}"


@given(st.binary(max_size=60))
def test_random_bytes_are_not_a_record(junk: bytes) -> None:
    assert not verify(junk).ok
    assert verify(junk).record is None


@given(st.integers(0, 10**6), st.text('0123456789abcdefCSHD#=/-,.>:" ', max_size=3))
def test_verifying_a_forgery_raises_no_other_error(place: int, put: str) -> None:
    at = place % SHORT.index("\ndigest ")
    body = SHORT[:at] + put + SHORT[at + 1 :].rsplit("digest ", 1)[0]
    verdict = verify(f"{body}digest {digest_of(body + DIGEST_LINE)}\n")
    assert "digest" not in {check.name for check in verdict.faults}
