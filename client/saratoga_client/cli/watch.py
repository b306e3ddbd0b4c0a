"""`saratoga watch CODE`: follow a table live, without a seat: on the screen, in lines, or as JSON."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

import click

from saratoga_client.cli.frame import example_command
from saratoga_client.cli.join import show_table
from saratoga_client.cli.options import TABLE, at_server_of, viewing_options
from saratoga_client.local.settings import Settings, remember_server
from saratoga_client.net.connection import Connection
from saratoga_client.output import OutputFormat, output_format, say, write_json
from saratoga_client.plain.event_lines import ChangeWriter
from saratoga_client.plain.session import LineOutput
from saratoga_client.problems import alarmed_at_end
from saratoga_client.session.invitation import Destination, inviter_for
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.result_text import race_of_match
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.table_view import remaining, rows
from saratoga_client.session.witness import Witness
from saratoga_protocol.events import Match
from saratoga_protocol.matches import champions, totals


@example_command(
    ("saratoga watch mint-otter-42", "the table on the whole screen"),
    ("saratoga watch mint-otter-42 --once", "the standings in lines, until this race is over"),
    ("saratoga watch mint-otter-42 --json | jq .rows", "for programs"),
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
    is over, all boards are open. Press Ctrl-C to stop. With --once this command waits until the
    record of the race is checked. If a record is wrong or the server contradicts itself, the exit
    code is 7.
    """
    settings = at_server_of(table, settings)
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
    """Print the table until it is closed or, with `once`, its race is over and checked. Raises `Problem`."""
    alarms: list[str] = []
    state: SessionState | None = None
    with alarmed_at_end(alarms):
        # Lines have their own words for a lost connection.
        async with open_connection(server, reports_link=form is OutputFormat.JSON) as connection:
            remember_server(server)
            show = printer(form, connection.now)
            watching = watched_states(connection, code)
            async with aclosing(until_checked(watching) if once else watching) as states:
                async for state in states:
                    show(state)
                    alarms[:] = state.alarms
        if state is not None and state.phase == "closed":
            say(f"The table {code} is closed.")


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
        async for state in session.states(every=True):
            is_closed = state.phase == "closed"
            yield state
        if not is_closed:
            await attending
    finally:
        attending.cancel()
        await asyncio.gather(attending, return_exceptions=True)


async def until_checked(
    states: AsyncGenerator[SessionState, None],
) -> AsyncGenerator[SessionState, None]:
    """Yield the states of a table until its race is over and the record of the race is checked.

    The check has an end: a record that is not sent counts as not verified.
    """
    over: SessionState | None = None
    async with aclosing(states):
        async for state in states:
            outcome = state.table_view.outcome
            if over is None and outcome is not None and outcome.race == state.table.race:
                over = state
            if over is not None:
                # the table may have gone on to its next race
                state = over = replace(  # noqa: PLW2901
                    over,
                    alarms=state.alarms,
                    verifications=state.verifications,
                    announcement=state.announcement,
                )
            yield state
            if over is not None and over.table.race in over.verifications:
                return


def printer(form: OutputFormat, now: Callable[[], int]) -> Callable[[SessionState], None]:
    """Return a function that prints a table whenever it has changed; `now` returns the server's time in milliseconds."""
    if form is not OutputFormat.JSON:
        return ChangeWriter(LineOutput(prompts=False, is_verbose=True), now).show
    last: SessionState | None = None

    def show(state: SessionState) -> None:
        nonlocal last
        at = now()
        shown = table_fields(state, at)
        # not if only the time has changed
        if last is None or table_fields(last, at) != shown:
            write_json("saratoga.watch.v1", shown)
        last = state

    return show


def table_fields(state: SessionState, now: int) -> dict[str, object]:
    """Return the JSON fields of a table at the server's time `now`."""
    view = state.table_view
    checked = list(state.verifications.items())
    return {
        "table": view.table.code,
        "race": view.table.race,
        "game": view.table.settings.game,
        "phase": view.table.phase,
        "now": now,
        "remaining_ms": remaining(view, now),
        "rows": list(rows(view)),
        "race_of_match": race_of_match(view.table, view.match),
        "match": view.match and _match_fields(view.match),
        "notice": view.table.notice,
        "digest": view.outcome and view.outcome.digest,
        "verification": record_fields(*checked[-1]) if checked else None,
        "alarms": state.alarms,
        "announcement": state.announcement,
    }


def record_fields(race: str, found: Verification) -> dict[str, object]:
    """Return the JSON fields of the check of a race's record."""
    return {"race": race, "verified": found.ok, "sentence": found.sentence}


def _match_fields(match: Match) -> dict[str, object]:
    return {
        "races": match.races,
        "finished": match.finished,
        "champions": [row.player for row in champions(match)],
        "rows": [
            {
                **{key: getattr(row, key) for key in ("name", "player", "bot", "results")},
                "place": place,
                "net": net,
                "wins": wins,
            }
            for row, place, net, wins in totals(match)
        ],
    }
