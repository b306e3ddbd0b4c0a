"""The title line above a screen's body, and the message line and the key line below it."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from textual import events

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.text_width import cells_of, wrapped
from saratoga_client.tui.painted_rows import CanvasView

WIDE_ENOUGH: Final = 80
"""Minimum screen columns at which nearly every message fits on one line."""

Guide: TypeAlias = Sequence[tuple[str, str]]
"""Keys, each with its effect now."""


def title_line(left: Sequence[str], right: Sequence[tuple[str, Role]], width: int) -> Canvas:
    """Draw a title line: facts at the left, the connection and the clock at the right.

    Empty facts are left out, and without enough room the last ones; none is cut.
    """
    canvas = Canvas(width, 1, Role.TITLE)
    at = width - 1
    for text, role in reversed(right):
        at -= cells_of(text)
        canvas.put(at, 0, text, role)
        at -= 2
    x = 1
    for fact in filter(None, left):
        if x + cells_of(fact) > at:
            break
        x = canvas.put(x, 0, fact, Role.TITLE) + 2
    return canvas


def message_lines(text: str, width: int) -> list[str]:
    """Break a message between words into lines for a screen of this width.

    >>> message_lines("Connected again; nothing is lost.", 20)
    ['Connected again;', 'nothing is lost.']
    """
    return wrapped(text, width - 2)


def key_line(now: Guide, always: Guide, width: int) -> Canvas:
    """Draw a key line: as many keys of `now` as fit, then all keys of `always`."""
    canvas = Canvas(width, 1)
    end = width - sum(_width(key, effect) for key, effect in always)
    x = 1
    for key, effect in now:
        if x + _width(key, effect) <= end:
            x = _put(canvas, x, key, effect)
    for key, effect in always:
        x = _put(canvas, x, key, effect)
    return canvas


def _width(key: str, effect: str) -> int:
    return cells_of(key) + 1 + cells_of(effect) + 2


def _put(canvas: Canvas, x: int, key: str, effect: str) -> int:
    x = canvas.put(x, 0, key, Role.KEY)
    return canvas.put(x + 1, 0, effect, Role.DIM) + 2


class TitleLine(CanvasView):
    """The first line of a screen."""

    DEFAULT_CSS = "TitleLine { height: 1; }"


class MessageLine(CanvasView):
    """The line with the answer to the last key or click; a long text takes more lines."""

    DEFAULT_CSS = "MessageLine { height: 1; }"

    def __init__(self) -> None:
        super().__init__(self._draw_message)
        self.text = ""
        self.role = Role.TEXT

    def say(self, text: str, role: Role = Role.TEXT) -> None:
        """Show a message in place of the last one."""
        if (text, role) == (self.text, self.role):
            return
        self.text, self.role = text, role
        self._make_room()
        self.redraw()

    def on_resize(self, event: events.Resize) -> None:
        # Textual then calls the handler of `CanvasView`, which redraws
        self._make_room()

    def _make_room(self) -> None:
        width = self.size.width
        if width:
            lines = len(message_lines(self.text, width))
            # on a narrow screen half of the messages take two lines; the table must not jump
            self.styles.height = max(lines, 1 if width >= WIDE_ENOUGH else 2)

    def _draw_message(self, width: int, height: int) -> Canvas:
        canvas = Canvas(width, height)
        for y, line in enumerate(message_lines(self.text, width)):
            canvas.put(1, y, line, self.role)
        return canvas


class KeyLine(CanvasView):
    """The line with the keys that work now, each with its effect."""

    DEFAULT_CSS = "KeyLine { height: 1; }"

    def __init__(self) -> None:
        super().__init__(self._draw_keys)
        self._now: Guide = ()
        self._always: Guide = ()

    def set(self, now: Guide, always: Guide) -> None:
        """Show these keys; those of `always` are never left out."""
        self._now, self._always = now, always
        self.redraw_for((now, always))

    def _draw_keys(self, width: int, height: int) -> Canvas:
        return key_line(self._now, self._always, width)
