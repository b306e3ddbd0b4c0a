"""The full-screen program: one Textual app that runs one flow and shows the flow's screens.

A flow is a coroutine that shows screens one after another, such as the lobby, a table and the lobby
again. The app ends when the flow returns. A `Problem` that ends the flow is printed after the
terminal is restored.
"""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.filter import LineFilter, NoColor
from textual.widgets import Static
from textual.worker import Worker, WorkerError

from saratoga_client.board_view.roles import Role
from saratoga_client.local.settings import Settings, remember
from saratoga_client.local.terminal import Capabilities, Colours, this_terminal
from saratoga_client.output import say
from saratoga_client.problems import Problem, alarmed_at_end
from saratoga_client.tui.terminal_guard import TerminalApp, run
from saratoga_client.tui.theme import Appearance, Paint, paint
from saratoga_client.tui.widgets import RichView
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.game import Game

if TYPE_CHECKING:
    from saratoga_client.practice.deals import PracticeDeal
    from saratoga_client.session.invitation import Inviter
    from saratoga_client.session.starting import Begin
    from saratoga_client.session.table_session import TableSession
    from saratoga_rules.records.record import RaceRecord


NARROW: Final = 80
"""Minimum columns for the panel beside the board; narrower screens have a one-line ticker."""
WIDE: Final = 100
BROAD: Final = 120

INPUT: Final = (events.Key, events.MouseDown, events.MouseScrollDown, events.MouseScrollUp)

Flow: TypeAlias = "Callable[[SaratogaApp], Coroutine[Any, Any, None]]"


class SaratogaApp(TerminalApp):
    """The app that shows screens while its flow runs."""

    ALLOW_SELECT = False
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None
    CSS = """
    Screen { background: $ground; color: $ink; }
    #sentence { width: 1fr; height: 1fr; content-align: center middle; }
    ScrollPage {
        scrollbar-size-vertical: $bar;
        scrollbar-color: $thumb; scrollbar-color-hover: $thumb; scrollbar-color-active: $thumb;
        scrollbar-background: $ground; scrollbar-background-hover: $ground;
        scrollbar-background-active: $ground;
    }
    """
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
    ) -> None:
        # without colours of its own the table shows the terminal's
        is_bare = appearance.colours is Colours.NONE or not appearance.background
        self.appearance = appearance
        super().__init__(ansi_color=True if is_bare else None)
        self.problem: Problem | None = None
        self.alarms: list[str] = []
        """The alarms of all tables of this run; the program ends with them."""
        self.is_interrupted = False
        self._flow = flow
        self._running_flow: Worker[None] | None = None
        self._sentence = Static(id="sentence", markup=False)
        """What is shown while no screen of the flow is open."""
        self.observe_input: Callable[[], None] = lambda: None
        """A function that is called at every key, click and scroll, before it has its effect."""

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, INPUT):
            self.observe_input()
        await super().on_event(event)

    def get_css_variables(self) -> dict[str, str]:
        """Return the variables of `CSS` in the current theme; an empty colour is the terminal's own."""
        table, frame = self.colours[Role.TABLE], self.colours[Role.FRAME].color
        # a scroll bar consists of block characters and colours
        has_bar = frame is not None and not self.appearance.ascii
        return {
            **super().get_css_variables(),
            "ground": table.bgcolor.name if table.bgcolor else "transparent",
            "ink": table.color.name if table.color else "ansi_default",
            "thumb": frame.name if frame else "transparent",
            "bar": str(int(has_bar)),
        }

    @property
    def colours(self) -> Paint:
        """The style of each role in the current theme."""
        chosen = self.appearance
        return paint(chosen.colours, chosen.theme_name, background=chosen.background)

    def next_theme(self) -> str:
        """Change to the next colour theme and return its name."""
        self.appearance = self.appearance.with_next_theme()
        self.refresh_css(animate=False)
        for screen in self.screen_stack:
            for view in screen.query(RichView):
                view.redraw()
        self.refresh()
        remember(theme=self.appearance.theme_name)
        return self.appearance.theme_name

    def other_suits(self, game: Game) -> str:
        """Switch a game's suits between two and four colours and return the new number as a word."""
        self.appearance = self.appearance.with_other_suits(game)
        remember(suits=dict(self.appearance.suits))
        return self.appearance.suits[game.name]

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters of all painted lines; they remove colours if the player wants none."""
        filters = super().get_line_filters()
        return [*filters, NoColor()] if self.appearance.colours is Colours.NONE else filters

    def compose(self) -> ComposeResult:
        yield self._sentence

    def on_mount(self) -> None:
        self._running_flow = self.run_worker(self._run_flow(), name="flow")

    def show_progress(self, text: str) -> None:
        """Show a sentence while no screen of the flow is open."""
        self._sentence.update(sanitised(text))

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


async def open_screen(flow: Flow, settings: Settings) -> None:
    """Run a flow on the full screen until the flow returns; raises `Problem`, `KeyboardInterrupt`."""
    app = SaratogaApp(flow, appearance_of(settings, this_terminal()))
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


def table_flow(session: "TableSession", inviter: "Inviter", begin: "Begin | None" = None) -> Flow:
    """Return the flow of a player who sits at a table, or watches it, until the player leaves."""
    from saratoga_client.tui.table_flow import TableFlow

    async def flow(app: SaratogaApp) -> None:
        table = TableFlow(app, session, inviter=inviter)
        if begin is not None:
            table.do(begin(session))
        await table.stay()

    return flow


def practice_flow(dealt: "PracticeDeal") -> Flow:
    """Return the flow of practice with a deal."""
    from saratoga_client.tui.screens.practice import PracticeScreen

    async def flow(app: SaratogaApp) -> None:
        await app.push_screen_wait(PracticeScreen(dealt))

    return flow


def review_flow(record: "RaceRecord", player: str = "", server: str = "") -> Flow:
    """Return the flow of a finished race's review; raises `ReplayError` for a bad record.

    `server` is the address by which friends reach the server that has the record, if known.
    """
    from saratoga_client.review.boards import open_boards
    from saratoga_client.review.share_text import race_text
    from saratoga_client.tui.screens.review import ReviewScreen

    boards = open_boards(record)
    share = race_text(record, boards, player, server)
    screen = ReviewScreen(record.race_id, boards, player, share)

    async def flow(app: SaratogaApp) -> None:
        await app.push_screen_wait(screen)

    return flow
