"""What watching shows: JSON for programs, a picture for people."""

import json
from io import StringIO

import pytest
from rich.console import Console

from kit.pictures import outcome, running
from kit.scripted_house import CODE, NOON, RACE
from saratoga_client.cli.scoreboard import Scoreboard, drawn
from saratoga_client.cli.watch_display import JsonDisplay, PlainDisplay, display_for, picture_out
from saratoga_client.output import OutputFormat
from saratoga_client.session.table_view import next_view
from saratoga_protocol import events


def test_the_json_of_a_picture_is_versioned_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    JsonDisplay().show(None, running())
    shown = json.loads(capsys.readouterr().out)
    assert shown["schema"] == "saratoga.watch.v1"
    assert (shown["table"], shown["race"], shown["phase"]) == (CODE, RACE, "running")
    assert list(shown) == [
        *("schema", "table", "race", "game", "phase", "now", "remaining_ms", "rows", "notice"),
        "digest",
    ]
    assert shown["rows"][0] == {
        "place": 1,
        "name": "Otto",
        "player": "qrstuvwxyz234567",
        "bot": True,
        "banked": 14,
        "net": 20,
        "state": "racing",
        "gap": 0,
        "tie": "",
    }


def test_the_json_of_a_finished_race_has_its_digest() -> None:
    over = next_view(running(), events.RaceOver(outcome=outcome()), NOON)
    assert picture_out(over, NOON).digest == "d1"


@pytest.mark.parametrize(
    ("shown_in", "kind"),
    [
        (OutputFormat.JSON, JsonDisplay),
        (OutputFormat.PLAIN, PlainDisplay),
        (OutputFormat.LIVE, Scoreboard),
    ],
)
def test_every_manner_has_its_display(shown_in: OutputFormat, kind: type) -> None:
    with display_for(shown_in) as display:
        assert isinstance(display, kind)


def test_the_scoreboard_shows_marks_money_places_and_the_clock() -> None:
    console = Console(width=80, record=True, file=StringIO())
    console.print(drawn(running(), NOON + 5_000))
    text = console.export_text()
    for word in ("Otto [bot]", "Anna", "14", "+$20", "$15", "cashed out", "1:25 left", CODE):
        assert word in text
    assert all(len(line) <= 80 for line in text.splitlines())
