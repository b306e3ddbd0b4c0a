"""Displays of a watched table: JSON for programs, and plain lines."""

import json
from dataclasses import replace
from types import MappingProxyType

import msgspec
import pytest

from kit.scripted_server import CODE, NOON, RACE, outcome, running
from kit.session_states import in_match, player, table
from saratoga_client.cli.watch_display import JsonDisplay, display_for, watched_table
from saratoga_client.output import OutputFormat
from saratoga_client.plain.change_writer import ChangeWriter
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.table_view import TableView, first_view, next_view
from saratoga_protocol import events


def now() -> int:
    return NOON


def seen(view: TableView) -> SessionState:
    """Return the state of a watcher with this view of the table."""
    return SessionState(player="w" * 16, table_view=view)


def test_the_json_of_a_table_is_versioned_and_complete(capsys: pytest.CaptureFixture[str]) -> None:
    JsonDisplay(now).show(seen(running()))
    shown = json.loads(capsys.readouterr().out)
    assert shown["schema"] == "saratoga.watch.v1"
    assert (shown["table"], shown["race"], shown["phase"]) == (CODE, RACE, "running")
    assert list(shown) == [
        *("schema", "table", "race", "game", "phase", "now", "remaining_ms", "rows"),
        *("race_of_match", "match", "notice", "digest", "verification", "alarms", "announcement"),
    ]
    assert shown["rows"][0] == {
        "place": 1,
        "name": "Otto",
        "player": "qrstuvwxyz234567",
        "bot": True,
        "level": "",
        "banked": 14,
        "net": 20,
        "state": "racing",
        "gap": 0,
        "tie": "",
    }


def test_the_json_of_a_match_has_everyone_s_results_and_the_champions() -> None:
    shown = in_match(table(phase="over"), "a9 y5", "a9 y5", "a9 o5")
    view = first_view(events.Snapshot(table=shown, now=NOON))
    found = watched_table(seen(view), NOON)
    assert found.race_of_match == "race 3 of 3"
    assert found.match is not None
    assert (found.match.races, len(found.match.finished)) == (3, 3)
    assert found.match.champions == [player("a")]
    sent = json.loads(msgspec.json.encode(found))["match"]["rows"][2]
    assert sent == {
        "place": 3,
        "name": "Otto",
        "player": player("o"),
        "bot": False,
        "net": -25,
        "wins": 0,
        "results": [{"race": "mint-otter-42/3", "place": 2, "net": -25}],
    }


def test_json_is_printed_only_if_the_table_has_changed(capsys: pytest.CaptureFixture[str]) -> None:
    display = JsonDisplay(now)
    over = next_view(running(), events.RaceOver(outcome=outcome()))
    for view in (running(), running(), over, over):
        display.show(seen(view))
    phases = [json.loads(line)["digest"] for line in capsys.readouterr().out.splitlines()]
    assert phases == [None, "d1"]


def test_the_json_of_a_finished_race_has_its_digest() -> None:
    over = next_view(running(), events.RaceOver(outcome=outcome()))
    assert watched_table(seen(over), NOON).digest == "d1"


def test_the_json_has_the_alarms_and_the_latest_check(capsys: pytest.CaptureFixture[str]) -> None:
    display, state = JsonDisplay(now), seen(running())
    checked = {RACE: Verification(True, "Good."), f"{CODE}/2": Verification(False, "Bad.")}
    display.show(state)
    display.show(replace(state, alarms=("The deal was changed.",)))
    display.show(replace(state, verifications=MappingProxyType(checked)))
    first, alarmed, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["alarms"], first["verification"]) == ([], None)
    assert alarmed["alarms"] == ["The deal was changed."]
    assert last["verification"] == {"race": f"{CODE}/2", "verified": False, "sentence": "Bad."}


def test_the_json_has_the_operator_s_latest_announcement(
    capsys: pytest.CaptureFixture[str],
) -> None:
    display, state = JsonDisplay(now), seen(running())
    display.show(state)
    display.show(replace(state, announcement="The server restarts in a minute."))
    silent, said = map(json.loads, capsys.readouterr().out.splitlines())
    assert silent["announcement"] == ""
    assert said["announcement"] == "The server restarts in a minute."


def test_plain_lines_have_the_kinds_of_the_plain_client(capsys: pytest.CaptureFixture[str]) -> None:
    display = display_for(OutputFormat.PLAIN, now)
    display.show(seen(running()))
    display.show(seen(next_view(running(), events.RaceOver(outcome=outcome()))))
    kinds = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert kinds == [
        f"table {CODE}",
        "seat 1 Anna",
        "seat 2 Otto [bot]",
        f"race {RACE}",
        "standing 1. Otto [bot]",
        "standing 2. Anna",
        f"race {RACE}",
        "result 1. Otto [bot]",
        "result 2. Anna",
        "words",
    ]


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        (OutputFormat.JSON, JsonDisplay),
        (OutputFormat.PLAIN, ChangeWriter),
        (OutputFormat.LIVE, ChangeWriter),
    ],
)
def test_every_output_format_has_its_display(form: OutputFormat, kind: type) -> None:
    assert isinstance(display_for(form, now), kind)
