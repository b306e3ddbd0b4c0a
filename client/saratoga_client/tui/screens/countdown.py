"""The screen of the five seconds before the deal."""

from collections.abc import Iterable
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text
from textual.widget import Widget

from saratoga_client.board_view.roles import LETTERS, Role, Symbols
from saratoga_client.session.open_race import run_words
from saratoga_client.session.result_text import race_of_match
from saratoga_client.session.state import SessionState, race_clock
from saratoga_client.session.table_view import is_call
from saratoga_client.text import fitted
from saratoga_client.tui.base_screen import Keys
from saratoga_client.tui.screens.gathering import alarms_part, rules_part
from saratoga_client.tui.table_screen import TableScreen
from saratoga_client.tui.widgets import Ink, RichView, ScrollPage
from saratoga_client.wording import cap_words, game_title, shown_name
from saratoga_protocol import events

DIGITS: Final = {
    0: ("   ", "   ", "GO!", "   ", "   "),
    1: ("  █", "  █", "  █", "  █", "  █"),
    2: ("███", "  █", "███", "█  ", "███"),
    3: ("███", "  █", "███", "  █", "███"),
    4: ("█ █", "█ █", "███", "  █", "  █"),
    5: ("███", "█  ", "███", "  █", "███"),
}
"""The seconds in large digits."""
BACKS: Final = 7
"""Number of card backs beside the digits."""
NAME: Final = 26
"""Width of a name in cells, with the mark of a bot."""
ABOVE: Final = 15
"""Number of lines beside the list of racers."""


def countdown_page(
    state: SessionState, now: int, symbols: Symbols, ink: Ink, width: int, height: int
) -> RenderableType:
    """Return the page at the server's time `now`, in milliseconds."""
    seconds = -(-race_clock(state, now).until_start // 1000)
    has_room = not state.alarms and len(state.table.seats) <= height - ABOVE
    return Group(
        "",
        _table_face_down(seconds, symbols, ink),
        "",
        ink.text(f"   {'READY' if is_call(state.table) else 'RACERS'}", Role.LABEL),
        _racers(state, symbols, ink, width, height - ABOVE),
        "",
        *alarms_part(state, ink),
        *(rules_part(state.game, symbols, ink) if has_room else ()),
        ink.text(f" {symbols.ready} the deal is sealed: nobody has seen it", Role.DIM),
    )


def _table_face_down(seconds: int, symbols: Symbols, ink: Ink) -> RenderableType:
    back = "####" if symbols.filled == LETTERS.filled else "▒▒▒▒"
    row = ink.line(*((back, Role.CARD_BACK), (" ", Role.TABLE)) * BACKS)
    digits = DIGITS.get(seconds, ("", "", str(seconds), "", ""))
    number = Text("\n").join(
        ink.text(line.replace("█", symbols.filled), Role.WARNING) for line in digits
    )
    grid = ink.grid(3, BACKS * 5 + 6, None)
    grid.add_row("", Text("\n").join([row] * 4), number)
    return grid


def _racers(
    state: SessionState, symbols: Symbols, ink: Ink, width: int, room: int
) -> RenderableType:
    """Return the list of racers, in two columns if one column of `room` lines is too short."""
    racers: list[events.Racer | events.Seat] = [*state.table.racers]
    racers = racers or [seat for seat in state.table.seats if seat.ready]
    in_line = 2 if len(racers) > room and width >= 2 * (NAME + 2) else 1
    grid = ink.grid(3, *((NAME, 2) * in_line))
    for first in range(0, len(racers), in_line):
        cells: list[Text] = []
        for racer in racers[first : first + in_line]:
            shown = fitted(shown_name(racer.name, racer.bot), NAME, symbols.dots)
            role = Role.YOU if racer.player == state.player else Role.TEXT
            cells += (ink.text(shown, role), ink.text(""))
        grid.add_row("", *cells)
    return grid


class CountdownScreen(TableScreen):
    """The screen of the countdown: large digits between card backs."""

    _seconds = -1

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(self._draw)

    def _draw(self, ink: Ink) -> RenderableType:
        # The title, message and key lines take three lines.
        width, height = self.size.width, self.size.height - 3
        return countdown_page(self.state, self.controls.now(), self.symbols, ink, width, height)

    @property
    def resting(self) -> str:
        """What the player can do in this part of the countdown."""
        seat, may_join = self.state.seat, is_call(self.state.table)
        if self.state.table.open:
            return f"One run, {cap_words(self.state.table.settings.cap)}. Its clock goes on if you leave."
        if seat is None:
            return "You are watching this race. It shows the standings, not the boards."
        if may_join and not seat.ready:
            return "The host has started the race. Press enter now to be in it."
        if may_join or self.state.table.racer(self.state.player):
            return "Get ready: all racers get the same deal at the same moment."
        return "You weren't ready, so this race started without you."

    def keys(self) -> Keys:
        seat = self.state.seat
        if seat is None or not is_call(self.state.table):
            return (self.fair_key(), *super().keys())
        return (self.ready_key(seat), self.fair_key(), *super().keys())

    @property
    def seconds(self) -> int:
        """Seconds until the start, rounded up."""
        return -(-race_clock(self.state, self.controls.now()).until_start // 1000)

    def tick(self) -> None:
        self.controls.tell()
        if self.seconds != self._seconds:
            self._seconds = self.seconds
            self.redraw()

    def facts(self) -> list[str]:
        table = self.state.table
        title = game_title(table.settings.game).upper()
        starts = f"starts in {self.seconds} s"
        return [
            title,
            run_words(table) or table.code,
            cap_words(table.settings.cap),
            starts,
            race_of_match(table, self.state.match),
        ]
