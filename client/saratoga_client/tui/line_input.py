"""A prompt with an input field for one line, such as a name or the code of a table."""

from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from saratoga_client.board_view.roles import Role
from saratoga_client.tui.rich_view import RichView

LONGEST: Final = 300
"""Maximum characters of a typed or pasted line; an invitation is shorter."""


def one_line(text: str) -> str:
    r"""Return a pasted text as one line without control characters, at most `LONGEST` long.

    >>> one_line("race me:\n\x1b saratoga join mint-otter-42\n")
    'race me:  saratoga join mint-otter-42 '
    """
    line = "".join(sign for sign in " ".join(text.split("\n")) if sign.isprintable())
    return line[:LONGEST]


class PastingInput(Input):
    """An input field that joins pasted lines into one line without control characters."""

    def __init__(self) -> None:
        super().__init__(max_length=LONGEST, compact=True, select_on_focus=False)
        self.cursor_blink = False

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_text_at_cursor(one_line(event.text))


class LineInput(Horizontal):
    """A prompt and its input field, hidden until `open`; the field posts `Input.Submitted`."""

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

    _prompt = ""

    def compose(self) -> ComposeResult:
        yield RichView(lambda ink: ink.text(f"{self._prompt}:", Role.LABEL))
        yield PastingInput()

    @property
    def _field(self) -> PastingInput:
        return self.query_one(PastingInput)

    def open(self, prompt: str, text: str) -> None:
        """Show the prompt and the field, with `text` as the field's initial value."""
        self._prompt = prompt
        self.query_one(RichView).redraw()
        field = self._field
        field.value, field.cursor_position = text, len(text)
        self.add_class("-open")
        # `focus` waits for the app, and the keys pressed meanwhile would be lost
        self.screen.set_focus(field)

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
