"""A prompt with an input field for one line, such as a name or the code of a table."""

from collections.abc import Callable

from rich.console import RenderableType
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from saratoga_client.board_view.roles import Role
from saratoga_client.tui.rich_view import Ink, RichView


class PastingInput(Input):
    """An input field that joins pasted lines into one line without control characters."""

    def __init__(self, longest: int, one_line: Callable[[str], str]) -> None:
        super().__init__(max_length=longest, compact=True, select_on_focus=False)
        self.cursor_blink = False
        self._one_line = one_line

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_text_at_cursor(self._one_line(event.text))


class LineInput(Horizontal):
    """A prompt and its input field, hidden until `open`."""

    DEFAULT_CSS = """
    LineInput { height: 1; display: none; }
    LineInput.-open { display: block; }
    LineInput RichView { width: auto; padding: 0 1; }
    LineInput PastingInput, LineInput PastingInput:focus {
        width: 1fr; height: 1; border: none; padding: 0;
        background: transparent; background-tint: transparent; color: $ink;
    }
    LineInput PastingInput > .input--cursor { color: auto; text-style: reverse; background: transparent; }
    """

    class Entered(Message):
        """The message that the player has entered a line."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, longest: int, one_line: Callable[[str], str]) -> None:
        """Limit the line to `longest` characters; `one_line` cleans pasted text."""
        super().__init__()
        self._prompt = ""
        self._field = PastingInput(longest, one_line)

    def compose(self) -> ComposeResult:
        yield RichView(self._draw)
        yield self._field

    def _draw(self, ink: Ink) -> RenderableType:
        return ink.text(f"{self._prompt}:", Role.LABEL)

    @property
    def text(self) -> str:
        """The text typed so far."""
        return self._field.value

    def open(self, prompt: str, text: str) -> None:
        """Show the prompt and the field, with `text` as the field's initial value."""
        self._prompt = prompt
        self.query_one(RichView).redraw()
        self._field.value = text
        self._field.cursor_position = len(text)
        self.add_class("-open")
        # `focus` waits for the app, and the keys pressed meanwhile would be lost
        self.screen.set_focus(self._field)

    def close(self) -> None:
        """Hide the field, so that the screen handles keys again."""
        self.remove_class("-open")
        self.screen.set_focus(None)

    def type_key(self, event: events.Key) -> None:
        """Type a character that the screen received before the field had the focus.

        The other keys are bindings of the field, which Textual runs wherever the key arrived.
        """
        if event.is_printable and event.character is not None:
            self._field.insert_text_at_cursor(event.character)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Entered(event.value))
