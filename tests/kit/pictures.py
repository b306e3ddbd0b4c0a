"""Golden pictures: boards, the screens at a table, and those of practice and review.

`python -m kit.pictures` (from the folder `tests`) writes all of them again; look at the difference
before committing it. A board's file also names the board:

    lady-palk 55x21 ascii picked=t6:2 targets=t1,up
    stock=.. waste=.. (the position, as `format_position` writes it)

    the picture
"""

import asyncio
import string
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace
from textual.screen import Screen

from kit.positions import banking, walk
from kit.screens import StoppedClock, before, reviewed, table_player
from kit.session_states import (
    board,
    finished,
    finished_race,
    over,
    seat,
    snapshot,
    standings,
    state_after,
    table,
)
from saratoga_client.board_view.canvas import Canvas, Row
from saratoga_client.board_view.draw import draw_board
from saratoga_client.board_view.faces import CardStyle, suit_colours
from saratoga_client.board_view.layout import lay_out
from saratoga_client.input.selection import Marks
from saratoga_client.local.terminal import Colours
from saratoga_client.practice.deals import from_seed
from saratoga_client.session.state import SessionState
from saratoga_client.tui.screens.practice import PracticeScreen
from saratoga_client.tui.theme import Appearance
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.position import Position, View, parse_position, redact
from saratoga_rules.records.record import RaceRecord

CLIENT: Final = Path(__file__).parent.parent / "client"
BOARDS: Final = CLIENT / "board_view" / "pictures"
AT_TABLES: Final = CLIENT / "tui" / "snapshots"
ALONE: Final = CLIENT / "tui" / "solo_pictures"

SIZES: Final = ((55, 21), (69, 27), (88, 37))
"""The sizes of the board on screens of 80x24, 100x30 and 120x40."""


def drawn_board(
    game: Game, view: View, marks: Marks, style: CardStyle, width: int, height: int
) -> Canvas:
    """Draw a view on a board of `width` times `height` cells."""
    layout = lay_out(game, view, width, height, marks.picked)
    return draw_board(game, view, marks, style, layout)


def rows(canvas: Canvas) -> list[Row]:
    """Return every row of a canvas as pieces."""
    return [canvas.row(y) for y in range(canvas.height)]


async def board_again(text: str) -> str:
    """Draw the board that the text of a picture's file names; return what the file has to hold."""
    head, position, *_ = text.split("\n")
    name, size, *words = head.split()
    game = GAMES[name]
    options = dict(word.split("=") for word in words if "=" in word)
    pile, _, count = options.get("picked", "").partition(":")
    targets = options.get("targets", "")
    marks = Marks(
        picked=(pile, int(count)) if pile else None,
        targets=frozenset(targets.split(",")) if targets else frozenset(),
        find=options.get("find", ""),
    )
    look = CardStyle(suits=suit_colours(game), ascii="ascii" in words, hollow="hollow" in words)
    view = redact(parse_position(position))
    picture = drawn_board(game, view, marks, look, *map(int, size.split("x"))).text()
    return f"{head}\n{position}\n\n{picture.rstrip()}\n"


class Shown(NamedTuple):
    """What the screens of a table show: the state, and the position with its hidden cards or the record."""

    first: SessionState
    position: Position | None = None
    record: RaceRecord | None = None


