"""A leaderboard page as a table for terminals."""

import re
from io import StringIO

import pytest
from msgspec.structs import replace
from rich.console import Console

from kit.leaderboard_pages import BANKROLL, BEST
from saratoga_client.cli.leaderboard_table import print_page
from saratoga_protocol import events


def printed(page: events.Leaderboard) -> str:
    console = Console(width=80, record=True, file=StringIO())
    print_page(page, console)
    return console.export_text()


@pytest.mark.parametrize("page", [BEST, BANKROLL], ids=["best", "bankroll"])
def test_a_page_fits_a_terminal_of_80_columns(page: events.Leaderboard) -> None:
    text = printed(page)
    assert page.rows[0].name in text
    assert ("[bot]" in text) is page.bots
    assert all(len(line) <= 80 for line in text.splitlines())


def test_a_row_has_the_number_of_people_raced_against() -> None:
    assert re.search(r"Anna +31 +\+\$105 +4 +1:30", printed(BEST))
    assert re.search(r"Otto \[bot\] +-\$45 +1 +100\+", printed(BANKROLL))


def test_the_time_of_a_best_result_has_tenths() -> None:
    assert "1:30.5" in printed(BEST)


def test_a_result_that_no_move_bettered_has_no_time() -> None:
    row = replace(BEST.rows[0], elapsed=0)
    assert "0:00" not in printed(replace(BEST, rows=[row], me=None))
