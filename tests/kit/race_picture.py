"""Paint the picture of a race for the README: `make picture`.

The real client races against four rivals, two people and two bots, on a server in this process. Its
screen is saved after `MOVES` moves. The deal and the players' strategies are always the same.
"""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

from textual.pilot import Pilot
from textual.screen import Screen

from kit.listening_server import listening_server
from kit.stores import StoreServer, binaries
from saratoga_client.bots.memory import Memory, remember
from saratoga_client.bots.player import TablePlayer
from saratoga_client.bots.strengths import CHOOSERS, Strength
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection
from saratoga_client.practice.deals import from_seed
from saratoga_client.session.join import claim_name, take_seat
from saratoga_client.session.open_connection import open_connection
from saratoga_client.tui.app import SaratogaApp
from saratoga_client.tui.appearance import Appearance
from saratoga_client.tui.flows import table_flow
from saratoga_client.tui.screens.gathering import GatheringScreen
from saratoga_client.tui.screens.race import RaceScreen
from saratoga_protocol.commands import CreateTable, JoinTable
from saratoga_protocol.events import Snapshot
from saratoga_rules.games import GAMES
from saratoga_rules.judge import play
from saratoga_rules.moves import Move
from saratoga_rules.views import redact
from saratoga_server.store.opening import open_store
from saratoga_server.transport.web_files import WebFiles

PICTURE: Final = Path(__file__).parents[2] / "client" / "race-screen.svg"
COLUMNS, LINES = 120, 40
YOU: Final = "Mei"
RIVALS: Final = (
    ("Ana", False, Strength.STRONG, 1.5),
    ("Raj", False, Strength.WEAK, 1.6),
    ("Biscuit", True, Strength.STRONG, 1.2),
    ("Old Tom", True, Strength.WEAK, 0.9),
)
"""Name, whether it is shown as a bot, strength, and moves a second of each rival; all are bots here."""

GAME, SEED, MOVES, PACE = "lady-palk", "otter", 150, 1.6
LAST_KEYS: Final = ("tab",)
"""The keys that are pressed before the picture is saved."""

Shown = TypeVar("Shown", bound=Screen[None])

FONTS: Final = 'ui-monospace, Menlo, "DejaVu Sans Mono", Consolas, monospace'
FONT_FACES: Final = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
REMARKS: Final = re.compile(r"<!--.*?-->\s*", re.DOTALL)


def planned_moves(game: str, seed: str, most: int) -> list[Move]:
    """Return the first moves, at most `most`, that the strong bot makes on a deal."""
    rules = GAMES[game]
    position, memory = from_seed(rules, seed).position, Memory()
    moves: list[Move] = []
    while len(moves) < most:
        choice = CHOOSERS[Strength.STRONG](rules, redact(position), memory)
        if choice.move is None:
            break
        after = play(rules, position, choice.move)
        memory = remember(rules, choice.memory, redact(position), choice.move, redact(after))
        position = after
        moves.append(choice.move)
    return moves


def without_remote_fonts(svg: str) -> str:
    """Replace fonts from the network by installed ones, so that the picture loads nothing."""
    svg = REMARKS.sub("", FONT_FACES.sub("", svg))
    return re.sub(r"font-family:[^;]*;", f"font-family: {FONTS};", svg)


@asynccontextmanager
async def rivals(url: str, game: str) -> AsyncIterator[str]:
    """Seat the rivals at a table that starts when all are ready; yield the table's code."""
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        code, playing = "", []
        for number, (name, is_bot, strength, pace) in enumerate(RIVALS):
            token = new_token()
            connection = await stack.enter_async_context(
                Connection(url, token, name=name, bot=is_bot)
            )
            command = partial(JoinTable, table=code) if code else partial(CreateTable, game=game)
            code = (await connection.ask(command, Snapshot)).table.code
            player = TablePlayer(
                connection,
                CHOOSERS[strength],
                pace=pace,
                variation=number,
                starts_with=len(RIVALS) + 1 if number == 0 else None,
            )
            playing.append(group.create_task(player.stay()))
        yield code
        for task in playing:
            task.cancel()


async def until_shown(pilot: Pilot[int], kind: type[Shown]) -> Shown:
    while not isinstance(screen := pilot.app.screen, kind):
        await pilot.pause(0.1)
    return screen


async def painted(url: str, code: str, moves: list[Move]) -> str:
    """Play these moves at the table; return the player's screen as SVG."""
    async with open_connection(url) as connection:
        await claim_name(connection, YOU)
        session, _ = await take_seat(connection, code)
        app = SaratogaApp(table_flow(session, url), Appearance())
        return await _race(app, code, moves)


async def _race(app: SaratogaApp, code: str, moves: list[Move]) -> str:
    async with app.run_test(size=(COLUMNS, LINES)) as pilot:
        await until_shown(pilot, GatheringScreen)
        await pilot.press("r")
        screen = await until_shown(pilot, RaceScreen)
        for move in moves:
            await pilot.pause(1 / PACE)
            while not screen.own.may_move:
                await pilot.pause(0.01)
            assert screen.controls.seat.play(move)
        await pilot.pause(1)
        await pilot.press(*LAST_KEYS)
        await pilot.pause()
        return app.export_screenshot(title=f"saratoga join {code}")


@asynccontextmanager
async def table_of_rivals(game: str, web: WebFiles | None = None) -> AsyncIterator[tuple[str, str]]:
    """Run a server and its store, and seat the rivals; yield the server's URL and the table's code.

    With `web`, its files of the page, the server has a page.
    """
    binary = binaries()["valkey"]
    assert binary is not None
    with TemporaryDirectory(prefix="saratoga-") as folder:
        os.environ["SARATOGA_HOME"] = folder
        store = StoreServer(binary, Path(folder))
        store.start()
        try:
            deal = from_seed(GAMES[game], SEED).position
            async with (
                open_store(store.url) as stores,
                listening_server(stores, deal=lambda _game, _key: deal, web=web) as server,
                rivals(server.url, game) as code,
            ):
                yield server.url, code
        finally:
            store.kill()


async def picture() -> str:
    """Race at a table of rivals, and return the picture as SVG."""
    async with table_of_rivals(GAME) as (url, code):
        svg = await painted(url, code, planned_moves(GAME, SEED, MOVES))
    return without_remote_fonts(svg) + "\n"


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    place.write_text(asyncio.run(picture()), encoding="utf-8")
