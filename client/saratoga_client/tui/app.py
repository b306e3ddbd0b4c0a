"""The full-screen program: one Textual app that runs one flow and shows the flow's screens.

A flow is a coroutine that shows screens one after another, such as the lobby, a table and the lobby
again. The app ends when the flow returns. A `Problem` that ends the flow is printed after the
terminal is restored.
"""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeAlias, runtime_checkable

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.filter import LineFilter, NoColor
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker, WorkerError

from saratoga_client.local.settings import Settings, remember
from saratoga_client.local.terminal import Capabilities, Colours, this_terminal
from saratoga_client.output import say
from saratoga_client.problems import Problem, alarmed_at_end
from saratoga_client.tui.rich_view import RichView, paint_ground, program_of
from saratoga_client.tui.terminal_guard import TerminalApp, run
from saratoga_client.tui.theme import Appearance, Paint, paint
from saratoga_rules.game import Game

if TYPE_CHECKING:
    from saratoga_client.practice.deals import PracticeDeal
    from saratoga_client.session.invitation import Inviter
    from saratoga_client.session.table_session import TableSession
    from saratoga_rules.records.record import RaceRecord


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


NARROW: Final = 80
"""Minimum columns for the panel beside the board; narrower screens have a one-line ticker."""
WIDE: Final = 100
BROAD: Final = 120

INPUT: Final = (events.Key, events.MouseDown, events.MouseScrollDown, events.MouseScrollUp)

Flow: TypeAlias = "Callable[[SaratogaApp], Coroutine[Any, Any, None]]"
Remember: TypeAlias = Callable[..., None]
"""A function that saves settings, given by name, for the next run; see `settings.remember`."""


def forget(**choices: object) -> None:
    """Discard settings; the default `Remember` function."""


@runtime_checkable
class Themed(Protocol):
    """A widget that is painted in the theme's colours."""

    def dress(self, colours: Paint) -> None:
        """Change the colours."""
        ...


