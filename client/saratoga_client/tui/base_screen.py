"""The base of all screens: a title line, a body, a message line and a key line.

Every screen has one table of keys, from which the key line, the help and the actions of keys come.
Every key gets an answer. At most one question is open at a time: its keys answer it, and any other
key closes it and then has its usual effect. No other message covers a question while it is open.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias, cast

from rich.console import RenderableType
from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role, Symbols, in_letters, symbols_for
from saratoga_client.input.move_text import CardName, ascii_card_name, card_name
from saratoga_client.text import cells_of, wrapped
from saratoga_client.tui.widgets import CanvasView, Ink, RichView, ScrollPage
from saratoga_client.wording import counted
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.game import Game

if TYPE_CHECKING:
    from saratoga_client.tui.app import SaratogaApp

Guide: TypeAlias = Sequence[tuple[str, str]]
"""Keys, each with its effect now."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a screen, or several with the same effect."""

    names: str
    """The names of the keys, separated by blanks; the key line shows the first, the help all of them."""
    label: str
    """The effect now, in one or two words for the key line; empty to leave the key out of the line."""
    help: str
    """The effect in a sentence for the help; empty to leave the key out of the help."""
    action: Callable[[], object]
    when: bool = True
    """False if the key has no effect now."""
    why: str = ""
    """The reason why the key has no effect now; without one, the key is unknown to the screen."""
    shown: str = ""
    """The name in the key line and the help, if it stands for other keys too."""
    is_kept: bool = False
    """True if even the narrowest key line shows the key."""


Keys: TypeAlias = tuple[Key, ...]
"""The keys of a screen; of entries with the same key, the first with an effect or a reason counts."""


def title_line(
    left: Sequence[str],
    right: Sequence[tuple[str, Role]],
    width: int,
    tag: str = "",
    ground: Role = Role.TITLE,
) -> Canvas:
    """Draw a title line: a tag and facts at the left, the connection and the clock at the right.

    Empty facts are left out, and without enough room the last ones; none is cut.
    """
    canvas = Canvas(width, 1, ground)
    at = width - 1
    for text, role in reversed(right):
        at -= cells_of(text)
        canvas.put(at, 0, text, role)
        at -= 2
    x = 1
    if tag:
        x = canvas.put(x, 0, tag, Role.LABEL if ground is Role.TITLE else ground) + 2
    for fact in filter(None, left):
        if x + cells_of(fact) > at:
            break
        x = canvas.put(x, 0, fact, ground) + 2
    return canvas


def key_line(now: Guide, kept: Guide, width: int) -> Canvas:
    """Draw a key line: as many keys of `now` as fit, then all keys of `kept`."""
    canvas = Canvas(width, 1)
    room, shown = width - 1 - sum(map(_cells, kept)), []
    for hint in now:
        if _cells(hint) <= room:
            room -= _cells(hint)
            shown.append(hint)
    x = 1
    for key, label in (*shown, *kept):
        x = canvas.put(x, 0, key, Role.KEY) + 1
        x = canvas.put(x, 0, label, Role.DIM) + 2
    return canvas


def _cells(hint: tuple[str, str]) -> int:
    return cells_of(" ".join(hint)) + 2


class MessageLine(CanvasView):
    """The line with the answer to the last key or click; a long text takes more lines."""

    DEFAULT_CSS = "MessageLine { height: auto; min-height: 1; }"
    text = ""
    role = Role.TEXT

    def __init__(self) -> None:
        super().__init__(self._draw_text, after_keys=False)

    def say(self, text: str, role: Role) -> None:
        """Show a message in place of the last one."""
        self.text, self.role = sanitised(text), role
        if len(self._lines(self.size.width)) != self.size.height:
            self.refresh(layout=True)
        self.redraw()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def _lines(self, width: int) -> list[str]:
        return wrapped(self.text, width - 2)

    def _draw_text(self, width: int, height: int) -> Canvas:
        canvas = Canvas(width, height)
        for y, line in enumerate(self._lines(width)):
            canvas.put(1, y, line, self.role)
        return canvas


def key_of(event: events.Key) -> str:
    """Return the character of a key or its name: `w`, `?`, `space`, `shift+tab`.

    Letters are in lower case, with or without shift.
    """
    sign = event.character
    if sign is not None and sign.isprintable():
        return "space" if sign == " " else sign.lower()
    return event.key


LEAST_WIDTH: Final = 54
LEAST_HEIGHT: Final = 18
"""The smallest screen, in cells, that has room for the board of every game without the panel."""

CANCEL_KEYS: Final = ("escape", "n")
"""Keys that answer a question with no."""

CANCELLED: Final = "Cancelled."

Answers: TypeAlias = Mapping[str, tuple[str, Callable[[], None]]]
"""The answers to a question by key: each has its word for the key line and its action."""


TOO_SMALL: Final = (
    "This terminal has {} x {} cells. The table needs 54 x 18, and 80 x 24 shows everything: please make"
    " the window larger or the font smaller. Nothing is lost meanwhile, and every key still works."
)


