"""The base of the screens at a table: it shows the table's state and the connection's state."""

from functools import partial
from typing import TYPE_CHECKING, Final

from textual.screen import Screen

from saratoga_client.board_view.roles import Role
from saratoga_client.net.connection import LinkState
from saratoga_client.session.moments import RaceNews, SeenMoments, next_moment
from saratoga_client.session.result_text import last_board, name_of, seconds_to_end
from saratoga_client.session.state import SessionState
from saratoga_client.text import fitted
from saratoga_client.tui.base_screen import BaseScreen, Key, TitleLine
from saratoga_client.tui.pages.table_news import HOST_AWAY, LOST, RESTORED
from saratoga_protocol.events import Seat
from saratoga_rules.game import Game

if TYPE_CHECKING:
    from saratoga_client.tui.table_flow import TableFlow

ALARM: Final = "ALARM"
"""The mark in the title of every screen at a table about which there are alarms."""

UNKNOWN_GAME: Final = "This program does not know that game: there is a newer saratoga."

MOMENT_WAITS: Final = 3_000
"""Milliseconds for which a moment of the race waits for the message line; then it is dropped."""

MOMENT_SHOWN: Final = 6_000
"""Milliseconds for which a moment of the race is shown, unless another message comes."""

LONG_LOST: Final = "Still no connection; the server may have been closed. Trying again; q leaves."
READY_WAITS: Final = "You get ready as soon as the connection is back."
UNREADY_WAITS: Final = "Your ready mark goes as soon as the connection is back."
SETTINGS_WAIT: Final = "The change waits for the connection."
UNTIL_CONNECTED: Final = frozenset({LOST, LONG_LOST, READY_WAITS, UNREADY_WAITS, SETTINGS_WAIT})
"""Messages that are outdated when the connection is back."""

LONG: Final = 10_000
"""Milliseconds without a connection after which the message says that the server may have been closed."""

WIDE: Final = 100
"""Minimum screen columns for words beside the connection's symbol in the title."""


