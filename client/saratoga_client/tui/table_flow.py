"""The flow of a table: one screen per phase; commands run in the background.

The screens of later phases are imported when they open, so the program starts faster.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final

from textual.screen import Screen

from saratoga_client.board_view.roles import Role
from saratoga_client.problems import Problem
from saratoga_client.session.invitation import Inviter
from saratoga_client.session.starting import race_again
from saratoga_client.session.state import Kind, SessionState
from saratoga_client.tui.base_screen import BaseScreen
from saratoga_client.tui.messages import Messages
from saratoga_client.tui.screens.countdown import CountdownScreen
from saratoga_client.tui.screens.gathering import GatheringScreen
from saratoga_client.tui.screens.race import RaceScreen
from saratoga_client.tui.table_screen import TableScreen

if TYPE_CHECKING:
    from saratoga_client.session.table_session import TableSession
    from saratoga_client.tui.app import SaratogaApp

LOG: Final = logging.getLogger("saratoga.racing")

URGENT: Final = (CountdownScreen, RaceScreen)
"""Screens that close every screen above them when they open, because the race has begun."""


class TableFlow:
    """The screens of one table, in turn."""

    def __init__(
        self,
        app: "SaratogaApp",
        seat: "TableSession",
        *,
        inviter: Inviter,
    ) -> None:
        self.app = app
        self.inviter = inviter
        self._screen: TableScreen | None = None
        self.wants_next = False
        """True if the player gets ready as soon as the table is open for the next race."""
        self._changes = asyncio.Event()
        self._left = asyncio.Event()
        self.seat = seat
        self._messages = Messages(self)

    @property
    def state(self) -> SessionState:
        """The current state of the table session."""
        state = self.seat.state
        assert state is not None, "the screens come after the first snapshot"
        return state

    def now(self) -> int:
        """Return the server's time in milliseconds since 1970."""
        return self.seat.now()

    async def stay(self) -> None:
        """Show the table until the player leaves; raises `Problem` if the seat is lost."""
        self.app.observe_input = self.seat.note_activity
        tasks = [
            asyncio.create_task(self._show(), name="showing"),
            asyncio.create_task(self._switch_screens(), name="screens"),
            asyncio.create_task(self.seat.attend(), name="seat"),
            asyncio.create_task(self._left.wait(), name="leaving"),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.app.observe_input = lambda: None
            if self.seat.state is not None:
                self.app.alarms.extend(self.seat.state.alarms)
            await self._close()

    # Screens

    def cover(self, screen: Screen[None]) -> None:
        """Open another screen over the table's screen, and then show the screen of the current phase."""
        self.app.push_screen(screen, lambda _: self._changes.set())

    async def _show(self) -> None:
        """Show the states of the table until the session ends, which `stay` learns from the session."""
        async for evening in self.seat.states():
            self._changed(evening)
        await asyncio.Event().wait()

    def _changed(self, evening: SessionState) -> None:
        if self.wants_next and evening.phase == "gathering":
            self.wants_next = False
            self.do(race_again(self.seat))
        screen = self._screen
        if screen is not None and screen.can_draw and type(screen) is self._screen_class(evening):
            try:
                screen.changed(evening)
            except Exception:
                # a fault in drawing must not end the race
                LOG.exception("the screen could not show a change")
        else:
            self._changes.set()
        self.tell()

    def tell(self) -> None:
        """Show the news on the message line of the screen that the player reads, once it is open."""
        top = self._top
        if top is not None:
            self._messages.tell(top, covers=True)
        elif self._screen is not None and self._screen.can_draw:
            self._messages.tell(self._screen, covers=False)

    @property
    def _top(self) -> BaseScreen | None:
        """The screen that covers the table's screen; `None` if there is none, or none that is drawn."""
        if self._screen is None or self._screen not in self.app.screen_stack:
            return None
        top = self.app.screen
        if not isinstance(top, BaseScreen) or top is self._screen or not top.can_draw:
            return None
        return top

    def _screen_class(self, evening: SessionState) -> type[TableScreen]:
        """Return the screen class for the phase of the table."""
        match evening.phase:
            case "gathering":
                return GatheringScreen
            case "call" | "countdown":
                return CountdownScreen
            case "over":
                from saratoga_client.tui.screens.results import ResultsScreen

                return ResultsScreen
        if evening.own is not None:
            return RaceScreen
        is_dealt_soon = evening.table.racer(evening.player) is not None and evening.game is not None
        if is_dealt_soon and isinstance(self._screen, CountdownScreen):
            return CountdownScreen
        from saratoga_client.tui.screens.race import WatchingScreen

        return WatchingScreen

    async def _switch_screens(self) -> None:
        while True:
            await self._changes.wait()
            self._changes.clear()
            if self.seat.state is not None:
                await self._switch_screen()
                self.tell()

    async def _switch_screen(self) -> None:
        wanted = self._screen_class(self.state)
        is_run_over = self.state.table.open and self.state.phase == "over"
        if type(self._screen) is wanted or (is_run_over and self._screen is not None):
            # a run in an open race is left as soon as it is over
            return
        is_covered = self._screen is not None and self.app.screen is not self._screen
        if is_covered and wanted not in URGENT:
            return
        await self._uncover()
        # the phase may have changed while other screens closed
        wanted = self._screen_class(self.state)
        if type(self._screen) is wanted:
            return
        former, self._screen = self._screen, wanted(self)
        if wanted is RaceScreen:
            # racers may have missed it in the countdown
            self._messages.again(Kind.HOUSE)
        if former is None:
            await self.app.push_screen(self._screen)
        else:
            await self.app.switch_screen(self._screen)

    async def _uncover(self) -> None:
        """Close the screens above the table's screen."""
        if self._screen is None or self._screen not in self.app.screen_stack:
            return
        while self.app.screen is not self._screen:
            await self.app.pop_screen()

    async def _close(self) -> None:
        if self.app.is_running and self._screen in self.app.screen_stack:
            await self._uncover()
            await self.app.pop_screen()

    # Commands

    def do(self, action: Coroutine[Any, Any, Any]) -> None:
        """Run a command in the background; a `Problem` appears on the message line."""
        self.app.run_worker(self._run(action), group="commands")

    async def _run(self, action: Coroutine[Any, Any, Any]) -> None:
        try:
            await action
        except Problem as problem:
            if self._screen is not None and self._screen.can_draw:
                self._screen.say(str(problem), Role.WARNING)

    def leave(self) -> None:
        """Give up the seat, or stop watching; `stay` then returns."""
        if self.state.seat is None:
            self._left.set()
        else:
            self.do(self.seat.leave())
