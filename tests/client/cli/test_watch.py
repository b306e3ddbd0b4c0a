"""`saratoga watch` follows a table until it is closed, or until its race is over."""

import asyncio
import json

import pytest
from msgspec.structs import replace

from kit.scripted_server import CODE, NOON, ScriptedServer, scripted_server, snapshot, table
from kit.table_views import outcome, running
from saratoga_client.cli.watch import watch_table
from saratoga_client.output import OutputFormat
from saratoga_protocol import commands, events


async def watched(
    server: ScriptedServer, last: events.AnyEvent, form: OutputFormat, *, once: bool = False
) -> None:
    """Watch a running race until the event `last`."""
    watching = asyncio.ensure_future(watch_table(server.url, CODE, once, form))
    peer = await server.peer()
    command = await peer.command()
    assert command == commands.WatchTable(id=command.id, table=CODE)
    view = running()
    await peer.send(
        replace(snapshot(re=command.id), table=view.table, standings=list(view.standings)), last
    )
    await watching


async def test_it_ends_when_the_table_is_closed(capsys: pytest.CaptureFixture[str]) -> None:
    closed = events.TableChanged(table=table(version=9, phase="closed"), now=NOON)
    async with scripted_server() as server:
        await watched(server, closed, OutputFormat.PLAIN)
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == f"race {closed.table.race}: closed"
    assert printed.err == f"The table {CODE} is closed.\n"


async def test_with_once_it_ends_with_the_race(capsys: pytest.CaptureFixture[str]) -> None:
    async with scripted_server() as server:
        await watched(server, events.RaceOver(outcome=outcome()), OutputFormat.JSON, once=True)
    printed = capsys.readouterr()
    digests = [json.loads(line)["digest"] for line in printed.out.splitlines()]
    assert digests == [None, "d1"]
    assert printed.err == ""
