"""The base of the screens at a table: it shows the table's state and the connection's state."""

from functools import partial
from typing import TYPE_CHECKING, Final

from textual.screen import Screen

from saratoga_client.board_view.roles import Role
from saratoga_client.net.connection import LinkState
from saratoga_client.session.result_text import last_board, name_of, seconds_to_end
from saratoga_client.session.state import SessionState
from saratoga_client.tui.base_screen import BaseScreen, Key, Keys, ReadingScreen
from saratoga_client.wording import REACTIONS
from saratoga_protocol.commands import EndRace, React
from saratoga_protocol.events import Seat
from saratoga_rules.game import Game

if TYPE_CHECKING:
    from saratoga_client.tui.table_flow import TableFlow

ALARM: Final = "ALARM"
"""The mark in the title of every screen at a table about which there are alarms."""

UNKNOWN_GAME: Final = "This program does not know that game: there is a newer saratoga."

READY_WAITS: Final = "You get ready as soon as the connection is back."
UNREADY_WAITS: Final = "Your ready mark goes as soon as the connection is back."
SETTINGS_WAIT: Final = "The change waits for the connection."


class TableScreen(BaseScreen):
    """A screen that shows the table's state and is updated whenever it changes."""

    LEAVE = ("leave", "leave the table; asks first")
    HEADING = "KEYS IN A RACE"

    def __init__(self, table: "TableFlow") -> None:
        super().__init__()
        self.controls = table
        self._rested = ""
        """The last resting message."""

    @property
    def state(self) -> SessionState:
        """The table's state now."""
        return self.controls.state

    def changed(self, state: SessionState) -> None:
        """Show a new state."""
        self.redraw()

    def tick(self) -> None:
        self.controls.tell()
        super().tick()

    def redraw(self) -> None:
        if self.message in ("", self._rested) and not self.is_asking:
            self._rested = self.resting
            self.say(self._rested)
        super().redraw()

    def facts(self) -> list[str]:
        return [self.state.table.code]

    def clock(self) -> tuple[str, Role]:
        """Return the race's clock for the title, with its role; the text may be empty."""
        return "", Role.TITLE

    def status(self) -> list[tuple[str, Role]]:
        clock = self.clock()
        alarm = [(ALARM, Role.ALARM)] if self.state.alarms else []
        link = self.state.link
        lost = [(f"{self.symbols.away} {link.value}", Role.WARNING)]
        return [
            *alarm,
            *(lost if link is not LinkState.CONNECTED else []),
            *([clock] if clock[0] else []),
        ]

    def ready_key(self, seat: Seat) -> Key:
        """Return the key of a seated player that gets ready, or not ready any more."""
        label, ready = "not ready" if seat.ready else "ready", partial(self.press_ready, seat)
        return Key("enter r", label, "say that you are ready, or that you are not", ready)

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

    def end_race_keys(self) -> Keys:
        """Return the keys that end the race, or agree to it: who has ended asks, who races agrees."""
        state = self.state
        if state.own is not None and state.own.is_racing:
            may_agree = bool(state.table.votes) and state.player not in state.table.votes
            why = "Nobody has asked to end the race; x cashes out."
            return (Key("e", "agree", "agree to end the race", self._end_race, may_agree, why),)
        ends = "end the race: who still races must agree, or only one person holds it up"
        may_ask = state.phase == "running" and (state.own is not None or state.is_host)
        why = "Only who races, or the host, can end a race."
        asks = Key("x", "ask to end", ends, self._ask_to_end_race, may_ask, why)
        return (asks, *((self.say_key(),) if state.seat is not None else ()))

    def _ask_to_end_race(self) -> None:
        """Ask the others to end the race, or end the last board as host, after a question."""
        state, now = self.state, self.controls.now()
        if not state.is_host or not state.table.last_racer or seconds_to_end(state, now):
            if state.own is None:
                self.say(
                    last_board(state, now) or "The host can end a race that one person holds up."
                )
                return
            question = "Ask all who still race to end it? They keep the banked cards. (y/n)"
        else:
            name = name_of(state, state.table.last_racer)
            question = f"End the race of {name}, who keeps the banked cards? (y/n)"
        self.ask(question, y=("end race", self._end_race))

    def _end_race(self) -> None:
        self.controls.do(self.controls.seat.send(EndRace))

    def fair_key(self) -> Key:
        """Return the key that shows how the deal was fixed, and how it was checked."""
        return Key("k", "fair deal", "how the deal was fixed, and checked", self._show_fair_deal)

    def _show_fair_deal(self) -> None:
        from saratoga_client.tui.reading import fair_deal_page

        page = partial(fair_deal_page, self.state, self.symbols.dots)
        self.cover(ReadingScreen("k", [self.state.table.race, "fair deal"], page))

    def say_key(self) -> Key:
        """Return the key that says something to everyone at the table."""
        return Key("e", "say", "say good game, again or nice to the table", self._ask_what_to_say)

    def _ask_what_to_say(self) -> None:
        told = enumerate(REACTIONS.items(), 1)
        self.ask(
            "Say what to the table?",
            **{f"{at}": (words, partial(self._react, word)) for at, (word, words) in told},
        )

    def _react(self, word: str) -> None:
        self.controls.do(self.controls.seat.send(React, reaction=word))
        self.say(f"You: {REACTIONS[word]}")

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
