"""The commands that watch a table and print leaderboards."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncGenerator
from dataclasses import replace as replaced
from types import MappingProxyType
from typing import Any

import pytest
from msgspec.structs import replace

from kit import client_servers
from kit.messages import BEST
from kit.session_states import (
    CODE,
    START,
    finished_race,
    in_match,
    outcome,
    over,
    player,
    snapshot,
    table,
)
from kit.session_states import RACE as RACE_SHOWN
from saratoga_client.cli.leaderboard import show
from saratoga_client.cli.watch import printer, until_checked, watch_table
from saratoga_client.output import OutputFormat
from saratoga_client.session.state import SessionState, Verification, next_state
from saratoga_client.session.table_view import TableView, first_view, next_view
from saratoga_protocol import commands, events

FINISHED = finished_race()
RUNNING = first_view(snapshot("o14 y11:cash-out", shown=table("yo")))
RACE = FINISHED.race_id


async def test_it_ends_when_the_table_is_closed(capsys: pytest.CaptureFixture[str]) -> None:
    closed = events.TableChanged(table=table(version=9, phase="closed"), now=START)
    async with client_servers.scripted_server() as server:
        watching = asyncio.ensure_future(watch_table(server.url, CODE, False, OutputFormat.PLAIN))
        peer = await server.peer()
        command = await peer.command()
        assert command == commands.JoinTable(id=command.id, table=CODE, seat=False)
        await peer.send(client_servers.snapshot(command.id), closed)
        await watching
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == f"race {closed.table.race}: closed"
    assert printed.err == f"The table {CODE} is closed.\n"


async def once(*given: SessionState) -> list[SessionState]:
    """Return the states that `--once` shows of the given ones."""

    async def states() -> AsyncGenerator[SessionState, None]:
        for state in given:
            yield state

    return [state async for state in until_checked(states())]


async def test_once_shows_the_watched_race_until_its_record_is_checked_or_the_table_closes() -> (
    None
):
    finished = over(FINISHED, you="ana")
    following = replace(finished.table, race=f"{CODE}/9", phase="gathering", version=99)
    later = next_state(finished, events.TableChanged(table=following, now=START), START)
    told = next_state(later, events.Announcement(text="We close at ten."), START)
    checked = MappingProxyType({RACE: Verification(True, "Good.")})
    verified = replaced(told, verifications=checked)
    announced = replaced(finished, announcement="We close at ten.")
    shown = [finished, finished, announced, replaced(announced, verifications=checked)]
    assert await once(finished, later, told, verified, later) == shown
    assert await once(finished, later) == [finished, finished]


def seen(view: TableView) -> SessionState:
    """Return the state of a watcher with this view of the table."""
    return SessionState(player="w" * 16, table_view=view)


def printed(capsys: pytest.CaptureFixture[str], *states: SessionState) -> list[dict[str, Any]]:
    """Return the JSON objects that are printed for these states."""
    show = printer(OutputFormat.JSON, lambda: START)
    for state in states:
        show(state)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_json_of_a_table_is_versioned_and_complete(capsys: pytest.CaptureFixture[str]) -> None:
    [shown] = printed(capsys, seen(RUNNING))
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
        "player": player("o"),
        "bot": True,
        "level": "",
        "banked": 14,
        "net": 20,
        "state": "racing",
        "gap": 0,
        "tie": "",
    }


def test_the_json_of_a_match_has_everyone_s_results_and_the_champions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = in_match(table(phase="over"), "a9 y5", "a9 y5", "a9 o5")
    view = first_view(events.Snapshot(table=shown.table, now=START, match=shown.match))
    [found] = printed(capsys, seen(view))
    assert found["race_of_match"] == "race 3 of 3"
    assert (found["match"]["races"], len(found["match"]["finished"])) == (3, 3)
    assert found["match"]["champions"] == [player("a")]
    assert found["match"]["rows"][2] == {
        "place": 3,
        "name": "Otto",
        "player": player("o"),
        "bot": True,
        "net": -25,
        "wins": 0,
        "results": [{"race": "mint-otter-42/3", "place": 2, "net": -25}],
    }


def test_json_is_printed_whenever_the_table_has_changed(capsys: pytest.CaptureFixture[str]) -> None:
    checks = {RACE_SHOWN: Verification(True, "Good."), f"{CODE}/2": Verification(False, "Bad.")}
    state = seen(RUNNING)
    ended = seen(next_view(RUNNING, events.RaceOver(outcome=outcome("o14 y11:cash-out"))))
    alarmed = dataclasses.replace(ended, alarms=("The deal was changed.",))
    checked = dataclasses.replace(alarmed, verifications=MappingProxyType(checks))
    told = dataclasses.replace(checked, announcement="The server restarts in a minute.")
    shown = printed(capsys, state, state, ended, ended, alarmed, checked, told)
    bad = {"race": f"{CODE}/2", "verified": False, "sentence": "Bad."}
    keys = ("digest", "alarms", "verification", "announcement")
    assert [tuple(each[key] for key in keys) for each in shown] == [
        (None, [], None, ""),
        ("ab" * 32, [], None, ""),
        ("ab" * 32, ["The deal was changed."], None, ""),
        ("ab" * 32, ["The deal was changed."], bad, ""),
        ("ab" * 32, ["The deal was changed."], bad, "The server restarts in a minute."),
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
        "doubt": 0,
    }
    assert shown["me"]["name"] == "Bert"
