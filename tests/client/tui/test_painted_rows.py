"""Painted rows: each row is finished once, and only its changed spans are sent."""

from typing import Any

import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.events import Key
from textual.geometry import Region
from textual.strip import Strip

from saratoga_client.board_view.canvas import Canvas, Row
from saratoga_client.board_view.roles import Role
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.colours import paint
from saratoga_client.tui.painted_rows import PaintedRows, PatchStrip

WIDTH, HEIGHT = 80, 24


class CountedRows(PaintedRows):
    """A widget that records the rows that it has finished."""

    DEFAULT_CSS = "CountedRows { width: 1fr; height: 1fr; }"
    finished: list[int]

    def render_line(self, y: int) -> Strip:
        self.finished.append(y)
        return super().render_line(y)


class Shown(App[None]):
    """An app that shows only painted rows; any key shows the next picture."""

    def __init__(self, *pictures: tuple[Row, ...]) -> None:
        super().__init__()
        self.rows = CountedRows()
        self.rows.finished = []
        self.pictures = list(pictures)

    def compose(self) -> ComposeResult:
        yield self.rows

    def on_key(self, event: Key) -> None:
        self.rows.show_rows(self.pictures.pop(0))


def picture(*words: tuple[int, int, str]) -> tuple[Row, ...]:
    canvas = Canvas(WIDTH, HEIGHT)
    for x, y, word in words:
        canvas.put(x, y, word, Role.TEXT)
    return canvas.rows()


def sent(strip: Strip, end: int) -> str:
    """Return a strip's text as Textual sends it for a span that ends there."""
    return strip.crop(0, end).text


def rendered(widget: PaintedRows, y: int) -> Strip:
    return widget.render_lines(Region(0, y, WIDTH, 1))[0]


def test_a_span_is_sent_alone_after_a_move_to_it() -> None:
    strip = PatchStrip([Segment("0123456789")], 10, [(2, 4), (6, 9)])
    assert sent(strip, 4) == "\x1b[2C23"
    assert sent(strip, 9) == "\x1b[6C678"
    assert strip.is_sent


def test_a_span_resets_and_sets_styles_in_one_command() -> None:
    red, blue = Style(color="red"), Style(color="blue")
    strip = PatchStrip([Segment("01", red), Segment("23", blue)], 4, [(1, 3)])
    console = Console(color_system="standard")
    assert strip.crop(0, 3).render(console) == "\x1b[1C\x1b[31m1\x1b[0;34m2\x1b[0m"


@pytest.mark.parametrize(("end", "text"), [(5, "01234"), (10, "0123456789")])
def test_elsewhere_a_patch_is_an_ordinary_strip(end: int, text: str) -> None:
    strip = PatchStrip([Segment("0123456789")], 10, [(2, 4)])
    assert sent(strip, end) == text
    assert strip.text == "0123456789"
    assert not strip.is_sent


async def test_a_row_that_did_not_change_is_not_finished_again() -> None:
    app = Shown(picture((70, 3, "after")))
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.rows.show_rows(picture((70, 3, "first")))
        await pilot.pause()
        app.rows.finished.clear()
        await pilot.press("n")
        await pilot.pause()
        assert app.rows.finished == [3]
        assert sent(rendered(app.rows, 3), 75) == "\x1b[70Cafter"
        # equal rows send nothing and finish nothing
        app.rows.show_rows(picture((70, 3, "after")))
        await pilot.pause()
        assert app.rows.finished == [3]


async def test_spans_of_changes_in_one_frame_are_sent_together() -> None:
    app = Shown()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.rows.show_rows(picture())
        await pilot.pause()
        app.rows.show_rows(picture((20, 5, "one")))
        app.rows.show_rows(picture((20, 5, "one"), (50, 5, "two")))
        # a frame that does not reach the terminal
        rendered(app.rows, 5)
        app.rows.show_rows(picture((20, 5, "one"), (50, 5, "two"), (70, 5, "six")))
        strip = rendered(app.rows, 5)
        assert [sent(strip, end) for end in (23, 53, 73)] == [
            "\x1b[20Cone",
            "\x1b[50Ctwo",
            "\x1b[70Csix",
        ]


async def test_other_colours_and_another_size_send_whole_rows() -> None:
    app = Shown()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.rows.show_rows(picture((20, 5, "one")))
        await pilot.pause()
        app.rows.show_rows(picture((20, 5, "two")))
        app.rows.dress(paint(Colours.NONE))
        assert not isinstance(rendered(app.rows, 5), PatchStrip)
        await pilot.resize_terminal(WIDTH + 10, HEIGHT)
        await pilot.pause()
        strips: list[Any] = app.rows.render_lines(Region(0, 0, WIDTH + 10, HEIGHT))
        assert {strip.cell_length for strip in strips} == {WIDTH + 10}


async def test_a_part_of_the_widget_is_cut_out_of_whole_rows() -> None:
    app = Shown()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.rows.show_rows(picture())
        await pilot.pause()
        app.rows.show_rows(picture((2, 5, "one")))
        assert app.rows.render_lines(Region(0, 5, 5, 1))[0].text == "  one"
