"""The race: the board, the rivals beside it, and an answer to every key."""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from textual import on
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from saratoga_client.board_view.board import NO_MARKS
from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.title import title_facts
from saratoga_client.input.card_finder import found_text
from saratoga_client.input.key_hints import guide
from saratoga_client.input.keyboard import Click, InputResult, Selection, click, drop, marks, press
from saratoga_client.input.move_text import CardName, ascii_card_name, card_name
from saratoga_client.input.pile_keys import pile_keys
from saratoga_client.net.connection import LinkState
from saratoga_client.sanitised import sanitised
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.state import SessionState, race_clock
from saratoga_client.session.table_view import dollars, rows
from saratoga_client.tui.board_widget import BoardWidget
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.finder import PROMPT, Finder
from saratoga_client.tui.lines import Guide, MessageLine
from saratoga_client.tui.pages.panel import meter, panel, ticker
from saratoga_client.tui.table_screen import TableScreen
from saratoga_client.wording import minutes_and_seconds
from saratoga_rules.refusals import IllegalMove

MOST_QUEUED: Final = 16
"""Keys kept while the house turns a card up."""

LATE: Final = 30_000
"""Milliseconds before the cap from which the clock warns."""

METER: Final = 6
"""Rows of the money meter below the panel."""

ENDINGS: Final = {
    "won": "You have won! All {banked} cards are banked, net {net}.",
    "cashed out": "Cashed out: {banked} banked, net {net}.",
    "stuck": "Stuck: nothing more can be banked. Your board is over: {banked} banked, net {net}.",
    "out of time": "Time is up: {banked} banked, net {net}. All of it counts.",
    "left": "Left the race: {banked} banked, net {net}. All of it counts.",
}
"""How one's board ended."""


