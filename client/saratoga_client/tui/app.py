"""The program on a whole terminal: one app, which runs one errand and shows its screens.

An errand is what the player came for, written as what happens from first to last: go to a house,
sit at a table until the seat is given up, come back to the lobby. When it returns, the app ends;
what it cannot go on from is a `Problem`, said on the normal screen once the terminal is given
back.
"""

from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, Final, TypeAlias

from rich.console import RenderableType
from textual.app import AutopilotCallbackType
from textual.binding import Binding, BindingType
from textual.filter import NoColor
from textual.screen import Screen
from textual.widget import Widget

from saratoga_client.local.settings_file import Value
from saratoga_client.local.terminal import Colours
from saratoga_client.problems import Problem
from saratoga_client.tui.appearance import Appearance
from saratoga_client.tui.colours import Paint, paint
from saratoga_client.tui.partial_update import lean
from saratoga_client.tui.ports import Themed
from saratoga_client.tui.screens.waiting import WaitingScreen
from saratoga_client.tui.terminal_guard import TerminalApp, run
from saratoga_rules.game import Game

NARROW: Final = 80
"""Columns from which the panel stands beside the table; below it is one line."""
WIDE: Final = 100
BROAD: Final = 120

Flow: TypeAlias = "Callable[[SaratogaApp], Coroutine[Any, Any, None]]"
Remember: TypeAlias = Callable[[str, Value], None]
"""Keeps a choice for the next run; see `settings.keep`."""


def forget(key: str, value: Value) -> None:
    """Keep nothing."""


class SaratogaApp(TerminalApp):
    """Shows screens while its errand is run."""

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
        errand: Flow,
        appearance: Appearance = Appearance(),  # noqa: B008 - frozen
        remember: Remember = forget,
    ) -> None:
        # the terminal's own colours are to be seen through where the table has none of its own
        is_bare = appearance.colours is Colours.NONE or not appearance.background
        super().__init__(ansi_color=True if is_bare else None)
        if appearance.colours is Colours.NONE:
            self._filters.append(NoColor())
        self.appearance = appearance
        self.problem: Problem | None = None
        self.is_interrupted = False
        self._errand = errand
        self._remember = remember

    @property
    def colours(self) -> Paint:
        """The style of every role, as things are chosen now."""
        chosen = self.appearance
        return paint(chosen.depth, chosen.theme_name, background=chosen.background)

    def next_theme(self) -> str:
        """Change the colours of everything; returns what they are called."""
        self.appearance = self.appearance.with_next_theme()
        for screen in self.screen_stack:
            for widget in (screen, *screen.query(Widget)):
                if isinstance(widget, Themed):
                    widget.dress(self.colours)
        self._remember("theme", self.appearance.theme_name)
        return self.appearance.theme_name

    def other_suits(self, game: Game) -> str:
        """Two colours of suits, or four; returns how many it is now."""
        self.appearance = self.appearance.with_other_suits(game)
        chosen = self.appearance.suits[game.name]
        self._remember(f"suits.{game.name}", chosen)
        return chosen

    async def run_async(
        self,
        *,
        headless: bool = False,
        inline: bool = False,
        inline_no_clear: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
        auto_pilot: "AutopilotCallbackType | None" = None,
    ) -> int | None:
        """As in Textual; the mouse is left alone if the player wants that."""
        return await super().run_async(
            headless=headless,
            inline=inline,
            inline_no_clear=inline_no_clear,
            mouse=mouse and self.appearance.mouse,
            size=size,
            auto_pilot=auto_pilot,
        )

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, lean(renderable))

    def on_mount(self) -> None:
        self.push_screen(WaitingScreen())
        self.run_worker(self._run_errand(), name="errand")

    async def _run_errand(self) -> None:
        try:
            await self._errand(self)
        except Problem as problem:
            self.problem = problem
        self.exit(0)

    def action_interrupt(self) -> None:
        """Ctrl-C: leave at once; the seat is kept for a minute."""
        self.is_interrupted = True
        self.exit(0)


def run_errand(
    errand: Flow,
    appearance: Appearance = Appearance(),  # noqa: B008 - frozen
    remember: Remember = forget,
) -> None:
    """Give the terminal to an errand until it is done; raises `Problem`, `KeyboardInterrupt`."""
    app = SaratogaApp(errand, appearance, remember)
    run(app)
    if app.is_interrupted:
        raise KeyboardInterrupt
    if app.problem is not None:
        raise app.problem
