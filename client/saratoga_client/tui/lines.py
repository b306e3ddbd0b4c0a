"""The lines above and below the table: the title, what was said, and what the keys do now."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from rich.cells import cell_len
from textual import events

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.text_width import wrapped
from saratoga_client.sanitised import sanitised
from saratoga_client.tui.canvas_view import CanvasView

WIDE_ENOUGH: Final = 80
"""Cells of a screen in which nearly every answer is one line."""

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
    for fact in map(sanitised, left):
        if x + cell_len(fact) > at:
            break
        x = canvas.put(x, 0, fact, Role.TITLE) + 2
    return canvas


def message_lines(text: str, width: int) -> list[str]:
    """What was said last, between words in as many lines as it takes.

    >>> message_lines("Connected again; nothing is lost.", 20)
    ['Connected again;', 'nothing is lost.']
    """
    return wrapped(sanitised(text), width - 2)


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


class MessageLine(CanvasView):
    """Answers every key and click; as high as the answer is long, and most are one line."""

    DEFAULT_CSS = "MessageLine { height: 1; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(self._draw_message, id=id)
        self.text = ""
        self.role = Role.TEXT

    def say(self, text: str, role: Role = Role.TEXT) -> None:
        self.text, self.role = text, role
        self._make_room()
        self.redraw()

    def on_resize(self, event: events.Resize) -> None:
        self._make_room()
        super().on_resize(event)

    def _make_room(self) -> None:
        width = self.size.width
        if width:
            lines = len(message_lines(self.text, width))
            # where half of the answers are long, the table must not jump with each of them
            self.styles.height = max(lines, 1 if width >= WIDE_ENOUGH else 2)

    def _draw_message(self, width: int, height: int) -> Canvas:
        canvas = Canvas(width, height)
        for y, line in enumerate(message_lines(self.text, width)):
            canvas.put(1, y, line, self.role)
        return canvas


class KeyLine(CanvasView):
    """Says what each key does at this moment."""

    DEFAULT_CSS = "KeyLine { height: 1; }"

    def set(self, now: Guide, always: Guide = (("?", "help"), ("q", "leave"))) -> None:
        self.show(lambda width, height: key_line(now, always, width))
