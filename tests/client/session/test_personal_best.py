"""A player's best result, and the banked cards of that race over time."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kit.races import Entrant, race
from kit.walks import banking
from saratoga_client.session.personal_best import PersonalBest, banked_by, best_in, is_better

RECORD = race("canfield", 3, [Entrant("ana", banking), Entrant("raj", banking)])
PLAYER = RECORD.results[0].player

BEST = PersonalBest(
    game="canfield",
    race="mint-otter-42/1",
    start_at=0,
    banked=12,
    net=10,
    reached=60_000,
    counts=((0, 1), (20_000, 7), (60_000, 12)),
)


def test_a_result_is_computed_from_the_moves_of_the_record() -> None:
    best = best_in(RECORD, PLAYER)
    assert best is not None
    row = RECORD.results[0]
    assert (best.banked, best.net, best.reached) == (row.banked, row.net, row.reached)
    assert (best.race, best.game) == (RECORD.race_id, "canfield")
    assert best.counts[0] == (0, RECORD.deal.banked)
    assert best.counts[-1][1] == row.banked
    assert [at for at, _ in best.counts] == sorted(at for at, _ in best.counts)


def test_a_race_of_other_players_gives_no_best_result() -> None:
    assert best_in(RECORD, "somebodyelseeeee") is None


def test_a_record_of_unknown_rules_gives_no_best_result() -> None:
    assert best_in(replace(RECORD, rules_version=999), PLAYER) is None


def test_more_cards_are_better_and_as_many_earlier() -> None:
    assert is_better(BEST, None)
    assert is_better(replace(BEST, banked=13, reached=90_000), BEST)
    assert is_better(replace(BEST, reached=59_999), BEST)
    assert not is_better(BEST, BEST)
    assert not is_better(replace(BEST, banked=11, reached=1), BEST)


def test_cards_banked_by_the_deal_do_not_count() -> None:
    dealt = replace(BEST, banked=30, reached=None)
    assert not is_better(dealt, None)
    assert is_better(BEST, replace(dealt, banked=12))


@given(st.integers(0, 100_000))
def test_the_best_result_is_known_at_every_moment(at: int) -> None:
    assert banked_by(BEST, at) == (1 if at < 20_000 else 7 if at < 60_000 else 12)
