"""`make demo`: race four bots on a server of their own, in plain lines, and verify the record.

Exits with 0 if the bots had one deal, their results are on the leaderboard, and the record passes
every check.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from saratoga_client.bots.seat import SeatedBot, seated_bot
from saratoga_client.cli import leaderboard, verify
from saratoga_client.cli.watch import printer, watched_states
from saratoga_client.local.hosting import running_server
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection
from saratoga_client.output import OutputFormat, write_line
from saratoga_client.session.open_connection import open_connection
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.verdict import prove
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_protocol.commands import GetLeaderboard, GetRecord, Start
from saratoga_rules.games import GAMES

LINE_UP: Final = ("strong", "weak", "strong", "weak")
"""The strengths of the four bots; the first one is the host."""

CAP: Final = 3
"""The race's time limit in minutes."""

PACES: Final = {
    "klondike": 2.0,
    "canfield": 16.0,
    "canfield-aisleriot": 5.0,
    "lafayette": 18.0,
    "lady-palk": 13.0,
    "caprice": 9.0,
}
"""The bots' moves per second in each game, chosen so that a race takes about 20 seconds."""

COUNTED_WITHIN: Final = 10.0
"""Seconds after which missing results on the leaderboard are a failure."""


async def demonstrate(game: str, pace: float, folder: Path) -> bool:
    """Run the race, show it and its results, and return whether its record passes every check."""
    write_line("starting a server with its own store ...")
    async with running_server(folder / "server") as server:
        write_line(f"the server is ready at {server.address}")
        witness = Witness(folder / "witness")
        async with (
            open_connection(server.address, token=new_token()) as watcher,
            four_bots(server.address, game, folder, witness) as bots,
        ):
            names = ", ".join(bot.shown_name for bot in bots)
            write_line(f"at table {bots[0].code}: {names}")
            outcome = await race(watcher, bots, pace, folder)
            write_line("")
            leaderboard.show(await counted(watcher, game, bots), OutputFormat.PLAIN)
            write_line("")
            record = await watcher.ask(partial(GetRecord, race=outcome.race), events.Record)
            proof = prove(record.text.encode(), outcome.race, witness.evidence(outcome.race))
            verify.show(proof, OutputFormat.PLAIN)
            return proof.ok


@asynccontextmanager
async def four_bots(
    server: str, game: str, folder: Path, witness: Witness
) -> AsyncIterator[list[SeatedBot]]:
    """Seat four bots at a new table; the first one, whose sightings `witness` keeps, creates it."""
    async with AsyncExitStack() as stack:
        bots: list[SeatedBot] = []

        async def sit_down(session: TableSession) -> events.Table:
            if bots:
                return await session.sit_down(bots[0].code)
            return await session.open_table(game, cap=CAP, seats=len(LINE_UP))

        for strength in LINE_UP:
            seen = None if bots else witness
            bot = seated_bot(server, sit_down, strength, folder=folder, witness=seen)
            bots.append(await stack.enter_async_context(bot))
        yield bots


async def start(host: TableSession, players: int) -> None:
    """Start the race when so many players are ready."""
    await host.until(lambda state: sum(seat.ready for seat in state.table.seats) == players)
    await host.send(Start)


async def race(
    watcher: Connection, bots: list[SeatedBot], pace: float, folder: Path
) -> events.Outcome:
    """Run the race, show it as a watcher sees it, and return the outcome."""
    async with asyncio.TaskGroup() as group:
        watched = group.create_task(watch(watcher, bots[0].code, folder / "watcher"))
        hosting = asyncio.create_task(start(bots[0].session, len(bots)))
        for bot in bots:
            group.create_task(bot.play(pace=pace, races=1))
    await hosting
    outcome = watched.result()
    states = [bot.session.state for bot in bots]
    checks = [state.verifications.get(outcome.race) for state in states if state is not None]
    if len(checks) < len(bots) or not all(check is not None and check.ok for check in checks):
        sys.exit("The four bots did not all get the deal of the record.")
    write_line(f"one deal for all {len(bots)}, and it is the deal of the record")
    return outcome


async def watch(watcher: Connection, code: str, folder: Path) -> events.Outcome:
    """Show the table until the race is over, and return the outcome."""
    show = printer(OutputFormat.PLAIN, watcher.now)
    witness, records = Witness(folder / "seen"), RecordStore(folder / "races")
    async with aclosing(watched_states(watcher, code, witness=witness, records=records)) as states:
        async for state in states:
            show(state)
            if state.table_view.outcome is not None:
                return state.table_view.outcome
    sys.exit("The table was closed before the race was over.")


async def counted(watcher: Connection, game: str, bots: list[SeatedBot]) -> events.Leaderboard:
    """Return the bots' leaderboard of the day once all four are on it."""
    players = {bot.player for bot in bots}
    query = partial(GetLeaderboard, game=game, bots=True, limit=100)
    async with asyncio.timeout(COUNTED_WITHIN):
        page = await watcher.ask(query, events.Leaderboard)
        while not players <= {row.player for row in page.rows}:
            await asyncio.sleep(0.2)
            page = await watcher.ask(query, events.Leaderboard)
    return page


def main() -> int:
    """Read the arguments, and return the exit code."""
    parser = argparse.ArgumentParser(prog="make demo", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--game", choices=list(GAMES), default="canfield")
    parser.add_argument("--pace", type=float, help="moves per second")
    chosen = parser.parse_args()
    pace = chosen.pace or PACES[chosen.game]
    with TemporaryDirectory(prefix="saratoga-demo-") as name:
        return 0 if asyncio.run(demonstrate(chosen.game, pace, Path(name))) else 1


if __name__ == "__main__":
    sys.exit(main())
