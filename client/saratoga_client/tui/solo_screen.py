"""What the screens without a table have: a body, what was said last, and what the keys do.

Every key is answered; a question that is open is answered by the next one.
"""

from collections.abc import Callable, Iterable
from typing import cast

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.input.move_text import CardName, ascii_card_name, card_name
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.keys import key_of
from saratoga_client.tui.lines import Guide, KeyLine, MessageLine
from saratoga_client.tui.pages.symbols import Signs, signs
from saratoga_client.tui.ports import Program


class SoloScreen(Screen[None], inherit_bindings=False):
    """A title, a body, and an answer to every key; `dismiss` ends it."""

    DEFAULT_CSS = """
    SoloScreen { layout: vertical; overflow: hidden hidden; background: transparent; }
    SoloScreen #title { height: 1; }
    """
    ALWAYS: Guide = (("?", "help"), ("q", "back"))

    def __init__(self) -> None:
        super().__init__()
        self._yes: Callable[[], None] | None = None

    @property
    def program(self) -> Program:
        """The app, by its own type."""
        return cast(Program, self.app)

    @property
    def signs(self) -> Signs:
        return signs(self.program.appearance.ascii)

    @property
    def card_name(self) -> CardName:
        """How cards are called in sentences here."""
        return ascii_card_name if self.program.appearance.ascii else card_name

    def compose(self) -> ComposeResult:
        yield CanvasView(self.draw_title, id="title")
        yield from self.body()
        yield MessageLine(id="message")
        yield KeyLine(id="keys")

    def body(self) -> Iterable[Widget]:
        """What stands between title and message."""
        return ()

    def draw_title(self, width: int, height: int) -> Canvas:
        """The first line."""
        return Canvas(width, 1, Role.TITLE)

    def guide(self) -> Guide:
        """What keys do at this moment."""
        return ()

    def redraw(self) -> None:
        """Everything as it is now; only what differs is painted."""
        for view in self.query(CanvasView):
            if view.id not in ("message", "keys"):
                view.redraw()
        self._show_keys()

    def say(self, text: str, role: Role = Role.TEXT) -> None:
        """Answer the player."""
        self.query_one("#message", MessageLine).say(text, role)

    def ask(self, text: str, yes: Callable[[], None]) -> None:
        """Ask before something that cannot be undone; the key `y` does it, any other does not."""
        self._yes = yes
        self.say(text, Role.WARNING)

    def no_question(self) -> None:
        """Whatever was asked is not asked any more."""
        self._yes = None

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        key = key_of(event)
        yes, self._yes = self._yes, None
        if yes is None:
            self.press(key)
        elif key == "y":
            self.say("")
            yes()
        elif key in ("n", "escape"):
            self.say("Nothing was done.")
        else:
            self.say("")
            self.press(key)
        if self.is_attached and self.is_current:
            self.redraw()

    def press(self, key: str) -> None:
        """A key that answers no question."""
        match key:
            case "q":
                self.dismiss()
            case "t":
                self.say(f"Colours: {self.program.next_theme()}.")
            case _:
                self.say(f"{key} does nothing here; ? lists the keys.", Role.DIM)

    def _show_keys(self) -> None:
        keys = self.query_one("#keys", KeyLine)
        if self._yes is not None:
            keys.set((("y", "yes"), ("any other key", "no")), ())
        else:
            keys.set(self.guide(), self.ALWAYS)
