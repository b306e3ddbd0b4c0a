"""The commands that watch a table and print leaderboards."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator
from dataclasses import replace as replaced
from types import MappingProxyType

import msgspec
import pytest
from msgspec.structs import replace

from kit.finished_races import finished_race, over
from kit.results import BEST
from kit.scripted_server import (
    CODE,
    NOON,
    ScriptedServer,
    outcome,
    running,
    scripted_server,
    snapshot,
    table,
)
from kit.scripted_server import RACE as RACE_SHOWN
from kit.session_states import in_match, player
from kit.session_states import table as table_shown
from saratoga_client.cli.leaderboard import show
from saratoga_client.cli.watch import until_checked, watch_table
from saratoga_client.cli.watch_display import JsonDisplay, display_for, watched_table
from saratoga_client.output import OutputFormat
from saratoga_client.session.state import SessionState, Verification, next_state
from saratoga_client.session.table_view import TableView, first_view, next_view
from saratoga_protocol import commands, events
from saratoga_protocol.events import Event

FINISHED = finished_race()
RACE = FINISHED.race_id


async def watched(
    server: ScriptedServer, last: list[Event], form: OutputFormat, *, once: bool = False
) -> None:
    """Watch a table until the events `last`; with `once` watch its running race, and answer the request for its record with nonsense."""
    watching = asyncio.ensure_future(watch_table(server.url, CODE, once, form))
    peer = await server.peer()
    command = await peer.command()
    assert command == commands.JoinTable(id=command.id, table=CODE, seat=False)
    view = running(start_at=NOON - 510_000) if once else first_view(snapshot())
    await peer.send(
        replace(snapshot(re=command.id), table=view.table, standings=list(view.standings)), *last
    )
    if once:
        command = await peer.command()
        assert command == commands.GetRecord(id=command.id, race=view.table.race)
        await peer.send(events.Record(re=command.id, race=view.table.race, text="nonsense"))
    await watching


async def test_it_ends_when_the_table_is_closed(capsys: pytest.CaptureFixture[str]) -> None:
    closed = events.TableChanged(table=table(version=9, phase="closed"), now=NOON)
    async with scripted_server() as server:
        await watched(server, [closed], OutputFormat.PLAIN)
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == f"race {closed.table.race}: closed"
    assert printed.err == f"The table {CODE} is closed.\n"


async def states(*given: SessionState) -> AsyncIterator[SessionState]:
    for state in given:
        yield state


async def test_the_last_state_is_of_the_race_that_was_watched() -> None:
    finished = over(FINISHED, you="ana")
    following = replace(finished.table, race=f"{CODE}/9", phase="gathering", version=99)
    later = next_state(finished, events.TableChanged(table=following, now=NOON), NOON)
    checked = MappingProxyType({RACE: Verification(True, "Good.")})
    verified = replaced(later, verifications=checked)
    seen = [state async for state in until_checked(states(finished, later, verified, later))]  # type: ignore[arg-type]
    assert seen == [finished, replaced(finished, verifications=checked)]


async def test_an_announcement_during_the_check_is_shown() -> None:
    finished = over(FINISHED, you="ana")
    told = next_state(finished, events.Announcement(text="We close at ten."), NOON)
    seen = [state async for state in until_checked(states(finished, told))]  # type: ignore[arg-type]
    assert [state.announcement for state in seen] == ["", "We close at ten."]


async def test_a_table_that_is_closed_ends_the_wait_for_the_check() -> None:
    finished = over(FINISHED, you="ana")
    seen = [state async for state in until_checked(states(finished))]  # type: ignore[arg-type]
    assert seen == [finished, finished]


def now() -> int:
    return NOON


def seen(view: TableView) -> SessionState:
    """Return the state of a watcher with this view of the table."""
    return SessionState(player="w" * 16, table_view=view)


def test_the_json_of_a_table_is_versioned_and_complete(capsys: pytest.CaptureFixture[str]) -> None:
    JsonDisplay(now).show(seen(running()))
    shown = json.loads(capsys.readouterr().out)
    assert shown["schema"] == "saratoga.watch.v1"
    assert (shown["table"], shown["race"], shown["phase"]) == (
        CODE,
        RACE_SHOWN,
        "running",
    )
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
    shown = in_match(table_shown(phase="over"), "a9 y5", "a9 y5", "a9 o5")
    view = first_view(events.Snapshot(table=shown.table, now=NOON, match=shown.match))
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
        "bot": True,
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


def test_the_json_has_the_alarms_and_the_latest_check(capsys: pytest.CaptureFixture[str]) -> None:
    display, state = JsonDisplay(now), seen(running())
    checked = {
        RACE_SHOWN: Verification(True, "Good."),
        f"{CODE}/2": Verification(False, "Bad."),
    }
    display.show(state)
    display.show(dataclasses.replace(state, alarms=("The deal was changed.",)))
    display.show(dataclasses.replace(state, verifications=MappingProxyType(checked)))
    first, alarmed, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["alarms"], first["verification"]) == ([], None)
    assert alarmed["alarms"] == ["The deal was changed."]
    assert last["verification"] == {"race": f"{CODE}/2", "verified": False, "sentence": "Bad."}


def test_the_json_has_the_operator_s_latest_announcement(
    capsys: pytest.CaptureFixture[str],
) -> None:
    display, state = JsonDisplay(now), seen(running())
    display.show(state)
    display.show(dataclasses.replace(state, announcement="The server restarts in a minute."))
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
        f"race {RACE_SHOWN}",
        "standing 1. Otto [bot]",
        "standing 2. Anna",
        f"race {RACE_SHOWN}",
        "result 1. Otto [bot]",
        "result 2. Anna",
        "words",
    ]


def test_the_json_is_versioned_and_complete(capsys: pytest.CaptureFixture[str]) -> None:
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
        "rivals": 4,
    }
    assert shown["me"]["name"] == "Bert"
