"""The base of the screens at a table: it shows the table's state and the connection's state."""

from typing import ClassVar, Final

from saratoga_client.board_view.roles import Role
from saratoga_client.net.connection import LinkState
from saratoga_client.session.result_text import last_board, name_of, seconds_to_end
from saratoga_client.session.state import SessionState
from saratoga_client.tui.base_screen import BaseScreen
from saratoga_client.tui.lines import Guide, TitleLine
from saratoga_client.tui.ports import TableControls

WIDE: Final = 100
"""Minimum screen columns for words beside the connection's symbol in the title."""


class TableScreen(BaseScreen):
    """A screen that shows the table's state and is updated whenever it changes."""

    ALWAYS: ClassVar[Guide] = (("?", "help"), ("q", "leave"))

    def __init__(self, table: TableControls) -> None:
        super().__init__()
        self.controls = table

    @property
    def state(self) -> SessionState:
        """The table's state now."""
        return self.controls.state

    def changed(self, state: SessionState) -> None:
        """Show a new state."""
        self.redraw()

    def facts(self) -> list[str]:
        return [self.state.table.code]

    def show_title(self) -> None:
        self.query_one(TitleLine).redraw_for((self.facts(), self.status()))

    def clock(self) -> tuple[str, Role]:
        """Return the race's clock for the title, with its role; the text may be empty."""
        return "", Role.TITLE

    def status(self) -> list[tuple[str, Role]]:
        clock = self.clock()
        return [self._link(), *([clock] if clock[0] else [])]

    def _link(self) -> tuple[str, Role]:
        state, symbols = self.state, self.symbols
        if state.link is not LinkState.CONNECTED:
            return f"{symbols.broken_link} {state.link.value}", Role.WARNING
        if self.size.width < WIDE:
            return symbols.link, Role.MONEY_UP
        latency = "" if state.round_trip_ms is None else f" {state.round_trip_ms} ms"
        return f"{symbols.link} live{latency}", Role.MONEY_UP

    def press(self, key: str) -> None:
        match key:
            case "?":
                self.controls.help()
            case "q":
                self.ask_to_leave()
            case _:
                super().press(key)

    def end_race_key(self) -> Guide:
        """Return the key that ends the race, for the host while another player's board is the last one racing."""
        racer = self.state.table.last_racer
        may_end = self.state.is_host and racer not in ("", self.state.player)
        return (("e", "end race"),) if may_end else ()

    def ask_to_end_race(self) -> None:
        """End the last racing board, after a question; say why not if it is too early."""
        state, now = self.state, self.controls.now()
        if not self.end_race_key():
            self.say("The host can end a race when one other player is left.")
        elif seconds_to_end(state, now):
            self.say(last_board(state, now))
        else:
            name = name_of(state, state.table.last_racer)
            self.ask(
                f"End the race of {name}, who keeps the banked cards? (y/n)",
                y=("end race", lambda: self.controls.do(self.controls.seat.end_race())),
            )

    def ask_to_leave(self) -> None:
        """Leave the table; ask for confirmation first if the player has a seat."""
        if self.state.seat is None:
            self.controls.leave()
            return
        self.ask(
            f"Leave {self.state.table.code} and give up your seat? (y/n)",
            y=("leave", self.controls.leave),
        )
