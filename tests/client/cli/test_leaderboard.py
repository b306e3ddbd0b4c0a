"""How a page of a leaderboard is written."""

import json
from io import StringIO

import pytest
from rich.console import Console

from kit.leaderboard_pages import BANKROLL, BEST
from saratoga_client.cli.leaderboard import show
from saratoga_client.cli.leaderboard_table import print_page
from saratoga_client.output import OutputFormat
from saratoga_protocol import events


def test_the_json_is_versioned_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    show(BEST, OutputFormat.JSON)
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
