"""However the client's program ends, at home, in practice or in a race, it restores the terminal.

The program runs in a pseudo-terminal, a card is dragged if there is a board, and the program is
terminated or interrupted, the terminal resized while it ends, or the server killed.
"""

import re
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from kit.pseudo_terminal import Window, window
from kit.server_process import ServerProcess
from saratoga_client.board_view.layout import lay_out
from saratoga_client.practice.deals import from_seed
from saratoga_rules.games import GAMES
from saratoga_rules.position import redact

SARATOGA: Final = (sys.executable, "-m", "saratoga_client")
CODE: Final = re.compile(r"\b[a-z]+-[a-z]+-\d+\b")
COLUMNS, LINES, PANEL = 80, 24, 24
PRESSED, DRAGGED = 0, 32
CTRL_C: Final = b"\x03"
INTERRUPTED: Final = 128 + signal.SIGINT
RESIZES: Final = 20
"""The number of times that the terminal is resized."""

Opened: TypeAlias = Callable[..., AbstractAsyncContextManager[Window]]
"""A function that opens the program with these words in a new window."""


async def home(opened: Opened) -> AsyncGenerator[Window, None]:
    """Yield windows whose program shows the home."""
    while True:
        async with opened() as here:
            await here.shows("Play now")
            yield here


async def practice(opened: Opened) -> AsyncGenerator[Window, None]:
    """Yield windows whose player drags a card in practice."""
    while True:
        async with opened("practice", "canfield", "--seed", "1") as here:
            await here.shows("undo")
            await drag(here)
            yield here


async def race(opened: Opened) -> AsyncGenerator[Window, None]:
    """Yield windows whose player drags a card in one race, which the first window starts."""
    words: tuple[str, ...] = ("host", "canfield", "--cap", "0")
    while True:
        async with opened(*words) as here:
            if words[0] == "host":
                await here.shows("when you are ready")
                found = CODE.search(bytes(here.written).decode(errors="replace"))
                assert found is not None
                words = ("join", found[0])
                here.type(b"r")
                await here.shows("not ready")
                here.type(b"s")
            await here.shows("cash out")
            await drag(here)
            yield here


async def drag(opened: Window) -> None:
    """Drag the card of the first column some cells away and keep the button down."""
    game = GAMES["canfield"]
    # The position of the column does not depend on the cards.
    view = redact(from_seed(game, "1").position)
    layout = lay_out(game, view, COLUMNS - PANEL, LINES - 3)
    place = next(tile for tile in layout.tiles if tile.pile == "t1")
    await opened.wait_for(lambda: opened.modes.private.get(1016, False))
    # The title is above the board.
    x, y = place.x + 1, place.y + 2
    opened.point(PRESSED, x, y)
    for step in range(1, 4):
        opened.point(DRAGGED, x + step, y + step)
    # a key that the program handles after the pointer
    opened.type(b"%")
    await opened.shows("does nothing here")


async def is_interrupted(opened: Window) -> None:
    opened.type(CTRL_C)
    assert await opened.given_back() == INTERRUPTED, opened.last_words


async def is_resized_while_interrupted(opened: Window) -> None:
    """Resize the window many times and interrupt the program in between."""
    chance = Random("sizes")
    for _ in range(RESIZES):
        opened.resize(chance.randint(1, 200), chance.randint(1, 60))
        if chance.random() < 0.2:
            await opened.writes()
    # The output of `stty -a` includes the size.
    opened.resize(COLUMNS, LINES)
    await is_interrupted(opened)


async def loses_the_server(opened: Window, server_process: ServerProcess) -> None:
    since = len(opened.written)
    await server_process.kill()
    await opened.shows("reconnecting", since)
    await is_interrupted(opened)


async def test_the_terminal_is_restored(quick_server: ServerProcess, tmp_path: Path) -> None:
    @asynccontextmanager
    async def opened(*words: str) -> AsyncIterator[Window]:
        env: dict[str, str | None] = {
            "SARATOGA_HOME": str(tmp_path),
            "SARATOGA_SERVER": quick_server.url,
            "SARATOGA_NAME": "Anna",
        }
        async with window(*SARATOGA, *words, columns=COLUMNS, lines=LINES, env=env) as here:
            yield here

    async with aclosing(home(opened)) as windows:
        await is_interrupted(await anext(windows))
    async with aclosing(practice(opened)) as windows:
        await is_resized_while_interrupted(await anext(windows))
    async with aclosing(race(opened)) as windows:
        here = await anext(windows)
        here.process.send_signal(signal.SIGTERM)
        assert await here.given_back() == 128 + signal.SIGTERM, here.last_words
        await loses_the_server(await anext(windows), quick_server)