class TableScreen(BaseScreen):
    """A screen that shows the table's state and is updated whenever it changes."""

    LEAVE = ("leave", "leave the table; asks first")
    HEADING = "KEYS IN A RACE"

    def __init__(self, table: "TableFlow") -> None:
        super().__init__()
        self.controls = table
        self._said_alarms = len(table.state.alarms)
        """The number of alarms that the message line has shown, or that were there before the screen."""
        self._seen_moments = SeenMoments()
        self._waiting_moment: RaceNews | None = None
        self._waits_until = 0
        self._shown_moment = ""
        self._shows_until = 0
        self._said_host_away = False
        self._lost_at: int | None = None
        """The server's time at which the screen noticed the loss of the connection; `None` with one."""

    @property
    def state(self) -> SessionState:
        """The table's state now."""
        return self.controls.state

    def changed(self, state: SessionState) -> None:
        """Show a new state."""
        self.say_alarm(state)
        self.redraw()

    def say_alarm(self, state: SessionState) -> bool:
        """Show the latest alarm on the message line, if it is new; return whether it is.

        It takes one line, so that it covers nothing; the page or the panel has all of it. An open question
        stays on the message line until it is answered.
        """
        said = min(self._said_alarms, len(state.alarms))  # alarms may have been withdrawn
        if self.is_asking or len(state.alarms) == said:
            self._said_alarms = said
            return False
        self._said_alarms = len(state.alarms)
        alarm = fitted(state.alarms[-1], self.size.width - 2, self.symbols.dots)
        self.say(alarm.rstrip(), Role.ALARM)
        return True

    def warn_host(self, state: SessionState) -> None:
        """Warn a host between races who is taken for away; clear the warning after a sign of activity."""
        is_away = bool(state.idle_left)
        if is_away and not self._said_host_away:
            # the key that keeps the place must not answer a question that the warning covers
            self.drop_question()
            self.say(HOST_AWAY, Role.WARNING)
            self.app.bell()
        elif not is_away and self.message == HOST_AWAY:
            self.say(self.resting)
        self._said_host_away = is_away

    def report_link(self) -> None:
        """Say that the connection is lost, and after a while what may have happened; once each."""
        link, now = self.state.link, self.controls.now()
        if link is LinkState.CONNECTED and self._lost_at is not None:
            self._lost_at = None
            if self.message in UNTIL_CONNECTED:
                self.say(RESTORED)
        elif link is LinkState.RECONNECTING and not self.is_asking:
            if self._lost_at is None:
                self._lost_at = now
                if self.message not in UNTIL_CONNECTED:
                    self.say(LOST, Role.WARNING)
            elif now - self._lost_at >= LONG and self.message == LOST:
                self.say(LONG_LOST, Role.WARNING)

    @property
    def resting(self) -> str:
        """The message while nothing happens."""
        return ""

    def may_cover_message(self) -> bool:
        """Return whether a moment of the race may replace the message: it is no question, error or refusal."""
        return not self.is_asking and self.message in ("", self.resting, self._shown_moment)

    def show_moment(self) -> None:
        """Show a moment of the race for some seconds, or let it wait until the message may be replaced."""
        now = self.controls.now()
        self._seen_moments, moment = next_moment(self._seen_moments, self.state, now)
        if moment is not None:
            self._waiting_moment, self._waits_until = moment, now + MOMENT_WAITS
            if moment.is_last_minute:
                self.app.bell()
        if self._shown_moment and self.message != self._shown_moment:
            self._shown_moment = ""
        elif self._shown_moment and now >= self._shows_until and not self.is_asking:
            self._shown_moment = ""
            self.say(self.resting)
        waiting = self._waiting_moment
        if waiting is None:
            return
        if now >= self._waits_until:
            self._waiting_moment = None
        elif self.may_cover_message():
            self._waiting_moment = None
            text = fitted(waiting.text, self.size.width - 2, self.symbols.dots).rstrip()
            self._shown_moment, self._shows_until = text, now + MOMENT_SHOWN
            self.say(text, Role.WARNING if waiting.is_last_minute else Role.LEADER)

    def facts(self) -> list[str]:
        return [self.state.table.code]

    def show_title(self) -> None:
        self.query_one(TitleLine).redraw_for((self.facts(), self.status()))

    def clock(self) -> tuple[str, Role]:
        """Return the race's clock for the title, with its role; the text may be empty."""
        return "", Role.TITLE

    def status(self) -> list[tuple[str, Role]]:
        clock = self.clock()
        alarm = [(ALARM, Role.ALARM)] if self.state.alarms else []
        return [*alarm, self._link(), *([clock] if clock[0] else [])]

    def _link(self) -> tuple[str, Role]:
        state, symbols = self.state, self.symbols
        if state.link is not LinkState.CONNECTED:
            return f"{symbols.broken_link} {state.link.value}", Role.WARNING
        if self.size.width < WIDE:
            return symbols.link, Role.MONEY_UP
        latency = "" if state.round_trip_ms is None else f" {state.round_trip_ms} ms"
        return f"{symbols.link} live{latency}", Role.MONEY_UP

    def ready_key(self, seat: Seat) -> Key:
        """Return the key of a seated player that gets ready, or not ready any more."""
        label, ready = "not ready" if seat.ready else "ready", partial(self.press_ready, seat)
        return Key("r", label, "say that you are ready, or that you are not", ready)

    def press_ready(self, seat: Seat) -> None:
        """Mark the player ready, or not ready any more."""
        actions, is_connected = self.controls.seat, self.state.is_connected
        if seat.ready:
            self.controls.do(actions.not_ready())
            self.say("You are not ready any more." if is_connected else UNREADY_WAITS)
        else:
            self.controls.do(self.get_ready())
            self.say("You are ready." if is_connected else READY_WAITS)

    async def get_ready(self) -> None:
        """Mark the player ready; raises `Problem`."""
        await self.controls.seat.ready()

    def end_race_key(self) -> Key:
        """Return the key that ends the race, for the host while another player's board is the last one racing."""
        racer = self.state.table.last_racer
        may_end = self.state.is_host and racer not in ("", self.state.player)
        why = "The host can end a race when one other player is left."
        ends = "for the host: end a race that one player holds up; asks first"
        return Key("e", "end race", ends, self._ask_to_end_race, when=may_end, why=why)

    def _ask_to_end_race(self) -> None:
        """End the last racing board, after a question; say why not if it is too early."""
        state, now = self.state, self.controls.now()
        if seconds_to_end(state, now):
            self.say(last_board(state, now))
            return
        name = name_of(state, state.table.last_racer)
        self.ask(
            f"End the race of {name}, who keeps the banked cards? (y/n)",
            y=("end race", lambda: self.controls.do(self.controls.seat.end_race())),
        )

    @property
    def game(self) -> Game | None:
        return self.state.game

    def show_help(self) -> None:
        if self.game is None:
            self.say(UNKNOWN_GAME, Role.WARNING)
        else:
            super().show_help()

    def cover(self, screen: Screen[None]) -> None:
        self.controls.cover(screen)

    def leave(self) -> None:
        """Leave the table; ask for confirmation first if the player has a seat."""
        if self.state.seat is None:
            self.controls.leave()
            return
        self.ask(
            f"Leave {self.state.table.code} and give up your seat? (y/n)",
            y=("leave", self.controls.leave),
        )
