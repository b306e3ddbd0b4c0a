"""Golden pictures of the screens at a table: each cell's character, and its style as a letter.

`python -m kit.table_pictures` (from the folder `tests`) writes all of them again, and so does their
test with `SARATOGA_PAINT_AGAIN=1`. Look at the difference before committing it.
"""

import asyncio
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from kit.session_states import (
    board,
    finished_race,
    over,
    seat,
    snapshot,
    standings,
    state_after,
    table,
)
from kit.table_screens import TablePlayer, table_player
from kit.walks import banking, walk
from saratoga_client.local.terminal import Colours
from saratoga_client.session.state import SessionState
from saratoga_client.tui.theme import Appearance
from saratoga_protocol import events
from saratoga_rules.games import GAMES
from saratoga_rules.position import Position
from saratoga_rules.records.record import RaceRecord

FOLDER: Final = Path(__file__).parent.parent / "client" / "tui" / "snapshots"
VARIABLE: Final = "SARATOGA_PAINT_AGAIN"

SMALL: Final = (80, 24)
MIDDLE: Final = (100, 30)
LARGE: Final = (120, 40)

COLOURED: Final = Appearance()
COLOURLESS: Final = Appearance(colours=Colours.NONE)
ONLY_LETTERS: Final = Appearance(colours=Colours.NONE, ascii=True)

LETTERS: Final = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Picture:
    """A screen to paint: the state to show, the keys to press, and the terminal's size and look."""

    first: SessionState
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    position: Position | None = None
    record: RaceRecord | None = None
    appearance: Appearance = COLOURED


def midway(game: str, at: int = 45) -> Position:
    """Return a position in the middle of a race."""
    steps = walk(game, 3, banking)
    return steps[min(at, len(steps) // 2)].position


def racing(game: str, position: Position) -> SessionState:
    """Return the session state in a race of four players, one of them stuck, with messages."""
    own = position.banked
    first = snapshot(f"y{own} a{own} o3 m2", board(position, 45, game=game), _four(game))
    return state_after(
        standings(f"a{own + 9} y{own} o3 m2", game),
        standings(f"a{own + 9} y{own} o3 m2:stuck", game),
        first=first,
    )


def _four(game: str, phase: str = "running") -> events.Table:
    return table("yaom", game=game, phase=phase)


def pictures() -> Mapping[str, Callable[[], Picture]]:
    """Return the function that makes each picture, by name."""
    found: dict[str, Callable[[], Picture]] = {}
    for game in GAMES:
        for size in (SMALL, LARGE):
            found[f"race-{game}-{_named(size)}"] = partial(_race, game, size)
        found[f"results-{game}-{_named(SMALL)}"] = partial(_results, game, SMALL)
    for size in (SMALL, LARGE):
        found[f"gathering-{_named(size)}"] = partial(_gathering, size)
    found |= {
        "results-lafayette-120x40": partial(_results, "lafayette", LARGE),
        "race-lady-palk-picked-80x24": partial(_race, "lady-palk", SMALL, ("tab", "tab")),
        "race-caprice-letters-80x24": partial(_race, "caprice", SMALL, ("tab",), ONLY_LETTERS),
        "race-canfield-without-colour-80x24": partial(_race, "canfield", SMALL, (), COLOURLESS),
        "race-klondike-100x30": partial(_race, "klondike", MIDDLE),
        "race-klondike-letters-80x24": partial(_race, "klondike", SMALL, ("tab",), ONLY_LETTERS),
        "race-klondike-60x20": partial(_race, "klondike", (60, 20)),
        "race-lafayette-60x20": partial(_race, "lafayette", (60, 20)),
        "countdown-80x24": _countdown,
    }
    return found


def _named(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def _race(
    game: str,
    size: tuple[int, int],
    keys: tuple[str, ...] = (),
    appearance: Appearance = COLOURED,
) -> Picture:
    position = midway(game)
    return Picture(racing(game, position), size, keys, position, appearance=appearance)


def _countdown() -> Picture:
    return Picture(state_after(first=snapshot(shown=_four("caprice", "countdown"))), SMALL)


def _results(game: str, size: tuple[int, int]) -> Picture:
    record = finished_race(game)
    return Picture(over(record), size, record=record)


def _gathering(size: tuple[int, int]) -> Picture:
    seats = [
        seat("y", ready=True, races=2, wins=1, net=-15),
        seat("a", races=2, wins=1, net=120),
        seat("o", ready=True),
        seat("m", connected=False),
    ]
    shown = replace(table(phase="gathering", seats=seats), bots=["weak", "even", "strong"])
    return Picture(state_after(first=snapshot(shown=shown)), size)


async def painted(picture: Picture) -> str:
    """Return a picture as text: the characters, the styles as letters, and the letters' meanings."""
    async with table_player(
        picture.first,
        position=picture.position,
        record=picture.record,
        size=picture.size,
        appearance=picture.appearance,
    ) as at_table:
        await _read(at_table)
        if picture.keys:
            await at_table.press(*picture.keys)
        return _as_text(at_table)


async def _read(at_table: TablePlayer) -> None:
    """Wait until the screen has read the race record in the background."""
    reading = [worker for worker in at_table.app.workers if worker.name == "read the record"]
    if reading:
        await at_table.app.workers.wait_for_complete(reading)
        await at_table.settled()


def _as_text(at_table: TablePlayer) -> str:
    letters: dict[str, str] = {}
    styles = []
    for row in at_table.cells:
        line = ""
        for text, style in row:
            line += letters.setdefault(style, LETTERS[len(letters)]) * len(text)
        styles.append(line)
    legend = [f"{letter} {style}" for style, letter in letters.items()]
    parts = (at_table.text.split("\n"), styles, legend)
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def path(name: str) -> Path:
    """Return the file of a picture."""
    return FOLDER / f"{name}.txt"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, picture in pictures().items():
        path(name).write_text(asyncio.run(painted(picture())), encoding="utf-8")
