"""What this machine keeps of open races, and which lies it catches."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as with_fields

from kit.positions import banking
from kit.races import Entrant, race
from saratoga_client.session.run_watch import OpenBook, SeenRun, contradictions
from saratoga_protocol.events import Day, OpenRace, OpenRaceShown
from saratoga_rules.records.heads import heads
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.replay import steps

RACE = "day/caprice/2026-11-28"
DEALT = race("caprice", 1, [Entrant("Anna", banking), Entrant("Ben", banking, patience=3)])
RECORD = replace(
    DEALT,
    kind="day",
    table=RACE,
    race=1,
    previous=None,
    racers=tuple(replace(each, nonce="", nonce_hash="") for each in DEALT.racers),
)
ANNA, BEN = (racer.player for racer in RECORD.racers)


def seen() -> SeenRun:
    """Return what Anna's machine saw: her run, and Ben's ghost as it ran."""
    own = next(row for row in RECORD.results if row.player == ANNA)
    banks = [(step.line.at, BEN, step.position.banked) for step in steps(RECORD, BEN)]
    return SeenRun(
        commitment=RECORD.commitment,
        head=heads(RECORD.key, RACE, ANNA, RECORD.racer(ANNA).log)[-1],
        banked=own.banked,
        state=own.state,
        ghosts=banks,
    )


def test_an_honest_record_is_not_contradicted() -> None:
    assert list(contradictions(seen(), RECORD, ANNA)) == []


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        (lambda it: replace(it, commitment="00" * 32), "another commitment"),
        (lambda it: replace(it, seed="00" * 32), "another deal"),
        (lambda it: replace(it, racers=it.racers[1:], results=it.results[1:]), "missing"),
        (
            lambda it: replace(
                it, racers=(replace(it.racers[0], log=it.racers[0].log[:-1]), it.racers[1])
            ),
            "other moves",
        ),
    ],
)
def test_a_lie_about_a_run_is_caught(lie: Callable[[RaceRecord], RaceRecord], said: str) -> None:
    assert any(said in found for found in contradictions(seen(), lie(RECORD), ANNA))


def test_a_ghost_that_runs_ahead_is_caught() -> None:
    honest = seen()
    at, player, banked = honest.ghosts[-1]
    ahead = with_fields(honest, ghosts=[(at - 5_000, player, banked + 1)])
    assert list(contradictions(ahead, RECORD, ANNA)) == ["a ghost ran ahead of its own run"]


def test_a_changed_promise_or_record_raises_the_alarm(tmp_path: Path) -> None:
    shown = OpenRaceShown(
        open=OpenRace(
            id=RACE,
            kind="day",
            game="caprice",
            rules=1,
            cap=10,
            opened=0,
            closes=1,
            commitment="aa" * 32,
            digest="dd" * 32,
        ),
        days=[Day(open=RACE, commitment="aa" * 32)],
    )
    OpenBook(tmp_path).keep(ANNA, RACE, seen())
    assert OpenBook(tmp_path).check(ANNA, shown) == []
    other = with_fields(shown, open=with_fields(shown.open, commitment="bb" * 32, digest="ee" * 32))
    assert len(OpenBook(tmp_path).check(ANNA, other)) == 2
    assert OpenBook(tmp_path).check(ANNA, other) == [], "it is told once"
    other_day = with_fields(shown, days=[Day(open=RACE + "x", commitment="aa" * 32)])
    assert OpenBook(tmp_path).check(ANNA, other_day) == []
