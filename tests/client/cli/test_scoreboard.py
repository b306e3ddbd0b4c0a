"""The scoreboard of a watched table."""

from io import StringIO

from rich.console import Console

from kit.scripted_server import CODE, NOON
from kit.table_views import running
from saratoga_client.cli.scoreboard import scoreboard


def test_the_scoreboard_shows_marks_money_places_and_the_clock() -> None:
    console = Console(width=80, record=True, file=StringIO())
    console.print(scoreboard(running(), NOON + 5_000))
    text = console.export_text()
    for word in ("Otto [bot]", "Anna", "14", "+$20", "$15", "cashed out", "1:25 left", CODE):
        assert word in text
    assert all(len(line) <= 80 for line in text.splitlines())
