"""`saratoga watch` follows a table until it is closed, or until its race is over and checked."""

import asyncio
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
    running,
    scripted_server,
    snapshot,
    table,
)
from saratoga_client.cli.watch import until_checked, watch_table
from saratoga_client.output import OutputFormat
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