class BaseScreen(Screen[None], inherit_bindings=False):
    """A screen with a title, a body, one message and the keys that work now."""

    DEFAULT_CSS = """
    BaseScreen { layout: vertical; overflow: hidden hidden; }
    BaseScreen #title, BaseScreen #keys { height: 1; }
    /* on a narrow screen half of the messages take two lines, and the table must not jump */
    BaseScreen.-ticker MessageLine { min-height: 2; }
    BaseScreen #too-small { display: none; }
    BaseScreen.-too-small > * { display: none !important; }
    BaseScreen.-too-small > #too-small { display: block !important; }
    """
    LEAVE: ClassVar[tuple[str, str]] = ("back", "back")
    """The effect of the key that leaves the screen, for the key line and for the help."""
    HEADING: ClassVar[str] = "KEYS"
    """The heading of the screen's keys in the help."""
    KEYS_AT: ClassVar[str] = "? shows the keys"
    TAG: ClassVar[str] = ""
    """The word that begins the title; empty for none."""
    TITLE_ROLE: ClassVar[Role] = Role.TITLE
    TICK: ClassVar[float] = 0.25
    """Seconds between two calls of `tick`; 0 for none."""

    def __init__(self) -> None:
        super().__init__()
        self._too_small = Static(id="too-small")
        self._answers: Answers | None = None
        self._after_question: tuple[str, Role] | None = None
        """The last message that came while a question was open."""

    @property
    def program(self) -> "SaratogaApp":
        """The app that shows this screen."""
        return cast("SaratogaApp", self.app)

    @property
    def symbols(self) -> Symbols:
        """The symbols that the terminal can show."""
        return symbols_for(self.program.appearance.ascii)

    @property
    def card_name(self) -> CardName:
        """The function that names cards in sentences."""
        return ascii_card_name if self.program.appearance.ascii else card_name

    @property
    def is_asking(self) -> bool:
        """True while a question is open."""
        return self._answers is not None

    def compose(self) -> ComposeResult:
        yield CanvasView(self.draw_title, id="title")
        yield from self.body()
        yield MessageLine()
        yield CanvasView(self._draw_keys, id="keys")
        yield self._too_small

    def body(self) -> Iterable[Widget]:
        """Return the widgets between the title line and the message line."""
        return ()

    def on_mount(self) -> None:
        if self.TICK:
            self.set_interval(self.TICK, self.tick)
        # found once, because a query costs more than a drawing
        self._canvases, self._texts = list(self.query(CanvasView)), list(self.query(RichView))
        self.begin()
        self.redraw()
        for page in self.query(ScrollPage):
            for changed in ("virtual_size", "scroll_y"):
                self.watch(page, changed, self.query_one("#keys", CanvasView).redraw, init=False)

    @property
    def can_draw(self) -> bool:
        """True while the screen has its widgets: from the end of its opening until it or the app closes."""
        is_open = self.is_mounted and self.is_attached and bool(self.children)
        return is_open and self.app.is_running

    def begin(self) -> None:
        """Prepare the screen and say its first message; called once, before the first drawing."""

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        self._too_small.update(TOO_SMALL.format(width, height))
        self.set_class(width < LEAST_WIDTH or height < LEAST_HEIGHT, "-too-small")

    # Title, message and keys

    def facts(self) -> list[str]:
        """Return the facts at the left of the title, the most important first."""
        return []

    def status(self) -> list[tuple[str, Role]]:
        """Return the texts at the right of the title."""
        return []

    def draw_title(self, width: int, height: int) -> Canvas:
        """Draw the title line."""
        return title_line(self.facts(), self.status(), width, self.TAG, self.TITLE_ROLE)

    def keys(self) -> Keys:
        """Return the table of the screen's keys, with their effects now."""
        label, sentence = self.LEAVE
        return (
            self.theme_key(),
            Key("?", "help", "", self.show_help, is_kept=True),
            Key("q", label, sentence, self.leave, is_kept=True),
        )

    def theme_key(self) -> Key:
        """Return the key of every screen that changes the colours."""
        return Key("t", "colours", "the next colour theme", self._next_theme)

    def hints(self) -> Guide:
        """Return the keys of the body, which the key line shows first: those that scroll a page."""
        for page in self.query(ScrollPage):
            if page.lines_below:
                return (("space", counted(page.lines_below, "more line")),)
            if page.is_cut:
                return (("pageup", "scroll back"),)
        return ()

    def guide(self) -> Guide:
        """Return the keys for the key line, the most important first."""
        return (*self.hints(), *self._labels(is_kept=False))

    def _labels(self, *, is_kept: bool) -> Guide:
        return [
            (each.shown or each.names.split()[0], each.label)
            for each in self.keys()
            if each.label and each.when and each.is_kept is is_kept
        ]

    def help_lines(self) -> Guide:
        """Return the names of the keys for the help, each with a sentence."""
        return [
            (each.shown or each.names.replace(" ", "  "), each.help)
            for each in self.keys()
            if each.help
        ]

    def _draw_keys(self, width: int, height: int) -> Canvas:
        if self._answers is None:
            return key_line(self.guide(), self._labels(is_kept=True), width)
        answers = [(key, word) for key, (word, _) in self._answers.items()]
        return key_line(answers, (("any other key", "no"),), width)

    def tick(self) -> None:
        """Update the parts that change with time; called every `TICK` seconds."""
        for view in self._canvases:
            if view.with_time:
                view.redraw()

    def redraw(self) -> None:
        """Update everything on the screen; called after each key."""
        for canvas in self._canvases:
            if canvas.after_keys:
                canvas.redraw()
        for view in self._texts:
            view.redraw()

    @property
    def message(self) -> str:
        """The message on the message line."""
        return self.query_one(MessageLine).text

    def say(self, text: str, role: Role = Role.TEXT) -> None:
        """Show a message on the message line; while a question is open, the last message waits for its end."""
        if self.program.appearance.ascii:
            text = in_letters(text)
        if self.is_asking:
            self._after_question = text, role
        else:
            self.query_one(MessageLine).say(text, role)

    @property
    def resting(self) -> str:
        """The message while nothing happens."""
        return ""

    def may_cover_message(self, calm: str) -> bool:
        """Return whether news that can wait may replace the message now; `calm` is the text of the last such news."""
        return not self.is_asking and self.message in ("", self.resting, calm)

    # Keys

    def takes_key(self, key: str) -> bool:
        """Return whether a key is for the screen and not for a focused input field."""
        return True

    def type_key(self, event: events.Key) -> None:
        """Type a key that is for an input field, but was pressed before the field had the focus."""

    def on_key(self, event: events.Key) -> None:
        key = key_of(event)
        if not self.takes_key(key):
            self.type_key(event)
            return
        event.stop()
        event.prevent_default()
        self.handle(key)

    def handle(self, key: str) -> None:
        """Use a key as the answer to the open question; if none is open, run the key's action."""
        answers, waiting = self._answers, self._after_question
        self.drop_question()
        if answers is None:
            self.press(key)
        elif key in answers:
            self.say("")
            answers[key][1]()
        elif key in CANCEL_KEYS:
            self.say(CANCELLED)
        else:
            self.say("")
            self.press(key)
        if self.can_draw and self.is_current:
            if waiting is not None and self.message in ("", CANCELLED):
                self.say(*waiting)
            self.redraw()

    def press(self, key: str) -> None:
        """Run a key's action; called only while no question is open."""
        for each in self.keys():
            if key in each.names.split() and (each.when or each.why):
                if each.when:
                    each.action()
                else:
                    self.say(each.why)
                return
        self.press_in_body(key)

    def press_in_body(self, key: str) -> None:
        """Use a key that is not in the screen's table; the base scrolls a page, which is the visible answer."""
        if not any(page.press(key) for page in self.query(ScrollPage)):
            self.say(f"{key} does nothing here; {self.KEYS_AT}.", Role.DIM)

    def leave(self) -> None:
        """Close the screen."""
        self.dismiss()

    @property
    def game(self) -> Game | None:
        """The game whose rules the help shows; `None` for none."""
        return None

    def show_help(self) -> None:
        """Open the help over the screen."""
        self.cover(help_screen(self.game, self.help_lines(), self.HEADING))

    def cover(self, screen: Screen[None]) -> None:
        """Open another screen over this one."""
        self.app.push_screen(screen)

    def _next_theme(self) -> None:
        self.say(f"Colours: {self.program.next_theme()}.")

    def copy(self, what: str, text: str) -> None:
        """Copy a text to the clipboard and say so."""
        self.app.copy_to_clipboard(text)
        self.say(f"{what} is on your clipboard, if your terminal supports OSC 52.")

    def ask(self, text: str, **answers: tuple[str, Callable[[], None]]) -> None:
        """Ask a question before an action that cannot be undone."""
        self.drop_question()
        self.say(text, Role.WARNING)
        self._answers = answers

    def drop_question(self) -> None:
        """Close the open question without an answer; what waited for its end is not said."""
        self._answers = self._after_question = None


class ReadingScreen(BaseScreen):
    """A scrolling page over another screen; the key that opened it and the usual ones close it."""

    DEFAULT_CSS = "ReadingScreen #page { max-width: 98; /* longer lines are hard to read */ }"
    KEYS_AT = "escape goes back"
    TICK = 0

    def __init__(
        self, closing: str, facts: list[str], draw: Callable[[Ink], RenderableType]
    ) -> None:
        """Show the page that `draw` returns; `closing` is the key, `facts` are for the title."""
        super().__init__()
        self._closed_by = closing
        self._facts = facts
        self._draw = draw

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(self._draw, id="page")

    def facts(self) -> list[str]:
        return self._facts

    def keys(self) -> Keys:
        closing = f"{self._closed_by} escape q enter"
        return (Key(closing, "back", "", self.leave, is_kept=True), self.theme_key())


def help_screen(game: Game | None, keys: Guide, heading: str) -> ReadingScreen:
    """Return the help: the keys of the screen below under a heading, and the rules of a game."""
    from saratoga_client.tui.reading import help_page

    facts = ["SARATOGA" if game is None else game.title.upper(), "help"]
    return ReadingScreen("?", facts, partial(help_page, game, keys, heading))
