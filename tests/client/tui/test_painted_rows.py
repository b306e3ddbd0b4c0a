"""Painted rows: a row that has not changed is not painted again."""

from textual.app import App, ComposeResult
from textual.events import Key
from textual.geometry import Region
from textual.strip import Strip

from saratoga_client.board_view.canvas import Canvas, Row
from saratoga_client.board_view.roles import Role
from saratoga_client.tui.painted_rows import PaintedRows

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


async def test_a_row_that_did_not_change_is_not_finished_again() -> None:
    app = Shown(picture((70, 3, "after")))
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.rows.show_rows(picture((70, 3, "first")))
        await pilot.pause()
        app.rows.finished.clear()
        await pilot.press("n")
        await pilot.pause()
        assert app.rows.finished == [3]
        # equal rows send nothing and finish nothing
        app.rows.show_rows(picture((70, 3, "after")))
        await pilot.pause()
        assert app.rows.finished == [3]


async def test_a_part_of_the_widget_is_cut_out_of_whole_rows() -> None:
    app = Shown()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.rows.show_rows(picture())
        await pilot.pause()
        app.rows.show_rows(picture((2, 5, "one")))
        assert app.rows.render_lines(Region(0, 5, 5, 1))[0].text == "  one"
