"""Widgets: canvases of which changed rows are repainted, Rich text in the theme's colours, pages that scroll, a typed line.

Every Rich text passes through `Ink`, which makes control characters visible and ignores markup, so
a name or a notice from a server cannot change the rest of the screen.
"""

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, cast

from rich.console import JustifyMethod, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role, in_letters
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.theme import Paint, paint
from saratoga_protocol.visible_text import sanitised

if TYPE_CHECKING:
    from saratoga_client.tui.app import SaratogaApp

DrawCanvas: TypeAlias = Callable[[int, int], Canvas]
"""A function that draws a canvas of a width and a height in cells."""


class CanvasView(Widget):
    """A widget without border and padding that shows a canvas; `redraw` draws it again."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "CanvasView { height: 1fr; }"
    can_focus = False
    with_time: ClassVar[bool] = True
    """False if it is not drawn again when only time has passed."""

    def __init__(
        self,
        draw: DrawCanvas = Canvas,
        *,
        id: str | None = None,  # noqa: A002
        after_keys: bool = True,
    ) -> None:
        """Call `draw` to draw; not `after_keys` if only the table and the time change what it shows."""
        super().__init__(id=id)
        self._draw = draw
        self.after_keys = after_keys
        self._canvas = Canvas(0, 0)
        self._strips: dict[int, Strip] = {}
        """The rows that were sent already, in the colours of `_sent_in`."""
        self._sent_in: Paint = {}
        self._styles: Paint = {}

    @property
    def colours(self) -> Paint:
        """The style of each role now."""
        return getattr(self.app, "colours", paint(Colours.ALL))

    def redraw(self) -> None:
        """Draw again, and repaint the rows that differ."""
        width, height = self.outer_size
        if not width or not height:
            return
        former, self._canvas = self._canvas, self._draw(width, height)
        if (former.width, former.height) != (width, height):
            self._repaint()
        elif differ := self._canvas.rows_unlike(former):
            for y in differ:
                self._strips.pop(y, None)
            self.refresh(*(Region(0, y, width, 1) for y in differ))

    def _repaint(self) -> None:
        """Send all rows again."""
        self._strips.clear()
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        # Textual calls this after the handler of a subclass
        self.redraw()
        self._repaint()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the rows of a region: a canvas has no border, padding or tint for Textual to add."""
        if self._sent_in is not self.colours:
            self._sent_in, self._styles = self.colours, self._filtered(self.colours)
            self._strips.clear()
        rows = [self._strips.get(y) or self.render_line(y) for y in crop.line_range]
        return [row.crop(*crop.column_span) for row in rows]

    def _filtered(self, colours: Paint) -> Paint:
        """Return the styles as Textual sends them to this terminal."""
        strip = Strip(Segment(" ", style) for style in colours.values())
        _, background = self.background_colors
        for line_filter in self.get_line_filters():
            strip = strip.apply_filter(line_filter, background)
        return {role: style or Style() for role, (_, style, _) in zip(colours, strip, strict=True)}

    def render_line(self, y: int) -> Strip:
        """Return a row as it is sent, and keep it."""
        if y < self._canvas.height:
            pieces = [Segment(text, self._styles[role]) for text, role in self._canvas.row(y)]
            strip = Strip(pieces, self._canvas.width)
        else:
            strip = Strip.blank(self.outer_size.width, self._styles[Role.TABLE])
        self._strips[y] = strip
        return strip


class Ink:
    """A maker of Rich text in the styles of roles."""

    def __init__(self, colours: Paint, *, ascii_only: bool = False) -> None:
        """With `ascii_only`, write letters for the symbols of suits and bots."""
        self._colours = colours
        self.ascii_only = ascii_only

    def style(self, role: Role) -> Style:
        """Return the style of a role."""
        return self._colours[role]

    def text(self, text: str, role: Role = Role.TEXT) -> Text:
        """Return a sanitised text in the style of a role."""
        text = in_letters(text) if self.ascii_only else text
        return Text(sanitised(text), self._colours[role])

    def indented(self, text: str, role: Role = Role.TEXT, left: int = 1) -> Padding:
        """Return a paragraph with a margin of `left` cells, also on wrapped lines."""
        return Padding(
            Text("\n").join(self.text(line, role) for line in text.split("\n")), (0, 1, 0, left)
        )

    def line(self, *pieces: tuple[str, Role]) -> Text:
        """Return one text of several pieces, each with its role."""
        return Text().join(self.text(text, role) for text, role in pieces)

    def canvas(self, canvas: Canvas) -> Text:
        """Return the rows of a canvas."""
        lines = (canvas.row(y) for y in range(canvas.height))
        return Text("\n").join(self.line(*pieces) for pieces in lines)

    def grid(self, *widths: int | None, right: Container[int] = ()) -> Table:
        """Return a table without borders; a column of width `None` takes the remaining width.

        Columns with an index in `right` are aligned at the right.
        """
        grid = Table.grid(expand=None in widths)
        for index, width in enumerate(widths):
            if width is None:
                grid.add_column(ratio=1, overflow="fold")
            else:
                justify: JustifyMethod = "right" if index in right else "left"
                grid.add_column(width=width, no_wrap=True, overflow="crop", justify=justify)
        return grid


Draw: TypeAlias = Callable[[Ink], RenderableType]
"""A function that draws a part of a page."""


class RichView(Static, can_focus=False):
    """A widget that shows the result of a drawing function; call `redraw` after changes."""

    DEFAULT_CSS = "RichView { height: auto; }"
    ALLOW_SELECT = False

    def __init__(self, draw: Draw, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, markup=False)
        self._draw = draw

    def on_mount(self) -> None:
        self.redraw()

    def redraw(self) -> None:
        """Call the drawing function again and show the result."""
        program = program_of(self)
        self.update(self._draw(Ink(program.colours, ascii_only=program.appearance.ascii)))


class ScrollPage(VerticalScroll, can_focus=False, inherit_bindings=False):
    """A page that scrolls if it is higher than its part of the screen."""

    DEFAULT_CSS = "ScrollPage { height: 1fr; }"

    @property
    def is_cut(self) -> bool:
        """True if the page is higher than its part of the screen."""
        return self.max_scroll_y > 0

    @property
    def lines_below(self) -> int:
        """The number of lines below the visible ones."""
        return max(0, round(self.max_scroll_y - self.scroll_y))

    def press(self, key: str) -> bool:
        """Scroll if the key is one for that; return whether it is."""
        # One line of the previous view stays visible.
        page, all_lines = max(1, self.size.height - 1), self.max_scroll_y
        by = {"down": 1, "up": -1, "space": page, "pagedown": page, "pageup": -page}
        lines = {**by, "home": -all_lines, "end": all_lines}.get(key)
        if lines is not None:
            self.scroll_relative(y=lines, animate=False, immediate=True)
        return lines is not None

    def show_line(self, view: Widget, line: int) -> None:
        """Scroll until a line of one of the page's parts is visible."""
        y = view.virtual_region.y + line
        self.scroll_to_region(Region(0, y, 1, 1), animate=False, immediate=True)


def program_of(widget: Widget) -> "SaratogaApp":
    """Return the app that shows a widget."""
    return cast("SaratogaApp", cast(Any, widget.app))


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
