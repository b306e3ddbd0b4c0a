"""A widget that shows what a function draws."""

from textual.app import App, ComposeResult
from textual.strip import Strip

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.colours import paint
from saratoga_client.tui.painted_rows import CanvasView


class WatchedView(CanvasView):
    """A widget that records the rows it has to draw."""

    def __init__(self) -> None:
        super().__init__()
        self.painted: list[int] = []

    def render_line(self, y: int) -> Strip:
        self.painted.append(y)
        return super().render_line(y)


class Viewer(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.view = WatchedView()

    def compose(self) -> ComposeResult:
        yield self.view


def numbered(third: str) -> Canvas:
    canvas = Canvas(80, 24)
    for y in range(24):
        canvas.put(0, y, third if y == 2 else f"row {y}", Role.TEXT)
    return canvas


async def test_only_rows_that_changed_are_painted_again() -> None:
    app = Viewer()
    async with app.run_test() as pilot:
        app.view.show(lambda width, height: numbered("before"))
        await pilot.pause()
        app.view.painted.clear()
        app.view.show(lambda width, height: numbered("after"))
        await pilot.pause()
        assert set(app.view.painted) == {2}
        app.view.painted.clear()
        app.view.redraw()
        await pilot.pause()
        assert app.view.painted == []


async def test_another_size_and_other_colours_paint_everything() -> None:
    app = Viewer()
    async with app.run_test() as pilot:
        app.view.show(Canvas)
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        assert app.view.render_line(29).cell_length == 100
        app.view.painted.clear()
        app.view.dress(paint(Colours.NONE))
        await pilot.pause()
        assert set(app.view.painted) == set(range(30))


async def test_undrawn_rows_are_bare_table() -> None:
    app = Viewer()
    async with app.run_test() as pilot:
        app.view.show(lambda width, height: Canvas(width, 3))
        await pilot.pause()
        assert app.view.render_line(20).text.strip() == ""
