"""A player at a table's screens, without a house: the test says what the house says.

The screens are the program's own, run by Textual without a terminal. What stands on them is read
from the cells that would be painted, widgets, colours and all.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from textual.pilot import Pilot
from textual.widget import Widget

from kit.screen_cells import painted_rows
from kit.session_states import CODE, START, YOU
from saratoga_client.net.connection import LinkState
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.own_board import OwnBoard, with_move, without
from saratoga_client.session.state import SessionState, confirm, link_changed, next_state
from saratoga_client.tui.app import SaratogaApp
from saratoga_client.tui.appearance import Appearance
from saratoga_client.tui.board_widget import BoardWidget
from saratoga_client.tui.table_flow import TableFlow
from saratoga_client.tui.table_screen import TableScreen
from saratoga_protocol.events import AnyEvent, BoardView
from saratoga_protocol.views import wire_view
from saratoga_rules.judge import play
from saratoga_rules.money import net
from saratoga_rules.moves import Move
from saratoga_rules.position import Position
from saratoga_rules.records.record import RaceRecord
from saratoga_rules.views import redact

INVITATION: Final = ("Race me at patience.", f"saratoga join ws://192.168.1.7:7470/{CODE}")
SENTENCE: Final = "The house says no."

SomeWidget = TypeVar("SomeWidget", bound=Widget)


class InventedSeat:
    """What drives a seat, moved along by the test; it keeps what was asked of it, as words."""

    def __init__(
        self, first: SessionState, position: Position | None, record: RaceRecord | None
    ) -> None:
        self.state: SessionState | None = first
        self.asked: list[str] = []
        self.time = START + 65_000
        self.position = position
        self.refuses = False
        """Whether what is asked of the house fails."""
        self._record = record
        self._told: Callable[[SessionState], None] = lambda evening: None
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def subscribe(self, observer: Callable[[SessionState], None]) -> Callable[[], None]:
        self._told = observer
        return lambda: None

    # What the test does

    def lay(self, evening: SessionState) -> None:
        self.state = evening
        self._told(evening)

    def hear(self, event: AnyEvent) -> None:
        """The house says something."""
        self.lay(next_state(self._now(), event, self.time))

    def link(self, state: LinkState) -> None:
        self.lay(link_changed(self._now(), state, self.time))

    def confirm(self, state: str = "racing") -> None:
        """The house makes the first move that is on its way; or ends the board."""
        own = self.own
        assert self.position is not None, "a test that moves says where the cards lie"
        count = own.count
        if own.in_flight:
            self.position = play(own.game, self.position, own.in_flight[0].move)
            count += 1
        if state != "racing":
            count += 1
        board = BoardView(
            race=own.race,
            count=count,
            view=wire_view(redact(self.position)),
            banked=self.position.banked,
            net=net(own.game, self.position.banked),
            state=state,
        )
        self.lay(confirm(self._now(), board))

    def refuse(self, reason: str) -> None:
        """The house refuses the first move that is on its way."""
        own = self.own
        refused = without(own, own.in_flight[0].ticket, reason)
        self.lay(replace(self._now(), own=refused))

    def lose(self, problem: Problem | None = None) -> None:
        """The seat is gone."""
        if problem is None:
            self._end.set_result(None)
        else:
            self._end.set_exception(problem)

    @property
    def own(self) -> OwnBoard:
        own = self._now().own
        assert own is not None
        return own

    def _now(self) -> SessionState:
        assert self.state is not None
        return self.state

    # What the screens ask for

    def now(self) -> int:
        return self.time

    async def attend(self) -> None:
        self.lay(self._now())
        await self._end

    def play(self, move: Move) -> bool:
        if not self.own.may_move:
            return False
        self.asked.append(str(move))
        self.lay(replace(self._now(), own=with_move(self.own, move)))
        return True

    async def cash_out(self) -> None:
        self._ask("cash out")

    async def record(self, race: str) -> RaceRecord:
        self._ask(f"record {race}")
        if self._record is None:
            raise Problem("There is no such record.", "", Exit.NOT_FOUND)
        return self._record

    async def ready(self) -> None:
        self._ask("ready")

    async def not_ready(self) -> None:
        self._ask("not ready")

    async def start(self) -> None:
        self._ask("start")

    async def next_race(self) -> None:
        self._ask("next race")

    async def change_settings(
        self,
        *,
        game: str | None = None,
        cap: int | None = None,
        seats: int | None = None,
        public: bool | None = None,
    ) -> None:
        chosen = {"game": game, "cap": cap, "seats": seats, "public": public}
        told = [f"{key} {value}" for key, value in chosen.items() if value is not None]
        self._ask(", ".join(told))

    async def kick(self, player: str) -> None:
        self._ask(f"kick {player}")

    async def leave(self) -> None:
        self._ask("leave")
        self.lose()

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.refuses:
            raise Problem(SENTENCE, "", Exit.REFUSED)


@dataclass
class Sitting:
    """A player before a screen."""

    app: SaratogaApp
    pilot: Pilot[int]
    seat: InventedSeat
    visit: TableFlow

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settled()

    async def hear(self, *told: AnyEvent) -> None:
        for event in told:
            self.seat.hear(event)
        await self.settled()

    async def settled(self) -> None:
        """Until the screens show what has come about."""
        for _ in range(3):
            await self.pilot.pause()

    @property
    def screen(self) -> TableScreen:
        """The table's own screen, covered or not."""
        shown = [screen for screen in self.app.screen_stack if isinstance(screen, TableScreen)]
        return shown[-1]

    @property
    def rows(self) -> list[str]:
        """The signs of every row, as they would be painted."""
        return ["".join(text for text, _ in row) for row in self.cells]

    @property
    def cells(self) -> list[list[tuple[str, str]]]:
        """Every row in pieces of one style."""
        rows = painted_rows(self.app.screen)
        return [[(piece.text, str(piece.style)) for piece in row] for row in rows]

    @property
    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows)

    def widget(self, kind: type[SomeWidget], selector: str = "") -> SomeWidget:
        if selector:
            return self.app.screen.query_one(selector, kind)
        return self.app.screen.query_one(kind)

    @property
    def board(self) -> BoardWidget:
        return self.widget(BoardWidget)

    def board_column(self, pile: str) -> str:
        """What is drawn at a pile and below it."""
        layout = self.board.layout_shown
        assert layout is not None
        columns = {
            (place.x, place.x + place.width) for place in layout.tiles if place.spot.pile == pile
        }
        left, right = min(columns)
        top = min(place.y for place in layout.tiles if place.spot.pile == pile)
        first = self.board.region.y + top
        return "\n".join(row[left:right] for row in self.rows[first:-2])

    def point(self, pile: str, index: int | None = None) -> tuple[int, int]:
        """A cell of a card, of the board's own."""
        layout = self.board.layout_shown
        assert layout is not None
        place = next(
            place
            for place in layout.tiles
            if place.spot.pile == pile and (index is None or place.spot.index == index)
        )
        return place.x + 1, place.y


@asynccontextmanager
async def sitting(
    first: SessionState,
    *,
    position: Position | None = None,
    record: RaceRecord | None = None,
    size: tuple[int, int] = (80, 24),
    appearance: Appearance = Appearance(),  # noqa: B008 - frozen
) -> AsyncIterator[Sitting]:
    """Sit down at a table that is as the evening says; `position` is where the cards really lie."""
    seat = InventedSeat(first, position, record)
    visits: list[TableFlow] = []

    async def stay(app: SaratogaApp) -> None:
        visits.append(TableFlow(app, seat, invitation=INVITATION))
        await visits[0].stay()

    app = SaratogaApp(stay, appearance)
    async with app.run_test(size=size) as pilot:
        at_table = Sitting(app, pilot, seat, None)  # type: ignore[arg-type]
        await at_table.settled()
        at_table.visit = visits[0]
        yield at_table


__all__ = ["INVITATION", "SENTENCE", "YOU", "InventedSeat", "Sitting", "sitting"]
