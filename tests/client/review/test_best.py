from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_client.review.best import Result, best_line, results_before
from saratoga_rules.games import GAMES

CANFIELD = GAMES["canfield"]
EARLIER = [
    Result(race="mint-otter-42/1", banked=15, reached=200_000),
    Result(race="mint-otter-42/2", banked=15, reached=150_000),
    Result(race="mint-otter-42/3", banked=9, reached=10_000),
]


def best(banked: int, reached: int = 100_000) -> str:
    return best_line(
        CANFIELD, Result(race="mint-otter-42/4", banked=banked, reached=reached), EARLIER
    )


def test_more_cards_are_better_and_as_many_sooner() -> None:
    assert best(21) == "Your best yet: 21 banked; before it was 15 in mint-otter-42/2."
    assert best(15) == (
        "Your best yet: 15 banked; before it was as many, but at 2:30, in mint-otter-42/2."
    )
    assert best(15, 160_000) == "Your best stands: 15 banked, +$25, in mint-otter-42/2."
    assert best(3) == "Your best stands: 15 banked, +$25, in mint-otter-42/2."


def test_the_first_result_is_the_one_to_beat() -> None:
    own = Result(race="mint-otter-42/4", banked=3, reached=0)
    assert best_line(CANFIELD, own, []) == (
        "Your first Canfield kept here: 3 banked is the best to beat."
    )


def test_only_one_s_own_results_in_the_same_game_count() -> None:
    entrants = [Entrant("Anna", banking, patience=30), Entrant("Otto", wandering, patience=30)]
    records = [race("canfield", 1, entrants), race("canfield", 2, entrants)]
    records += [race("caprice", 3, entrants)]
    anna = next(racer.player for racer in records[0].racers if racer.name == "Anna")
    found = results_before(records, "canfield", anna, before=records[1].race_id)
    assert [result.race for result in found] == [records[0].race_id]
    row = next(row for row in records[0].results if row.player == anna)
    assert (found[0].banked, found[0].reached) == (row.banked, row.reached or 0)
