"""The announced result of a race follows from its record."""

from dataclasses import replace

import pytest

from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_protocol.outcomes import outcome_of
from saratoga_rules.records.record import RaceRecord, ResultLine
from saratoga_rules.records.replay import ReplayError
from saratoga_rules.records.standing import State


@pytest.fixture(scope="module")
def record() -> RaceRecord:
    return race(
        "canfield",
        1,
        [Entrant("Anna", banking, patience=9), Entrant("Bert", wandering, bot=True, patience=4)],
    )


def test_the_outcome_has_all_that_the_record_says_of_the_result(record: RaceRecord) -> None:
    outcome = outcome_of(record, "d1")
    assert (outcome.race, outcome.game, outcome.seed) == (record.race_id, "canfield", record.seed)
    assert (outcome.digest, outcome.ranked) == ("d1", record.ranked)
    assert outcome.nonces == {racer.player: racer.nonce for racer in record.racers}
    anna, bert = (record.racer(row.player) for row in record.results)
    assert [(row.player, row.name, row.bot) for row in outcome.results] == [
        (anna.player, "Anna", False),
        (bert.player, "Bert", True),
    ]
    assert [(row.moves, row.ended) for row in outcome.results] == [
        (anna.moves, anna.log[-1].at),
        (bert.moves, bert.log[-1].at),
    ]
    assert [
        ResultLine(
            place=row.place,
            player=row.player,
            banked=row.banked,
            net=row.net,
            reached=row.reached,
            state=State(row.state),
        )
        for row in outcome.results
    ] == list(record.results)


def test_a_tie_is_explained_by_the_times_in_the_record(record: RaceRecord) -> None:
    first, second = record.results
    level = replace(second, banked=first.banked, reached=(first.reached or 0) + 1500)
    row = outcome_of(replace(record, results=(first, level)), "").results[1]
    assert row.tie == f"reached {first.banked} cards 1.5 s later"


def test_a_record_that_cannot_be_counted_raises(record: RaceRecord) -> None:
    with pytest.raises(ReplayError):
        outcome_of(replace(record, game="nerts"), "")
    with pytest.raises(KeyError):
        outcome_of(replace(record, racers=record.racers[1:]), "")
