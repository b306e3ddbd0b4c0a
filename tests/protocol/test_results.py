"""Results that follow from others: the outcome of a race from its record, the table of a match from its races."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.messages import racer
from kit.positions import banking, wandering
from kit.races import Entrant, race
from saratoga_protocol.events import Match, Outcome, Result
from saratoga_protocol.matches import champions, is_over, totals, with_race
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.records.standing import Placed, State
from saratoga_server.domain.results import outcome_of

# The announced result of a race follows from its record


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
    assert [(row.player, row.moves, row.ended) for row in outcome.results] == [
        (anna.player, anna.moves, anna.log[-1].at),
        (bert.player, bert.moves, bert.log[-1].at),
    ]
    assert [
        Placed(
            place=row.place,
            player=row.player,
            banked=row.banked,
            net=row.net,
            reached=row.reached,
            state=State(row.state),
        )
        for row in outcome.results
    ] == list(record.results)


# The table of a match follows from the results of its races


ANN, BEN, CLEO = "ann", "ben", "cleo"


def outcome(number: int, nets: Mapping[str, int]) -> Outcome:
    """Return the result of a race in which these players won or lost these dollars."""
    return Outcome(
        race=f"mint-otter-42/{number}",
        game="canfield",
        results=[
            Result(
                player=player,
                place=1 + sum(other > net for other in nets.values()),
                banked=0,
                net=net,
                state="stuck",
                moves=1,
                head="0" * 16,
            )
            for player, net in nets.items()
        ],
        seed="",
        nonces={},
        digest="",
    )


def match_of(*races: Mapping[str, int], length: int = 3) -> Match:
    match = Match(races=length, finished=[], rows=[])
    for number, nets in enumerate(races, 1):
        match = raced(match, number, nets)
    return match


def raced(
    match: Match, number: int, nets: Mapping[str, int], names: Mapping[str, str] | None = None
) -> Match:
    """Return the match after a race with these results."""
    racers = [racer(each, (names or {}).get(each, each.title()), each == CLEO) for each in nets]
    return with_race(match, outcome(number, nets), racers)


def places(match: Match) -> list[tuple[str, int]]:
    return [(each.row.player, each.place) for each in totals(match)]


def test_nets_and_races_won_add_up_and_the_highest_net_leads() -> None:
    match = match_of({ANN: -20, BEN: 10}, {ANN: 40, BEN: -30})
    assert [(row.player, net, wins, place) for row, place, net, wins in totals(match)] == [
        (ANN, 20, 1, 1),
        (BEN, -20, 1, 2),
    ]
    assert match.finished == ["mint-otter-42/1", "mint-otter-42/2"]


def test_a_race_that_a_player_missed_has_no_result_of_the_player() -> None:
    match = match_of({ANN: -20, BEN: 10}, {ANN: 40, CLEO: 5}, {BEN: 1, CLEO: 2})
    results = {
        row.player: [(r.race[-1], r.place, r.net) for r in row.results] for row in match.rows
    }
    assert results == {
        ANN: [("1", 2, -20), ("2", 1, 40)],
        BEN: [("1", 1, 10), ("3", 2, 1)],
        CLEO: [("2", 2, 5), ("3", 1, 2)],
    }
    assert {row.player for row in match.rows if row.bot} == {CLEO}


def test_races_won_decide_between_equal_nets() -> None:
    match = match_of(
        {ANN: 10, BEN: 5, CLEO: 0}, {ANN: 10, BEN: 5, CLEO: 0}, {ANN: -20, BEN: -10, CLEO: 0}
    )
    assert [(row.player, net, wins) for row, _, net, wins in totals(match)][:2] == [
        (ANN, 0, 2),
        (CLEO, 0, 1),
    ]


def test_the_best_race_decides_between_equal_nets_and_races_won() -> None:
    match = match_of({ANN: 30, BEN: 5}, {ANN: -5, BEN: 20}, {CLEO: -50})
    assert [(row.player, net, wins) for row, _, net, wins in totals(match)[:2]] == [
        (ANN, 25, 1),
        (BEN, 25, 1),
    ]
    assert places(match)[:2] == [(ANN, 1), (BEN, 2)]


def test_nobody_comes_before_a_player_who_raced_more_often() -> None:
    match = match_of({ANN: -45, BEN: -45}, {ANN: -50}, {ANN: -40})
    assert [(row.player, net, place) for row, place, net, _ in totals(match)] == [
        (ANN, -135, 1),
        (BEN, -45, 2),
    ]


def test_what_nothing_decides_is_shared_and_the_next_place_is_skipped() -> None:
    match = match_of(
        {ANN: 10, BEN: 0, CLEO: -5}, {ANN: 0, BEN: 10, CLEO: -5}, {ANN: 0, BEN: 0, CLEO: 0}
    )
    assert places(match) == [(ANN, 1), (BEN, 1), (CLEO, 3)]
    assert [row.player for row in champions(match)] == [ANN, BEN]


def test_a_match_has_a_champion_only_when_all_its_races_have_finished() -> None:
    match = match_of({ANN: 10, BEN: 0}, {ANN: 10, BEN: 0})
    assert not is_over(match)
    assert champions(match) == []
    match = raced(match, 3, {ANN: 10, BEN: 0})
    assert is_over(match)
    assert [row.player for row in champions(match)] == [ANN]


def test_the_name_is_that_of_the_last_race() -> None:
    match = raced(match_of({ANN: 10}), 2, {ANN: 5}, {ANN: "Annabel"})
    assert [row.name for row in match.rows] == ["Annabel"]


nets = st.dictionaries(st.sampled_from((ANN, BEN, CLEO)), st.integers(-100, 500), min_size=1)


@given(st.lists(nets, min_size=1, max_size=5))
def test_a_race_that_is_added_twice_counts_once(races: list[dict[str, int]]) -> None:
    match = match_of(*races, length=5)
    for number, each in enumerate(races, 1):
        assert raced(match, number, each) == match
    assert sum(each.net for each in totals(match)) == sum(sum(each.values()) for each in races)
