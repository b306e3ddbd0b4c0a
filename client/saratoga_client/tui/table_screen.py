"""What all screens at a table have: a title, a body, what was said last, and what the keys do.

Every key is answered. One question can be open at a time: its keys do what they say, and any other
key closes it and is taken for what it is.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.text_width import wrapped
from saratoga_client.net.connection import LinkState
from saratoga_client.session.state import SessionState
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.keys import key_of
from saratoga_client.tui.lines import Guide, KeyLine, MessageLine, TitleLine
from saratoga_client.tui.pages.symbols import Signs, signs
from saratoga_client.tui.ports import Program, TableControls

LEAST_WIDTH: Final = 54
LEAST_HEIGHT: Final = 18
"""Cells of a screen in which a table of every game can be drawn, if need be without the panel."""

TICK: Final = 0.25
"""Seconds after which clocks are looked at again."""

CLOSES: Final = ("escape", "n")
"""Keys that answer a question with no."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something that is asked before it is done."""

    answers: Mapping[str, tuple[str, Callable[[], None]]]
    """By key: what it means, and what it does."""


def too_small(width: int, height: int) -> list[str]:
    """What is said where nothing else fits."""
    return wrapped(
        f"This terminal has {width} x {height} cells. The table needs {LEAST_WIDTH} x {LEAST_HEIGHT},"
        " and 80 x 24 or more show everything: please make the window larger, or the letters"
        " smaller. Nothing is lost meanwhile, and every key still does what it does.",
        width,
    )


class TableScreen(Screen[None], inherit_bindings=False):
    """Shows the evening as it is."""

    DEFAULT_CSS = """
    TableScreen { layout: vertical; overflow: hidden hidden; }
    TableScreen #too-small { display: none; }
    TableScreen.-too-small > * { display: none !important; }
    TableScreen.-too-small > #too-small { display: block !important; }
    """
    ALWAYS: Guide = (("?", "help"), ("q", "leave"))

    def __init__(self, visit: TableControls) -> None:
        super().__init__()
        self.visit = visit
        self.question: Question | None = None

    @property
    def evening(self) -> SessionState:
        return self.visit.evening

    @property
    def program(self) -> Program:
        """The app, by its own type."""
        return self.visit.app

    @property
    def signs(self) -> Signs:
        return signs(self.program.appearance.ascii)

    def compose(self) -> ComposeResult:
        yield TitleLine()
        yield from self.body()
        yield MessageLine()
        yield KeyLine()
        yield CanvasView(self._too_small, id="too-small")

    def body(self) -> Iterable[Widget]:
        """What stands between title and message."""
        return ()

    def on_mount(self) -> None:
        self.set_interval(TICK, self.tick)
        self.begin()
        self.changed(self.evening)

    def begin(self) -> None:
        """The screen is there, before it shows anything."""

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        self.set_class(width < LEAST_WIDTH or height < LEAST_HEIGHT, "-too-small")
        if self.is_mounted:
            self.show_lines()

    def _too_small(self, width: int, height: int) -> Canvas:
        canvas = Canvas(width, height)
        for y, line in enumerate(too_small(*self.size)):
            canvas.put(0, y, line, Role.TEXT)
        return canvas

    # What the screen says

    def facts(self) -> list[str]:
        """The title's facts, the most important first."""
        return [self.evening.table.code]

    def clock(self) -> tuple[str, Role]:
        """What the clock says; empty where none runs."""
        return "", Role.TITLE

    def guide(self) -> Guide:
        """What keys do at this moment."""
        return ()

    def always(self) -> Guide:
        """The keys that are shown whatever else there is no room for."""
        return self.ALWAYS

    def changed(self, evening: SessionState) -> None:
        """The evening is another; screens show what of it is theirs."""
        self.show_lines()

    def tick(self) -> None:
        """Time has passed."""
        self.show_title()

    def show_lines(self) -> None:
        """Title and keys as they are now."""
        self.show_title()
        keys = self.query_one(KeyLine)
        if self.question is None:
            keys.set(self.guide(), self.always())
        else:
            answers = [(key, what) for key, (what, _) in self.question.answers.items()]
            keys.set(answers, (("any other key", "no"),))

    def show_title(self) -> None:
        clock = self.clock()
        right = [*self._link(), *([clock] if clock[0] else [])]
        self.query_one(TitleLine).set(self.facts(), right)

    def _link(self) -> list[tuple[str, Role]]:
        evening, marks = self.evening, self.signs
        if evening.link is not LinkState.CONNECTED:
            return [(f"{marks.broken_link} {evening.link.value}", Role.WARNING)]
        if self.size.width < 100:
            return [(marks.link, Role.MONEY_UP)]
        journey = "" if evening.round_trip_ms is None else f" {evening.round_trip_ms} ms"
        return [(f"{marks.link} live{journey}", Role.MONEY_UP)]

    def say(self, text: str, role: Role = Role.TEXT) -> None:
        """Answer the player."""
        self.query_one(MessageLine).say(text, role)

    # Keys

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self.hear(key_of(event))

    def hear(self, key: str) -> None:
        """A key was pressed."""
        question, self.question = self.question, None
        if question is None:
            self.press(key)
        elif key in question.answers:
            self.say("")
            question.answers[key][1]()
        else:
            self.say("Nothing was done." if key in CLOSES else "")
            if key not in CLOSES:
                self.press(key)
        self.show_lines()

    def press(self, key: str) -> None:
        """A key that answers no question."""
        match key:
            case "?":
                self.visit.help()
            case "q":
                self.ask_to_leave()
            case "t":
                self.say(f"Colours: {self.program.next_theme()}.")
            case _:
                self.say(f"{key} does nothing here; ? shows what the keys do.", Role.DIM)

    def ask(self, text: str, **answers: tuple[str, Callable[[], None]]) -> None:
        """Ask before something that cannot be undone."""
        self.question = Question(answers)
        self.say(text, Role.WARNING)

    def ask_to_leave(self) -> None:
        """Leaving means the seat."""
        if self.evening.seat is None:
            self.visit.leave()
            return
        self.ask(
            f"Give up your seat at {self.evening.table.code}? y leaves.",
            y=("leave", self.visit.leave),
        )