class RaceScreen(TableScreen):
    """One's own board, and the race around it."""

    DEFAULT_CSS = f"""
    RaceScreen #table {{ height: 1fr; }}
    RaceScreen #side {{ width: 25; }}
    RaceScreen #panel {{ height: 1fr; }}
    RaceScreen #meter {{ height: {METER}; }}
    RaceScreen #ticker {{ height: 1; display: none; }}
    RaceScreen.-wide #side {{ width: 29; }}
    RaceScreen.-broad #side {{ width: 33; }}
    RaceScreen.-ticker #side {{ display: none; }}
    RaceScreen.-ticker #ticker {{ display: block; }}
    RaceScreen.-focus #side, RaceScreen.-focus #ticker {{ display: none; }}
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.selection = Selection(quick=self.program.appearance.quick)
        self.finder = Finder()
        self._kept: deque[str] = deque()
        self._ended = ""
        self._alarms = 0
        self._is_draining = False
        self._taken_back = ""
        self._state_told = ""
        self._link_told = LinkState.CONNECTED
        self._announced = ""
        self._second = 0

    def body(self) -> Iterable[Widget]:
        with Horizontal(id="table"):
            yield BoardWidget(self.program.colours, id="board")
            with Vertical(id="side"):
                yield CanvasView(self._draw_panel, id="panel")
                yield CanvasView(self._draw_meter, id="meter")
        yield CanvasView(self._draw_ticker, id="ticker")

    def _draw_panel(self, width: int, height: int) -> Canvas:
        now = self.visit.now()
        return _aside(panel(self.evening, width - 1, height, now, ascii_only=self._is_ascii))

    def _draw_meter(self, width: int, height: int) -> Canvas:
        return _aside(meter(self.evening, width - 1, ascii_only=self._is_ascii))

    def _draw_ticker(self, width: int, height: int) -> Canvas:
        return ticker(self.evening, width, self.visit.now(), ascii_only=self._is_ascii)

    @property
    def _is_ascii(self) -> bool:
        return self.program.appearance.ascii

    @property
    def own(self) -> OwnBoard:
        own = self.evening.own
        assert own is not None, "this screen is for racers"
        return own

    # What the screen says

    def begin(self) -> None:
        own = self.own
        self._state_told = own.state if own.is_racing else ""
        self.say("Go! Press a pile's key to pick, another's to place; space draws.")
        self.changed(self.evening)

    def facts(self) -> list[str]:
        own = self.own
        return [own.game.title.upper(), self.evening.table.code, *title_facts(own.game, own.shown)]

    def clock(self) -> tuple[str, Role]:
        time = race_clock(self.evening, self.visit.now())
        if time.left is None:
            return minutes_and_seconds(time.elapsed), Role.TITLE
        return minutes_and_seconds(time.left), Role.WARNING if time.left < LATE else Role.TITLE

    def guide(self) -> Guide:
        own = self.own
        if self.finder.is_open:
            return (("enter", "keep"), ("esc", "end"))
        if not own.is_racing:
            return (("p", "panel"), ("t", "colours"))
        if own.is_cashing_out:
            return ()
        return (*guide(own.game, own.shown, self.selection), ("/", "find"))

    def always(self) -> Guide:
        own = self.own
        if own.is_racing and not own.is_cashing_out and not self.finder.is_open:
            return (("x", "cash out"), *self.ALWAYS)
        return self.ALWAYS

    def changed(self, evening: SessionState) -> None:
        if evening.own is None:
            return
        self._tell(evening, evening.own)
        self._show_board()
        self._show_rivals()
        super().changed(evening)
        self._drain()

    def tick(self) -> None:
        super().tick()
        second = self.visit.now() // 1000
        if second != self._second:
            # nothing on the panel changes sooner by itself
            self._second = second
            self._show_rivals()

    def _tell(self, evening: SessionState, own: OwnBoard) -> None:
        """Say what has come about without the player's doing."""
        if own.taken_back != self._taken_back:
            self._taken_back = own.taken_back
            if own.taken_back:
                self._kept.clear()
                self.say(own.taken_back, Role.WARNING)
        self._tell_of_house(evening)
        if own.state != self._state_told:
            self._state_told = own.state
            if not own.is_racing:
                self._kept.clear()
                self.drop_question()
                self.say(self._ending(own), Role.TITLE)
        elif self._ended and self.query_one(MessageLine).text == self._ended:
            # somebody else has stopped meanwhile
            self.say(self._ending(own), Role.TITLE)

    def _tell_of_house(self, evening: SessionState) -> None:
        """What is the matter with the house, or with the way to it."""
        if evening.link is not self._link_told:
            self._link_told = evening.link
            if evening.link is LinkState.RECONNECTING:
                self.say("Connection lost; trying again. Your score is safe.", Role.WARNING)
            elif evening.link is LinkState.CONNECTED:
                self.say("Connected again; nothing is lost.")
        if evening.announcement and evening.announcement != self._announced:
            self.say(evening.announcement, Role.WARNING)
        self._announced = evening.announcement
        if len(evening.alarms) > self._alarms:
            self._alarms = len(evening.alarms)
            self.say(evening.alarms[-1], Role.ALARM)

    def _ending(self, own: OwnBoard) -> str:
        words = ENDINGS.get(own.state, "Your board is over: {banked} banked, net {net}.")
        said = words.format(banked=own.banked, net=dollars(own.net))
        others = [
            row
            for row in rows(self.evening.table_view)
            if row.state == "racing" and row.player != self.evening.player
        ]
        if others and self.evening.phase == "running":
            who = sanitised(others[0].name) if len(others) == 1 else str(len(others))
            said += f" {who} still racing."
        self._ended = said
        return said

    def _show_board(self) -> None:
        own = self.own
        card_style = self.program.appearance.card_style(own.game)
        seen = replace(NO_MARKS, labels=pile_keys(own.game).by_pile, find=self.finder.text)
        if own.may_move:
            lit = marks(own.game, own.shown, self.selection)
            seen = replace(seen, picked=lit.picked, targets=lit.targets, source_lit=lit.sources)
        self.query_one(BoardWidget).show(own.game, own.shown, seen, card_style)

    def _show_rivals(self) -> None:
        for name in ("#panel", "#meter", "#ticker"):
            self.query_one(name, CanvasView).redraw()

    # Keys

    def press(self, key: str) -> None:
        if self.finder.is_open or key == "/":
            self._find(key)
        elif key == "x":
            self.ask_to_cash_out()
        elif key == "p":
            self.toggle_class("-focus")
            self.say("The panel is hidden; p shows it." if self.has_class("-focus") else "")
        elif key == "c":
            chosen = self.program.other_suits(self.own.game)
            self.say(f"The suits have {chosen} colours now.")
            self._show_board()
        elif key in ("?", "q", "t"):
            super().press(key)
        else:
            self._press_hand(key)

    def _press_hand(self, key: str) -> None:
        """A key of the game itself; kept while a card is being turned up."""
        own = self.own
        if key == "escape" and self.finder.text:
            self._find(key)
        elif not own.is_racing:
            self.say(self._ending(own))
        elif own.is_cashing_out:
            self.say("Cashing out: nothing more is played.")
        elif own.may_move and not self._kept:
            self._do(press(own.game, own.shown, self.selection, key, self._card_name()))
        elif len(self._kept) < MOST_QUEUED:
            self._kept.append(key)
        else:
            self.say("The house has not answered yet; that key was not kept.", Role.WARNING)

    def _drain(self) -> None:
        """Play the keys that were kept, as far as the board allows."""
        if self._is_draining:
            return
        self._is_draining = True
        try:
            while self._kept and self.own.may_move:
                own, key = self.own, self._kept.popleft()
                self._do(press(own.game, own.shown, self.selection, key, self._card_name()))
        finally:
            self._is_draining = False

    def _card_name(self) -> CardName:
        return ascii_card_name if self.program.appearance.ascii else card_name

    def _do(self, result: InputResult) -> None:
        """What a key or a click has come to."""
        self.selection = result.selection
        self.say(result.says)
        if result.move is not None:
            try:
                self.visit.seat.play(result.move)
            except IllegalMove as illegal:
                self.say(str(illegal.refusal), Role.WARNING)
        self._show_board()
        self.show_lines()

    def _find(self, key: str) -> None:
        self.finder = self.finder.press(key)
        if self.finder.text:
            self.say(found_text(self.own.game, self.own.shown, self.finder.text, self._card_name()))
        else:
            self.say(PROMPT if self.finder.is_open else "Nothing is looked for any more.")
        self._show_board()

    # The mouse

    @on(BoardWidget.Clicked)
    def _clicked(self, event: BoardWidget.Clicked) -> None:
        own = self.own
        if self._may_point():
            kind = (
                Click.RIGHT
                if event.button == 3
                else Click.DOUBLE
                if event.chain > 1
                else Click.SINGLE
            )
            pile, count = event.spot.pile, event.count
            self._do(
                click(own.game, own.shown, self.selection, pile, count, kind, self._card_name())
            )

    @on(BoardWidget.Lifted)
    def _lifted(self, event: BoardWidget.Lifted) -> None:
        if self._may_point():
            lifted = replace(
                Selection(quick=self.selection.quick), picked=event.spot.pile, size=event.count
            )
            self.selection = lifted
            self._show_board()

    @on(BoardWidget.Missed)
    def _missed(self, event: BoardWidget.Missed) -> None:
        self._press_hand("escape")

    @on(BoardWidget.Dropped)
    def _dropped(self, event: BoardWidget.Dropped) -> None:
        own = self.own
        if self._may_point():
            source, target = event.source.pile, event.target.pile
            result = drop(own.game, own.shown, source, event.count, target, self._card_name())
            self._do(
                replace(result, selection=replace(result.selection, quick=self.selection.quick))
            )

    def _may_point(self) -> bool:
        """Whether a click means something now: the board may change while the house turns a card."""
        self.drop_question()
        if not self.own.is_racing:
            self.say(self._ending(self.own))
        elif not self.own.may_move:
            self.say("A card is being turned up: click when it is there.")
        return self.own.may_move

    # Endings

    def ask_to_cash_out(self) -> None:
        """The one question before the money is taken."""
        own = self.own
        if not own.is_racing:
            self.say(self._ending(own))
            return
        self.ask(
            f"Cash out with {own.banked} banked, net {dollars(own.net)}? Your race ends there.",
            y=("cash out", self._cash_out),
        )

    def _cash_out(self) -> None:
        self._kept.clear()
        self.say("Cashing out.")
        self.visit.do(self.visit.seat.cash_out())

    def ask_to_leave(self) -> None:
        own = self.own
        if own.is_racing:
            meaning = f"Your race ends with {own.banked} banked, and your seat is given up."
        else:
            meaning = f"Your score of {own.banked} stands; your seat is given up."
        self.ask(f"Leave? {meaning}", y=("leave", self.visit.leave))


def _aside(drawn: Canvas) -> Canvas:
    """Beside the table, with a column between."""
    canvas = Canvas(max(0, drawn.width) + 1, drawn.height)
    canvas.paste(drawn, 1, 0)
    return canvas
