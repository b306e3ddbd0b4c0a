"""The screen before a flow's first screen: one sentence on the progress."""

from textual.app import ComposeResult
from textual.screen import Screen

from saratoga_client.tui.rich_view import RichView, paint_ground, program_of


class WaitingScreen(Screen[None], inherit_bindings=False):
    """A screen with one sentence in the middle."""

    DEFAULT_CSS = """
    WaitingScreen { align: center middle; }
    WaitingScreen RichView { width: auto; }
    """

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.text = text

    def compose(self) -> ComposeResult:
        yield RichView(lambda ink: ink.text(self.text))

    def on_mount(self) -> None:
        paint_ground(self, program_of(self).colours)

    def say(self, text: str) -> None:
        """Show another sentence."""
        self.text = text
        for view in self.query(RichView):
            view.redraw()
