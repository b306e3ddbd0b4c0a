"""`saratoga demo`: a whole race between four bots, from the deal to the verified record."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import click

from saratoga_client.bots.bot_connection import SeatedBot, seated_bot
from saratoga_client.bots.player import Report
from saratoga_client.cli import leaderboard, verify
from saratoga_client.cli.commands import ExampleCommand
from saratoga_client.cli.options import SERVER_VARIABLE
from saratoga_client.cli.watch_display import display_for
from saratoga_client.local.identity import new_token
from saratoga_client.local.server_process import running_server
from saratoga_client.net.connection import Connection
from saratoga_client.output import OutputFormat, output_format, write_line
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.table_view import TableView
from saratoga_client.session.verification import prove
from saratoga_client.session.watcher import watched_states
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_protocol.commands import CreateTable, GetRecord, JoinTable, SubscribeLeaderboard
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES

LINE_UP: Final = ("strong", "weak", "strong", "weak")
"""The strengths of the four bots; the first one is the host."""

CAP: Final = 3
"""The race's time limit in minutes, which also limits the demonstration."""

PACES: Final = {
    "klondike": 2.0,
    "canfield": 16.0,
    "canfield-aisleriot": 5.0,
    "lafayette": 18.0,
    "lady-palk": 13.0,
    "caprice": 9.0,
}
"""The bots' moves per second in each game, chosen so that a race takes about 20 seconds."""

OTHER_PACE: Final = 10.0

SETTLED_WITHIN: Final = 10.0
"""Timeout in seconds for the results to appear on the leaderboard."""


class Raced(NamedTuple):
    """The results of the race."""

    reports: list[Report]
    picture: TableView


@click.command(
    cls=ExampleCommand,
    examples=(
        ("saratoga demo", "on a temporary server"),
        ("saratoga demo --game caprice", "another game"),
        ("saratoga demo --server ws://127.0.0.1:7470", "on a running server"),
    ),
)
@click.option("--game", type=click.Choice(list(GAMES)), default="canfield", show_default=True)
@click.option(
    "--server",
    metavar="URL",
    help=f"A running server; {SERVER_VARIABLE} is ignored here.",
)
@click.option(
    "--pace",
    type=click.FloatRange(0.1, 40),
    help="Moves per second.  [default: a race of about 20 seconds]",
)
@click.option("--plain", is_flag=True, help="One fact per line, no colours, nothing that moves.")
def command(game: str, server: str | None, pace: float | None, plain: bool) -> int:
    """Show a whole race between four bots.

    The bots join one table over WebSockets, get the same deal, and race it. The server checks
    every move. Then the results, the bots' leaderboard and every check of the race's record
    are shown. The exit code is 0 if all checks pass.
    """
    shown_in = output_format(as_json=False, plain=plain)
    assert shown_in is not OutputFormat.JSON
    return asyncio.run(demonstrate(GAMES[game], server, pace, shown_in))


async def demonstrate(
    game: Game, server: str | None, pace: float | None, shown_in: OutputFormat
) -> int:
    """Run the race, show it and its results, and return the exit code. Raises `Problem`."""
    with TemporaryDirectory(prefix="saratoga-demo-") as name:
        folder = Path(name)
        async with AsyncExitStack() as stack:
            if server is None:
                write_line("starting a server with its own store ...")
                running = await stack.enter_async_context(running_server(folder / "server"))
                server = running.address
                write_line(f"the server is ready at {server}")
            return await _stage(
                game, server, pace or PACES.get(game.name, OTHER_PACE), folder, shown_in
            )