def race_shown(game: str) -> Shown:
    """Return the middle of a race of four players, one of them stuck, with messages."""
    steps = walk(game, 3, banking)
    position = steps[min(45, len(steps) // 2)].position
    own = position.banked
    four = table("yaom", game=game)
    first = snapshot(f"y{own} a{own} o3 m2", board(position, 45, game=game), four)
    news = [standings(f"a{own + 9} y{own} o3 m2{end}", game) for end in ("", ":stuck")]
    return Shown(state_after(*news, first=first), position)


def results_shown(game: str) -> Shown:
    record = finished_race(game)
    return Shown(over(record), record=record)


def countdown_shown(game: str) -> Shown:
    return Shown(state_after(first=snapshot(shown=table("yaom", game=game, phase="countdown"))))


def gathering_shown(game: str) -> Shown:
    seats = [
        seat("y", ready=True, races=2, wins=1, net=-15),
        seat("a", races=2, wins=1, net=120),
        seat("o", ready=True),
        seat("m", connected=False),
    ]
    shown = table(phase="gathering", seats=seats, game=game)
    shown = replace(shown, bots=["weak", "even", "strong"])
    return Shown(state_after(first=snapshot(shown=shown)))


class Picture(NamedTuple):
    """A screen to paint: what it shows, the keys to press, and the terminal's look."""

    show: Callable[[str], Shown]
    game: str
    keys: str = ""
    appearance: Appearance = Appearance()

    async def painted(self, name: str) -> str:
        """Return the picture as text: the characters, the styles as letters, and the letters' meanings."""
        first, position, record = self.show(self.game)
        async with table_player(
            first,
            position=position,
            record=record,
            size=size_of(name),
            appearance=self.appearance,
        ) as at_table:
            await at_table.settled()
            await at_table.press(*self.keys.split())
            cells, text = at_table.cells, at_table.rows
        letters: dict[str, str] = {}
        styles = [
            "".join(
                letters.setdefault(style, LETTERS[len(letters)]) * len(cut) for cut, style in row
            )
            for row in cells
        ]
        legend = [f"{letter} {style}" for style, letter in letters.items()]
        return "\n\n".join("\n".join(part) for part in (text, styles, legend)) + "\n"


LETTERS: Final = string.ascii_letters + string.digits
ONLY_LETTERS: Final = Appearance(colours=Colours.NONE, ascii=True)

TABLES: Final = {
    **{f"race-{game}-80x24": Picture(race_shown, game) for game in GAMES},
    **{f"race-{game}-120x40": Picture(race_shown, game) for game in GAMES},
    **{f"results-{game}-80x24": Picture(results_shown, game) for game in GAMES},
    "results-lafayette-120x40": Picture(results_shown, "lafayette"),
    "gathering-80x24": Picture(gathering_shown, "canfield"),
    "gathering-120x40": Picture(gathering_shown, "canfield"),
    "race-lady-palk-picked-80x24": Picture(race_shown, "lady-palk", "tab tab"),
    "race-caprice-letters-80x24": Picture(race_shown, "caprice", "tab", ONLY_LETTERS),
    "race-canfield-without-colour-80x24": Picture(
        race_shown, "canfield", "", Appearance(colours=Colours.NONE)
    ),
    "race-klondike-100x30": Picture(race_shown, "klondike"),
    "race-klondike-letters-80x24": Picture(race_shown, "klondike", "tab", ONLY_LETTERS),
    "race-klondike-60x20": Picture(race_shown, "klondike"),
    "race-lafayette-60x20": Picture(race_shown, "lafayette"),
    "countdown-80x24": Picture(countdown_shown, "caprice"),
}
"""The pictures of the screens at a table; their names end with the size of the terminal."""

PRACTICE: Final = {
    "practice-canfield-80x24": ("canfield", "space 1"),
    "practice-caprice-ascii-80x24": ("caprice", "h"),
    "practice-lady-palk-120x40": ("lady-palk", "space z"),
    "practice-klondike-80x24": ("klondike", "h enter space"),
    "practice-lafayette-60x24": ("lafayette", ""),
    "review-canfield-aisleriot-80x24": ("canfield-aisleriot", "n"),
    "review-lafayette-face-down-80x24": ("lafayette", "pagedown h"),
    "review-klondike-face-down-80x24": ("klondike", "pagedown h"),
    "review-caprice-120x40": ("caprice", "end"),
}
"""The pictures of practice and review: a game, and the keys to press."""

IN_ASCII: Final = ("practice-caprice-ascii-80x24", "review-lafayette-face-down-80x24")


def size_of(name: str) -> tuple[int, int]:
    """Return the size of the terminal, which a picture's name ends with."""
    columns, _, lines = name.rpartition("-")[2].partition("x")
    return int(columns), int(lines)


async def practice_painted(name: str) -> str:
    """Paint the picture of that name in `PRACTICE`; return it as text."""
    game, keys = PRACTICE[name]
    screen: Screen[None] = PracticeScreen(from_seed(GAMES[game], "7"), seconds=StoppedClock())
    if name.startswith("review"):
        screen = reviewed(finished(game))
    async with before(screen, size_of(name), Appearance(ascii=name in IN_ASCII)) as player:
        await player.press(*keys.split())
        return player.text + "\n"


def pictures() -> Iterator[tuple[Path, Callable[[], Coroutine[None, None, str]]]]:
    """Yield every picture's file, and the function that makes its text."""
    for path in sorted(BOARDS.glob("*.txt")):
        yield path, partial(board_again, path.read_text(encoding="utf-8"))
    for name, picture in TABLES.items():
        yield AT_TABLES / f"{name}.txt", partial(picture.painted, name)
    for name in PRACTICE:
        yield ALONE / f"{name}.txt", partial(practice_painted, name)


if __name__ == "__main__":
    for path, again in pictures():
        path.write_text(asyncio.run(again()), encoding="utf-8")
