"""The checks of a client that stays at one table for days have a bound."""

import pytest

from kit.scripted_server import CODE, PLAYER, RACE, TOKEN
from saratoga_client.net.connection import Connection
from saratoga_client.session import record_check
from saratoga_client.session.race_witness import RaceWitness
from saratoga_client.session.record_check import RecordCheck
from saratoga_client.session.witness import MemoryWitness


def new_checks() -> RecordCheck:
    """Return the checks of a player who has seen no race, over a connection that is not opened."""
    seen = RaceWitness(MemoryWitness(), lambda: PLAYER, lambda race, faults: None)
    return RecordCheck(Connection("ws://127.0.0.1:1", TOKEN), seen)


async def test_of_many_races_only_the_latest_checks_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most, races = 20, [f"{CODE}/{number}" for number in range(1, 101)]
    monkeypatch.setattr(record_check, "MOST_CHECKS", most)
    checks = new_checks()
    for race in races:
        assert checks.begin(race)
        assert checks.is_checking(race)
        await checks.prove(race, "no record")
        assert not checks.is_checking()
    assert [*checks.testimonies] == races[-most:]
    assert not any(checks.begin(race) for race in races[-most:])
    assert checks.begin(races[0])


async def test_the_proofs_of_other_races_do_not_leave_a_check_unfinished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(record_check, "MOST_CHECKS", 3)
    checks = new_checks()
    checks.begin(RACE)
    await checks.prove(RACE, "no record")
    for number in range(10, 20):  # races that the player asked for
        await checks.prove(f"{CODE}/{number}", "no record")
        assert not checks.is_checking()
