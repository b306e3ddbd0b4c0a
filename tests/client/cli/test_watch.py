"""`saratoga watch` follows a table until it is closed, or until its race is over and checked."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace as replaced
from types import MappingProxyType

import pytest
from msgspec.structs import replace

from kit.finished_races import finished_race, over
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
from saratoga_client.cli.watch import until_checked, watch_table
from saratoga_client.output import OutputFormat
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.state import SessionState, Verification, next_state
from saratoga_client.session.table_view import first_view
from saratoga_protocol import commands, events
from saratoga_protocol.events import AnyEvent

FINISHED = finished_race()
RACE = FINISHED.race_id


async def watched(
    server: ScriptedServer, last: list[AnyEvent], form: OutputFormat, *, once: bool = False
) -> None:
    """Watch a table until the events `last`; with `once` watch its running race, and answer the request for its record with nonsense."""
    watching = asyncio.ensure_future(watch_table(server.url, CODE, once, form))
    peer = await server.peer()
    command = await peer.command()
    assert command == commands.WatchTable(id=command.id, table=CODE)
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


@pytest.mark.usefixtures("impatient_checks")
async def test_it_ends_with_the_alarm_about_a_race_that_is_gone_with_its_table() -> None:
    async with scripted_server() as server:
        watching = asyncio.ensure_future(watch_table(server.url, CODE, False, OutputFormat.JSON))
        peer = await server.peer()
        command = await peer.command()
        assert isinstance(command, commands.WatchTable)
        at_table = replace(table(phase="running"), start_at=NOON, deadline=NOON + 60_000)
        closed = events.TableChanged(table=table(version=9, phase="closed"), now=NOON)
        await peer.send(replace(snapshot(re=command.id), table=at_table), closed)

        async def refuse() -> None:
            while True:
                id_ = (await peer.command()).id
                await peer.send(events.Refused(re=id_, code="no_such_race", message="No."))

        refusing = asyncio.ensure_future(refuse())
        with pytest.raises(Problem, match=r"ALARM: .* disappeared") as ended:
            await watching
        refusing.cancel()
        assert ended.value.code is Exit.NOT_VERIFIED


@pytest.mark.parametrize("has_next", [False, True])
async def test_with_once_it_ends_with_the_check_of_the_record(
    capsys: pytest.CaptureFixture[str], has_next: bool
) -> None:
    race = running().table.race
    last: list[AnyEvent] = [events.RaceOver(outcome=outcome())]
    if has_next:
        following = replace(table(version=9), race=f"{CODE}/2", commitment="d0" * 32)
        last.append(events.TableChanged(table=following, now=NOON))
    async with scripted_server() as server:
        with pytest.raises(Problem, match=r"ALARM: .*not verified") as ended:
            await watched(server, last, OutputFormat.JSON, once=True)
    assert ended.value.code is Exit.NOT_VERIFIED
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["digest"] for line in lines] == [None, "d1", "d1"]
    assert [line["race"] for line in lines] == [race] * 3
    assert (lines[-1]["verification"]["race"], lines[-1]["verification"]["verified"]) == (
        *(race, False),
    )
    assert len(lines[-1]["alarms"]) == 2


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
