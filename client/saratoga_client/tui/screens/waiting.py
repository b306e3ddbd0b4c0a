"""What is shown until there is something to show."""

from textual.app import ComposeResult
from textual.screen import Screen

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.sanitised import sanitised
from saratoga_client.tui.canvas_view import CanvasView


class WaitingScreen(Screen[None], inherit_bindings=False):
    """One sentence in the middle."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.text = text

    def compose(self) -> ComposeResult:
        yield CanvasView(self._draw)

    def say(self, text: str) -> None:
        """What is being waited for."""
        self.text = text
        for view in self.query(CanvasView):
            view.redraw()

    def _draw(self, width: int, height: int) -> Canvas:
        canvas = Canvas(width, height)
        canvas.put(
            max(1, (width - len(self.text)) // 2), height // 2, sanitised(self.text), Role.TEXT
        )
        return canvas
