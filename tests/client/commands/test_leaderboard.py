"""How a page of a leaderboard is written."""

import json
from io import StringIO

import pytest
from rich.console import Console

from saratoga_client.commands.leaderboard import lines, show
from saratoga_client.output import Manner
from saratoga_client.rankings import print_page
from saratoga_protocol import events

ANNA = events.LeaderboardRow(
    rank=1, player="a" * 16, name="Anna", value=31, net=105, elapsed=90_500, race="mint-otter-42/3"
)
BERT = events.LeaderboardRow(
    rank=2, player="b" * 16, name="Bert", value=12, net=10, elapsed=61_000, race="mint-otter-42/2"
)
BEST = events.Leaderboard(
    game="canfield",
    ranking="best",
    period="day",
    key="2026-09-01",
    bots=False,
    total=2,
    offset=0,
    rows=[ANNA, BERT],
    me=BERT,
)
BANKROLL = events.Leaderboard(
    game="lafayette",
    ranking="bankroll",
    period="all",
    key="all",
    bots=True,
    total=40,
    offset=0,
    rows=[events.LeaderboardRow(rank=1, player="o" * 16, name="Otto", value=-45, races=1)],
)


def test_plain_lines_say_who_is_where() -> None:
    assert list(lines(BEST)) == [
        "canfield, best, 2026-09-01: 2 in all",
        "1. Anna: 31 banked, +$105, mint-otter-42/3",
        "2. Bert: 12 banked, +$10, mint-otter-42/2",
    ]


def test_bots_are_marked_as_bots() -> None:
    assert list(lines(BANKROLL)) == [
        "lafayette, bankroll, bots, all: 40 in all",
        "1. Otto [bot]: -$45 in 1 race",
    ]


def test_one_s_own_row_is_told_when_it_is_not_on_the_page() -> None:
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
    assert list(lines(elsewhere))[-1] == "you: 2. Bert: 12 banked, +$10, mint-otter-42/2"


def test_the_json_is_versioned_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    show(BEST, Manner.JSON)
    shown = json.loads(capsys.readouterr().out)
    assert list(shown) == [
        *("schema", "game", "ranking", "period", "key", "bots", "total", "offset", "rows", "me")
    ]
    assert shown["schema"] == "saratoga.leaderboard.v1"
    assert shown["rows"][0] == {
        "rank": 1,
        "name": "Anna",
        "player": "a" * 16,
        "value": 31,
        "net": 105,
        "elapsed_ms": 90_500,
        "race": "mint-otter-42/3",
        "races": 0,
    }
    assert shown["me"]["name"] == "Bert"


@pytest.mark.parametrize("page", [BEST, BANKROLL], ids=["best", "bankroll"])
def test_a_terminal_gets_a_table_that_fits(page: events.Leaderboard) -> None:
    console = Console(width=80, record=True, file=StringIO())
    print_page(page, console)
    text = console.export_text()
    assert page.rows[0].name in text
    assert ("[bot]" in text) is page.bots
    assert all(len(line) <= 80 for line in text.splitlines())
