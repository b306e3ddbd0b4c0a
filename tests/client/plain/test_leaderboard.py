"""Leaderboards as plain lines."""

from kit.results import ANNA, BANKROLL, BERT, BEST
from saratoga_client.plain.leaderboard import leaderboard_lines
from saratoga_protocol import events


def test_each_row_has_its_rank_and_result() -> None:
    assert list(leaderboard_lines(BEST)) == [
        "canfield, best, 2026-09-01: 2 in all",
        "1. Anna: 31 banked in 1:30.5, +$105, mint-otter-42/3, against 4 people",
        "2. Bert: 12 banked in 1:01.0, +$10, mint-otter-42/2, against 1 person",
    ]


def test_bots_are_marked_as_bots() -> None:
    assert list(leaderboard_lines(BANKROLL)) == [
        "lafayette, bankroll, bots, all: 40 in all",
        "1. Otto [bot]: -$45 in 1 race, against 100+ people",
    ]


def test_your_own_row_follows_a_page_that_lacks_it() -> None:
    elsewhere = events.Leaderboard(
        game="canfield",
        ranking="best",
        period="day",
        key="2026-09-01",
        bots=False,
        total=2,
        offset=0,
        rows=[ANNA],
        me=BERT,
    )
    assert (
        list(leaderboard_lines(elsewhere))[-1]
        == "you: 2. Bert: 12 banked in 1:01.0, +$10, mint-otter-42/2, against 1 person"
    )
