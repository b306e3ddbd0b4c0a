"""Parts of a screen that changed, as they are sent to the terminal."""

import re
from collections.abc import Iterator

import pytest
from rich.cells import cell_len
from rich.console import RenderableType
from textual._compositor import ChopsUpdate
from textual.app import App, ComposeResult
from textual.screen import Screen

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.partial_update import LeanUpdate, lean

BEFORE = [
    "the table as it was",
    "nothing changes here",
    "北京 Anna 21",
    "a b c d e f g h i j k l m",
]
AFTER = ["the table as it is!", "nothing changes here", "北海 Anna 22", "A b c d e f g h i j k l M"]
WIDTH, MARGIN = 30, 4
SENT = re.compile(r"\x1b\[(?P<y>\d+);(?P<x>\d+)H|\x1b\[[\d;]*m|(?P<text>[^\x1b]+)")


class Margin(CanvasView):
    DEFAULT_CSS = f"Margin {{ dock: left; width: {MARGIN}; }}"


class Painted(App[None]):
    """Keeps what it would send."""

    CSS = f"Screen {{ layout: horizontal; }} #view {{ width: {WIDTH - MARGIN}; }}"

    def __init__(self) -> None:
        super().__init__()
        self.lines = BEFORE
        self.updates: list[RenderableType] = []

    def compose(self) -> ComposeResult:
        yield Margin()
        yield CanvasView(self.draw, id="view")

    def draw(self, width: int, height: int) -> Canvas:
        canvas = Canvas(width, height)
        for y, line in enumerate(self.lines):
            canvas.put(0, y, line, Role.TEXT if y % 2 else Role.TITLE)
        return canvas

    def _display(self, screen: Screen[None], renderable: RenderableType | None) -> None:
        if renderable is not None:
            self.updates.append(renderable)
        super()._display(screen, renderable)


def placed(sent: str) -> Iterator[tuple[int, int, str]]:
    """Every sign that is sent, and its row and column from 0."""
    y = x = 0
    for found in SENT.finditer(sent):
        if found["text"]:
            for sign in found["text"]:
                yield y, x, sign
                x += cell_len(sign)
        elif found["y"]:
            y, x = int(found["y"]) - 1, int(found["x"]) - 1


def cells(line: str) -> list[str]:
    found = [cell for sign in line for cell in (sign, *[""] * (cell_len(sign) - 1))]
    return found + [" "] * (WIDTH - MARGIN - len(found))


@pytest.fixture
async def update() -> tuple[str, str]:
    """What is sent when the lines change: leanly, and as Textual would."""
    app = Painted()
    async with app.run_test(size=(WIDTH, 6)) as pilot:
        await pilot.pause()
        app.updates.clear()
        app.lines = AFTER
        app.query_one("#view", CanvasView).redraw()
        await pilot.pause()
        (theirs,) = [update for update in app.updates if isinstance(update, ChopsUpdate)]
        ours = lean(theirs)
        assert isinstance(ours, LeanUpdate)
        return ours.render_segments(app.console), theirs.render_segments(app.console)


async def test_a_terminal_shows_the_same_afterwards(update: tuple[str, str]) -> None:
    screen = [cells(line) for line in BEFORE]
    for y, x, sign in placed(update[0]):
        screen[y][x - MARGIN] = sign
        if cell_len(sign) == 2:
            screen[y][x - MARGIN + 1] = ""
    assert screen == [cells(line) for line in AFTER]


async def test_nothing_is_sent_that_did_not_change(update: tuple[str, str]) -> None:
    sent = ["".join(sign for y, _, sign in placed(update[0]) if y == row) for row in range(4)]
    assert sent[1] == ""
    assert sent[2] == "海" + AFTER[2][2:]
    assert sent[3] == "AM"
    assert len(update[0]) < len(update[1])


def test_other_updates_stay_as_they_are() -> None:
    assert lean(None) is None
    assert lean("a screen") == "a screen"