class SaratogaApp(TerminalApp):
    """The app that shows screens while its flow runs."""

    ALLOW_SELECT = False
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None
    CSS = "Screen { background: transparent; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True, system=True),
        Binding("ctrl+q", "interrupt", show=False, priority=True, system=True),
    ]
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - as Textual declares it
        (0, "-ticker"),
        (NARROW, "-narrow"),
        (WIDE, "-wide"),
        (BROAD, "-broad"),
    ]

    def __init__(
        self,
        flow: Flow,
        appearance: Appearance = Appearance(),  # noqa: B008 - frozen
        remember: Remember = forget,
    ) -> None:
        # without colours of its own the table shows the terminal's
        is_bare = appearance.colours is Colours.NONE or not appearance.background
        super().__init__(ansi_color=True if is_bare else None)
        self.appearance = appearance
        self.problem: Problem | None = None
        self.alarms: list[str] = []
        """The alarms of all tables of this run; the program ends with them."""
        self.is_interrupted = False
        self._flow = flow
        self._running_flow: Worker[None] | None = None
        self._waiting = WaitingScreen()
        self._remember = remember
        self._input_observers: list[Callable[[], None]] = []

    def observe_input(self, observer: Callable[[], None]) -> Callable[[], None]:
        """Call the observer at every key, click and scroll, before it has its effect.

        Returns a function that ends this.
        """
        self._input_observers.append(observer)
        return lambda: self._input_observers.remove(observer)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, INPUT):
            for observer in tuple(self._input_observers):
                observer()
        await super().on_event(event)

    @property
    def colours(self) -> Paint:
        """The style of each role in the current theme."""
        chosen = self.appearance
        return paint(chosen.colours, chosen.theme_name, background=chosen.background)

    def next_theme(self) -> str:
        """Change to the next colour theme and return its name."""
        self.appearance = self.appearance.with_next_theme()
        for screen in self.screen_stack:
            for widget in (screen, *screen.query(Widget)):
                if isinstance(widget, Themed):
                    widget.dress(self.colours)
        self._remember(theme=self.appearance.theme_name)
        return self.appearance.theme_name

    def other_suits(self, game: Game) -> str:
        """Switch a game's suits between two and four colours and return the new number as a word."""
        self.appearance = self.appearance.with_other_suits(game)
        self._remember(suits=dict(self.appearance.suits))
        return self.appearance.suits[game.name]

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters of all painted lines; they remove colours if the player wants none."""
        filters = super().get_line_filters()
        return [*filters, NoColor()] if self.appearance.colours is Colours.NONE else filters

    def on_mount(self) -> None:
        self.push_screen(self._waiting)
        self._running_flow = self.run_worker(self._run_flow(), name="flow")

    def show_progress(self, text: str) -> None:
        """Show a sentence while no screen of the flow is open."""
        self._waiting.say(text)

    async def _run_flow(self) -> None:
        try:
            await self._flow(self)
        except Problem as problem:
            self.problem = problem
        self.exit(0)

    async def flow_ended(self) -> None:
        """Wait until the flow has cleaned up, for example stopped the server that it started.

        Textual cancels the flow when the app ends, and does not wait for it.
        """
        if self._running_flow is not None:
            with suppress(WorkerError):
                await self._running_flow.wait()

    def action_interrupt(self) -> None:
        """End the app at once after Ctrl-C; the server keeps the seat for a minute."""
        self.is_interrupted = True
        self.exit(0)


async def run_flow(
    flow: Flow,
    appearance: Appearance = Appearance(),  # noqa: B008 - frozen
    remember: Remember = forget,
) -> None:
    """Run a flow on the full screen until the flow returns; raises `Problem`, `KeyboardInterrupt`."""
    app = SaratogaApp(flow, appearance, remember)
    try:
        await run(app)
    finally:
        await app.flow_ended()
    if app.is_interrupted:
        for alarm in app.alarms:
            say(f"ALARM: {alarm}")
        raise KeyboardInterrupt
    with alarmed_at_end(app.alarms):
        if app.problem is not None:
            raise app.problem


async def open_screen(flow: Flow, settings: Settings) -> None:
    """Run a flow on the full screen until the flow returns; raises `Problem`, `KeyboardInterrupt`."""
    await run_flow(flow, appearance_of(settings, this_terminal()), remember)


def appearance_of(settings: Settings, terminal: Capabilities) -> Appearance:
    """Return the appearance that the player chose, within the terminal's capabilities."""
    return Appearance(
        colours=terminal.colours,
        theme=settings.theme,
        ascii=not terminal.unicode if settings.ascii is None else settings.ascii,
        background=settings.background,
        suits=settings.suits,
        quick=settings.quick,
    )


def table_flow(session: "TableSession", server: str, inviter: "Inviter | None" = None) -> Flow:
    """Return the flow of a player who sits at a table, or watches it, until the player leaves."""
    from saratoga_client.tui.table_flow import TableFlow

    async def flow(app: SaratogaApp) -> None:
        await TableFlow(app, session, inviter=inviter, server=server).stay()

    return flow


def practice_flow(dealt: "PracticeDeal", *, with_ghost: bool = False) -> Flow:
    """Return the flow of practice with a deal."""
    from saratoga_client.tui.screens.practice import PracticeScreen

    async def flow(app: SaratogaApp) -> None:
        await app.push_screen_wait(PracticeScreen(dealt, with_ghost=with_ghost))

    return flow


def review_flow(record: "RaceRecord", player: str = "", server: str = "") -> Flow:
    """Return the flow of a finished race's review; raises `ReplayError` for a bad record.

    `server` is the address by which friends reach the server that has the record, if known.
    """
    from saratoga_client.review.boards import open_boards
    from saratoga_client.review.share_text import race_text
    from saratoga_client.tui.screens.review import ReviewScreen

    share = race_text(record, open_boards(record), player, server)
    screen = ReviewScreen(record, player, share=share)

    async def flow(app: SaratogaApp) -> None:
        await app.push_screen_wait(screen)

    return flow