async def _stage(game: Game, server: str, pace: float, folder: Path, shown_in: OutputFormat) -> int:
    async with (
        open_connection(server, token=new_token()) as watcher,
        _four_bots(server, game, folder) as bots,
    ):
        code = bots[0].code
        write_line(f"at table {code}: {', '.join(bot.shown_name for bot in bots)}")
        witnesses = [Witness(folder / bot.player) for bot in bots]
        raced = await _race(watcher, bots, witnesses, folder, pace, shown_in)
        outcome = raced.picture.outcome
        assert outcome is not None, "the race is over"
        write_line(f"digest of the record, announced with the result: {outcome.digest}")
        write_line("")
        write_line(same_deal(raced.reports, outcome.race))
        write_line("")
        leaderboard.show(await _settled(watcher, game, bots, outcome.race), shown_in)
        write_line("")
        record = await watcher.ask(partial(GetRecord, race=outcome.race), events.Record)
        proof = await asyncio.to_thread(
            prove, record.text.encode(), outcome.race, witnesses[0].load(outcome.race)
        )
        verify.show(proof, shown_in)
        return Exit.DONE if proof.ok else Exit.NOT_VERIFIED


@asynccontextmanager
async def _four_bots(server: str, game: Game, folder: Path) -> AsyncIterator[list[SeatedBot]]:
    """Yield four bots at a new table that the first one has created."""
    open_table = partial(CreateTable, game=game.name, cap=CAP, seats=len(LINE_UP), public=False)
    async with AsyncExitStack() as stack:
        bots: list[SeatedBot] = []
        for strength in LINE_UP:
            sit_down = partial(JoinTable, table=bots[0].code) if bots else open_table
            bot = seated_bot(server, sit_down, strength, folder=folder)
            bots.append(await stack.enter_async_context(bot))
        yield bots


async def _race(
    watcher: Connection,
    bots: list[SeatedBot],
    witnesses: list[Witness],
    folder: Path,
    pace: float,
    shown_in: OutputFormat,
) -> Raced:
    """Run the race, show it as a watcher sees it, and return the results."""
    async with asyncio.TaskGroup() as group:
        watched = group.create_task(_watch(watcher, bots[0].code, folder, shown_in))
        races = [
            group.create_task(bot.play(pace=pace, races=1, starts_with=len(bots), witness=witness))
            for bot, witness in zip(bots, witnesses, strict=True)
        ]
    return Raced([race.result() for race in races], watched.result())


async def _watch(watcher: Connection, code: str, folder: Path, shown_in: OutputFormat) -> TableView:
    """Show the table until the race is over."""
    witness, records = Witness(folder / "watcher"), RecordStore(folder / "races")
    with display_for(shown_in, watcher.now) as display:
        async with aclosing(
            watched_states(watcher, code, witness=witness, records=records)
        ) as states:
            async for state in states:
                display.show(state)
                if state.table_view.outcome is not None:
                    return state.table_view
    raise Problem("The table was closed before the race was over.", "", Exit.NOT_FOUND)


def same_deal(reports: list[Report], race: str) -> str:
    """Report that all bots had the same opening position; raises `Problem` if they had not."""
    openings = [report.openings.get(race) for report in reports]
    if openings[0] is None or any(opening != openings[0] for opening in openings):
        raise Problem("The four bots did not get the same deal.", "", Exit.NOT_VERIFIED)
    columns = " ".join(openings[0].columns)
    return f"one deal for all {len(reports)}: columns {columns}, {openings[0].stock} in the stock"


async def _settled(
    watcher: Connection, game: Game, bots: list[SeatedBot], race: str
) -> events.Leaderboard:
    """Return the bots' leaderboard of the day, once all four are on it. Raises `Problem`."""
    players = {bot.player for bot in bots}
    subscribe = partial(SubscribeLeaderboard, game=game.name, bots=True, limit=100)
    try:
        async with asyncio.timeout(SETTLED_WITHIN):
            page = await watcher.ask(subscribe, events.Leaderboard)
            while not players <= {row.player for row in page.rows}:
                page = await _next_page(watcher)
    except TimeoutError:
        raise Problem(
            f"The results of {race} have not reached the leaderboard.", "", Exit.UNEXPECTED
        ) from None
    return page


async def _next_page(watcher: Connection) -> events.Leaderboard:
    async for event in watcher.events():
        if isinstance(event, events.Leaderboard):
            return event
    raise Problem("The server has closed the connection.", "", Exit.UNREACHABLE)
