"""`saratoga watch CODE`: follow a table live, without a seat."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

import click

from saratoga_client.cli.frame import ExampleCommand
from saratoga_client.cli.options import TABLE, server_of, viewing_options
from saratoga_client.cli.play import show_table
from saratoga_client.cli.watch_display import display_for
from saratoga_client.local.settings import Settings, remember_server
from saratoga_client.net.connection import Connection
from saratoga_client.output import OutputFormat, output_format, say
from saratoga_client.problems import alarmed_at_end
from saratoga_client.session.invitation import Destination, inviter_for
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness


async def watched_states(
    connection: Connection,
    code: str,
    *,
    witness: Witness | None = None,
    records: RecordStore | None = None,
) -> AsyncGenerator[SessionState, None]:
    """Yield the table's state, and the new state after every change, until the table is closed.

    After it is closed, states follow until the records of its races are checked.
    Raises `Problem` if the table cannot be watched, also later. Close the generator
    (`contextlib.aclosing`) to stop watching earlier. All times are of the server's clock:
    `connection.now()`.
    """
    session = TableSession(connection, witness=witness, records=records)
    await session.watch(code)
    attending = asyncio.create_task(session.attend(), name=f"watching {code}")
    is_closed = False
    try:
        async for state in session.states():
            is_closed = state.phase == "closed"
            yield state
        if not is_closed:
            await attending
    finally:
        attending.cancel()
        await asyncio.gather(attending, return_exceptions=True)


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga watch mint-otter-42", "the table on the whole screen"),
        ("saratoga watch mint-otter-42 --once", "the standings in lines, until this race is over"),
        ("saratoga watch mint-otter-42 --json | jq .rows", "for programs"),
    ),
)
@click.argument("table", type=TABLE, metavar="CODE|URL")
@click.option("--once", is_flag=True, help="Stop when the current race is over.")
@click.option(
    "--json", "as_json", is_flag=True, help="For programs: versioned JSON, one object a line."
)
@viewing_options
def command(table: Destination, once: bool, as_json: bool, settings: Settings) -> None:
    """Follow the table CODE live, without a seat.

    During a race you see what the racers see of each other: places, money and states. When the race
    is over, all boards are open. Press Ctrl-C to stop. With --once this command waits until the record of the
    race is checked. If a record is wrong or the server contradicts itself, the exit code is 7.
    """
    settings = settings.given(server=server_of(table, settings.server_url))
    form = output_format(as_json=as_json, plain=settings.plain)
    if form is OutputFormat.LIVE and not once:
        asyncio.run(watch_on_screen(settings, table.code))
    else:
        asyncio.run(watch_table(settings.server_url, table.code, once, form))


async def watch_on_screen(settings: Settings, code: str) -> None:
    """Watch a table on the whole terminal until the player leaves. Raises `Problem`."""
    async with open_connection(settings.server_url, reports_link=False) as connection:
        remember_server(settings.server_url)
        session = TableSession(connection)
        await session.watch(code)
        await show_table(session, settings, await inviter_for(settings))


async def watch_table(server: str, code: str, once: bool, form: OutputFormat) -> None:
    """Show the table until it is closed or, with `once`, its race is over and checked. Raises `Problem`."""
    alarms: list[str] = []
    phase = ""
    with alarmed_at_end(alarms):
        # Lines have their own words for a lost connection.
        async with open_connection(server, reports_link=form is OutputFormat.JSON) as connection:
            remember_server(server)
            display = display_for(form, connection.now)
            watching = watched_states(connection, code)
            async with aclosing(until_checked(watching) if once else watching) as states:
                async for state in states:
                    display.show(state)
                    alarms[:], phase = state.alarms, state.phase
        if phase == "closed":
            say(f"The table {code} is closed.")


async def until_checked(
    states: AsyncGenerator[SessionState, None],
) -> AsyncGenerator[SessionState, None]:
    """Yield the states of a table until its race is over, and one more after the check of the record.

    The check has an end: a record that is not sent counts as not verified.
    """
    over: SessionState | None = None
    async with aclosing(states):
        async for state in states:
            outcome = state.table_view.outcome
            if over is None and (outcome is None or outcome.race != state.table.race):
                yield state
                continue
            if over is None:
                yield state
                over = state
            # the table may have gone on to its next race
            over = replace(
                over,
                alarms=state.alarms,
                verifications=state.verifications,
                announcement=state.announcement,
            )
            if over.table.race in over.verifications:
                break
    if over is not None:
        yield over
