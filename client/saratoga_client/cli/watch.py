"""`saratoga watch CODE`: follow a table live, without a seat: on the screen, in lines, or as JSON."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

import click
from msgspec import Struct

from saratoga_client.cli.frame import ExampleCommand
from saratoga_client.cli.options import TABLE, server_of, viewing_options
from saratoga_client.cli.play import show_table
from saratoga_client.local.settings import Settings, remember_server
from saratoga_client.net.connection import Connection
from saratoga_client.output import OutputFormat, output_format, say, write_json
from saratoga_client.plain.change_writer import ChangeWriter
from saratoga_client.plain.io import LineOutput
from saratoga_client.problems import alarmed_at_end
from saratoga_client.session.invitation import Destination, inviter_for
from saratoga_client.session.match_text import race_of_match
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.table_view import Row, remaining, rows
from saratoga_client.session.witness import Witness
from saratoga_protocol.events import Match, MatchResult
from saratoga_protocol.matches import champions, totals


class WatchedRecord(Struct, frozen=True, kw_only=True):
    """The check of a race's record in `saratoga.watch.v1` and `saratoga.bot.v1`."""

    race: str
    verified: bool
    sentence: str

    @classmethod
    def of(cls, race: str, found: Verification) -> "WatchedRecord":
        return cls(race=race, verified=found.ok, sentence=found.sentence)


class WatchedMatchRow(Struct, frozen=True, kw_only=True):
    """A player in the match of `saratoga.watch.v1`."""

    place: int
    name: str
    player: str
    bot: bool
    net: int
    wins: int
    results: list[MatchResult]
    """Race, place and net of each race that the player raced."""


class WatchedMatch(Struct, frozen=True, kw_only=True):
    """The match in `saratoga.watch.v1`."""

    races: int
    finished: list[str]
    champions: list[str]
    """Ids of the players in the first place after the last race; empty before."""
    rows: list[WatchedMatchRow]


class WatchedTable(Struct, frozen=True, kw_only=True):
    """The object that `--json` prints for every change: the whole table."""

    schema: str = "saratoga.watch.v1"
    table: str
    race: str
    game: str
    phase: str
    now: int
    """Milliseconds since 1970 by the server's clock."""
    remaining_ms: int | None
    """Milliseconds left; `None` if no race runs, or if the race has no time limit."""
    rows: list[Row]
    race_of_match: str
    """The race's place in its match, such as `race 2 of 3`; empty without a match."""
    match: WatchedMatch | None
    """The table of the match; `None` before its first race has finished."""
    notice: str
    digest: str | None
    """Digest of the finished race's record; `None` before the end."""
    verification: WatchedRecord | None
    """The latest check of a record, which may be that of the race before."""
    alarms: list[str]
    """Sentences on how the server contradicted itself, since the program has started."""
    announcement: str
    """The latest announcement of the server's operator; empty without one, and after the connection was lost."""


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
        shown = watched_table(state, now())
        # not if only the time has changed
        if last is None or watched_table(last, shown.now) != shown:
            write_json(shown)
        last = state

    return show


def watched_table(state: SessionState, now: int) -> WatchedTable:
    """Return the JSON object of a table at the server's time `now`."""
    view = state.table_view
    checked = list(state.verifications.items())
    return WatchedTable(
        table=view.table.code,
        race=view.table.race,
        game=view.table.settings.game,
        phase=view.table.phase,
        now=now,
        remaining_ms=remaining(view, now),
        rows=list(rows(view)),
        race_of_match=race_of_match(view.table, view.match),
        match=None if view.match is None else _watched_match(view.match),
        notice=view.table.notice,
        digest=None if view.outcome is None else view.outcome.digest,
        verification=WatchedRecord.of(*checked[-1]) if checked else None,
        alarms=list(state.alarms),
        announcement=state.announcement,
    )


def _watched_match(match: Match) -> WatchedMatch:
    return WatchedMatch(
        races=match.races,
        finished=match.finished,
        champions=[row.player for row in champions(match)],
        rows=[
            WatchedMatchRow(
                place=each.place,
                name=each.row.name,
                player=each.row.player,
                bot=each.row.bot,
                net=each.net,
                wins=each.wins,
                results=each.row.results,
            )
            for each in totals(match)
        ],
    )
