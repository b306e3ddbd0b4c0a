"""The scoreboard of a watched table."""

from io import StringIO
from types import MappingProxyType

from rich.console import Console

from kit.scripted_server import CODE, NOON
from kit.table_views import running
from saratoga_client.cli.scoreboard import scoreboard, watched_scoreboard
from saratoga_client.session.state import SessionState, Verification


def test_the_scoreboard_shows_marks_money_places_and_the_clock() -> None:
    console = Console(width=80, record=True, file=StringIO())
    console.print(scoreboard(running(), NOON + 5_000))
    text = console.export_text()
    for word in ("Otto [bot]", "Anna", "14", "+$20", "$15", "cashed out", "1:25 left", CODE):
        assert word in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_the_scoreboard_of_a_watched_table_has_announcement_alarms_and_the_latest_verdict() -> None:
    state = SessionState(
        player="w" * 16,
        table_view=running(),
        announcement="The server restarts at ten.",
        alarms=("The deal was changed.",),
        verifications=MappingProxyType({"a/1": Verification(False, "NOT VERIFIED: 1 of 14.")}),
    )
    console = Console(width=80, record=True, file=StringIO())
    console.print(watched_scoreboard(state, NOON))
    text = console.export_text()
    assert "house: The server restarts at ten." in text
    assert "ALARM: The deal was changed." in text
    assert "NOT VERIFIED: 1 of 14." in text
