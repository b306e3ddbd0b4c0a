"""The lines above and below the table: the title, what was said, and what the keys do now."""

from collections.abc import Sequence
from typing import TypeAlias

from rich.cells import cell_len

from saratoga_client.drawing.canvas import Canvas
from saratoga_client.drawing.roles import Role
from saratoga_client.shown import shown
from saratoga_client.tui.canvas_view import CanvasView

Guide: TypeAlias = Sequence[tuple[str, str]]
"""Keys, and what each does now."""


def title_line(left: Sequence[str], right: Sequence[tuple[str, Role]], width: int) -> Canvas:
    """What is played, then facts about it; at the right how things stand with the house, and the clock.

    Facts that do not fit are left out from the last on.
    """
    canvas = Canvas(width, 1, Role.TITLE)
    at = width - 1
    for text, role in reversed(right):
        at -= cell_len(text)
        canvas.put(at, 0, text, role)
        at -= 2
    x = 1
    for fact in map(shown, left):
        if x + cell_len(fact) > at:
            break
        x = canvas.put(x, 0, fact, Role.TITLE) + 2
    return canvas


def message_line(text: str, role: Role, width: int) -> Canvas:
    """What was said last, in one line; three dots where it goes on."""
    canvas = Canvas(width, 1)
    canvas.put(1, 0, fitted(shown(text), width - 2), role)
    return canvas


def fitted(text: str, width: int) -> str:
    """Cut a text to its cells, with `...` where something is missing.

    >>> fitted("columns build down", 10)
    'columns...'
    """
    if cell_len(text) <= width:
        return text
    while text and cell_len(text) > width - 3:
        text = text[:-1]
    return text.rstrip() + "..."[: max(0, width)]


def key_line(now: Guide, always: Guide, width: int) -> Canvas:
    """What keys do: those of the moment as far as there is room, and always the last ones."""
    canvas = Canvas(width, 1)
    end = width - sum(_width(key, what) for key, what in always)
    x = 1
    for key, what in now:
        if x + _width(key, what) > end:
            continue
        x = _put(canvas, x, key, what)
    x = max(x, 1)
    for key, what in always:
        x = _put(canvas, x, key, what)
    return canvas


def _width(key: str, what: str) -> int:
    return cell_len(key) + 1 + cell_len(what) + 2


def _put(canvas: Canvas, x: int, key: str, what: str) -> int:
    x = canvas.put(x, 0, key, Role.KEY)
    return canvas.put(x + 1, 0, what, Role.DIM) + 2


class TitleLine(CanvasView):
    """The first line of a screen."""

    DEFAULT_CSS = "TitleLine { height: 1; }"

    def set(self, left: Sequence[str], right: Sequence[tuple[str, Role]] = ()) -> None:
        self.show(lambda width, height: title_line(left, right, width))


class MessageLine(CanvasView):
    """Answers every key and click."""

    DEFAULT_CSS = "MessageLine { height: 1; }"
    text = ""

    def say(self, text: str, role: Role = Role.TEXT) -> None:
        self.text = text
        self.show(lambda width, height: message_line(text, role, width))


class KeyLine(CanvasView):
    """Says what each key does at this moment."""

    DEFAULT_CSS = "KeyLine { height: 1; }"

    def set(self, now: Guide, always: Guide = (("?", "help"), ("q", "leave"))) -> None:
        self.show(lambda width, height: key_line(now, always, width))
