"""A person's seat at a table: the house's words become the evening, the player's deeds commands.

`attend` runs as long as the seat is there. The verbs raise `Problem` with what happened and what to
do; `play` never waits: what turns nothing up is shown at once, and taken back with the house's
reason if it is refused.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from saratoga_client.net.backoff import Backoff
from saratoga_client.net.connection import Answer, Connection, LinkState
from saratoga_client.net.errors import CommandRefused, DealSpent, UnexpectedAnswer
from saratoga_client.net.unanswered import Draft
from saratoga_client.problems import Exit, Problem
from saratoga_client.sanitised import sanitised
from saratoga_client.session.error_messages import CONNECTION_ERRORS, problem_for, seat_lost_problem
from saratoga_client.session.event_listener import EventListener
from saratoga_client.session.fairness import FairnessDuties
from saratoga_client.session.move_sender import MoveSender
from saratoga_client.session.own_board import with_move
from saratoga_client.session.record_keeper import RecordKeeper
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.session_tasks import SessionTasks
from saratoga_client.session.state import SessionState
from saratoga_client.session.state_store import StateStore, StateStoreClosed
from saratoga_client.session.witness import Witness
from saratoga_protocol import events
from saratoga_protocol.commands import (
    ChangeSettings,
    CreateTable,
    GetRecord,
    JoinTable,
    Kick,
    LeaveTable,
    NextRace,
    Start,
    UnwatchTable,
    WatchTable,
)
from saratoga_protocol.events import AnyEvent
from saratoga_rules.moves import Move
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import RaceRecord, parse_record

GOODBYE: Final = 5.0
"""Seconds that a house which is away is given to hear that somebody leaves."""

Said = TypeVar("Said")


class TableSession:
    """A player at one table, or a watcher beside it."""

    def __init__(
        self,
        house: Connection,
        *,
        witness: Witness | None = None,
        keepsakes: RecordStore | None = None,
        on_change: Callable[[SessionState], None] = lambda evening: None,
        backoff: Backoff = Backoff(),  # noqa: B008 - frozen
    ) -> None:
        """`on_change` is told of every change, in the loop that runs `attend`."""
        witness = Witness() if witness is None else witness
        keepsakes = RecordStore() if keepsakes is None else keepsakes
        self._house = house
        self._desk = StateStore(on_change)
        self._chores = SessionTasks(self._in_words)
        self._courier = MoveSender(house, self._desk, backoff)
        self._registrar = RecordKeeper(self._desk, keepsakes, witness)
        self._seat = FairnessDuties(house, witness, self._registrar.raise_alarm)
        self._listener = EventListener(house, self._desk, self._seat, self._registrar, self._chores)
        self._is_watching = False
        self._has_left = False

    @property
    def evening(self) -> SessionState | None:
        """`None` before the house has shown the table."""
        return self._desk.evening

    def subscribe(self, observer: Callable[[SessionState], None]) -> Callable[[], None]:
        """Call `observer` after every change of the state; return a function that ends this."""
        return self._desk.subscribe(observer)

    def now(self) -> int:
        """Milliseconds by the house's clock: for everything of an evening that asks for `now`."""
        return self._house.now()

    # Coming and staying

    async def open_table(
        self, game: str, *, cap: int = 10, seats: int = 16, public: bool = False
    ) -> events.Table:
        """Create a table and sit down as its host; return the table."""
        return await self._sit(partial(CreateTable, game=game, cap=cap, seats=seats, public=public))

    async def sit_down(self, code: str) -> events.Table:
        """Take a seat, or resume one's own; return the table."""
        return await self._sit(partial(JoinTable, table=code))

    async def watch(self, code: str) -> events.Table:
        """Follow the table without a seat; return the table."""
        self._is_watching = True
        return await self._sit(partial(WatchTable, table=code))

    async def attend(self) -> None:
        """Follow the table until the player leaves it; raises `Problem` if the seat is lost.

        The seat, or the place beside the table, is taken before or meanwhile.
        """
        self._chores.open()
        forget = self._house.subscribe(self._listener.turn)
        self._listener.turn(self._house.state)
        self._chores.begin(self._follow())
        self._chores.begin(self._listener.measure())
        try:
            await self._chores.until_the_end()
        finally:
            forget()
            self._desk.close()
            await self._chores.stop()

    async def until(self, holds: Callable[[SessionState], bool]) -> SessionState:
        """Wait until the evening is so."""
        await self._say(self._desk.until(lambda: self.evening is not None and holds(self.evening)))
        assert self.evening is not None
        return self.evening

    # The race

    def play(self, move: Move) -> bool:
        """Make a move; `False` where none can be made now: the board waits, or has ended.

        Raises `IllegalMove`, with a sentence for the player.
        """
        evening, own = self.evening, self._desk.own
        if evening is None or own is None or not own.may_move:
            return False
        own = with_move(own, move)
        self._desk.lay(replace(evening, own=own))
        self._chores.begin(self._courier.carry(own.race, own.in_flight[-1].ticket))
        return True

    async def cash_out(self) -> None:
        """End the board and keep what is banked, once all moves before it are made."""
        own = self._desk.own
        if own is None or not own.is_racing or own.is_cashing_out:
            return
        self._mark_cashing_out(True)
        try:
            await self._say(self._desk.until(lambda: not self._is_carrying()))
            now = self._desk.own
            if now is None or now.race != own.race or not now.is_racing:
                return
            if now.taken_back:
                raise Problem(
                    f"Not cashed out: {now.taken_back}",
                    "Look at the board, and cash out again if you still want to.",
                    Exit.REFUSED,
                )
            await self._say(self._courier.cash_out(own.race))
        finally:
            self._mark_cashing_out(False)

    async def record(self, race: str) -> RaceRecord:
        """The record of a finished race: as kept here, or asked from the house."""
        text = self._registrar.kept(race)
        return await self._say(self._record_of(race)) if text is None else parse_record(text)

    async def _record_of(self, race: str) -> RaceRecord:
        try:
            told = await self._house.ask(partial(GetRecord, race=race), events.Record)
            record = parse_record(told.text)
        except (RecordError, UnexpectedAnswer) as fault:
            raise Problem(
                f"What the house gave as the record of race {race} cannot be read: {fault}.",
                "The result stands as it was announced. Tell whoever runs the house.",
                Exit.NOT_VERIFIED,
            ) from fault
        await self._registrar.file(race, told.text)
        return record

    # The table

    async def ready(self) -> None:
        """Say ready for the coming race, with a nonce of one's own."""
        if self.evening is not None and self.evening.game is None:
            game = sanitised(self.evening.table.settings.game)
            raise Problem(
                f"This program does not know the game {game}, so you could not play it.",
                "Bring it up to date: pip install --upgrade saratoga. Or watch this race.",
                Exit.TOO_OLD,
            )
        # the seat sees what the evening shows already: its chore was begun, and comes first
        await asyncio.sleep(0)
        try:
            await self._say(self._seat.ready())
        except DealSpent as spent:
            raise Problem(
                "The house gathers again for a deal whose nonces are known already.",
                "That is not fair, so you are not made ready. Ask the host to change a setting.",
                Exit.REFUSED,
            ) from spent

    async def not_ready(self) -> None:
        """Take the ready mark back."""
        await self._say(self._seat.not_ready())

    async def start(self) -> None:
        """Host: start the countdown with all who are ready."""
        await self._request(partial(Start, table=self._code))

    async def next_race(self) -> None:
        """Host: gather for the next race."""
        await self._request(partial(NextRace, table=self._code))

    async def change_settings(
        self,
        *,
        game: str | None = None,
        cap: int | None = None,
        seats: int | None = None,
        public: bool | None = None,
    ) -> None:
        """Host: change what is given; everyone says ready again."""
        await self._request(
            partial(
                ChangeSettings, table=self._code, game=game, cap=cap, seats=seats, public=public
            )
        )

    async def kick(self, player: str) -> None:
        """Host: send somebody away for good."""
        await self._request(partial(Kick, table=self._code, player=player))

    async def leave(self) -> None:
        """Give up the seat, and in a running race the race; `attend` returns then.

        A watcher goes without ado.
        """
        self._has_left = True
        is_away = self._house.state is not LinkState.CONNECTED
        try:
            await self._house.request(self._farewell(), GOODBYE if is_away else None)
        except CONNECTION_ERRORS as trouble:
            if not self._is_watching:
                self._has_left = False
                raise self._not_told(trouble) from trouble
        self._chores.finish()

    def _farewell(self) -> Draft:
        if self._is_watching:
            return partial(UnwatchTable, table=self._code)
        return partial(LeaveTable, table=self._code)

    def _not_told(self, trouble: Exception) -> Problem:
        if isinstance(trouble, CommandRefused):
            return self._in_words(trouble)
        return Problem(
            "The house is away and could not be told that you leave.",
            "Try again when it is back, or just go: a minute after the connection was lost it gives"
            " your seat up by itself. What you have banked counts.",
            Exit.UNREACHABLE,
        )

    # Saying

    @property
    def _code(self) -> str:
        assert self.evening is not None, "no table has been seen"
        return self.evening.table.code

    async def _sit(self, draft: Draft) -> events.Table:
        return (await self._ask(draft, events.Snapshot)).table

    async def _request(self, draft: Draft) -> AnyEvent:
        return await self._say(self._house.request(draft))

    async def _ask(self, draft: Draft, kind: type[Answer]) -> Answer:
        return await self._say(self._house.ask(draft, kind))

    async def _say(self, saying: Awaitable[Said]) -> Said:
        try:
            return await saying
        except (*CONNECTION_ERRORS, StateStoreClosed) as trouble:
            raise self._in_words(trouble) from trouble

    def _in_words(self, trouble: Exception) -> Problem:
        return problem_for(self._house.url, trouble)

    async def _follow(self) -> None:
        """Hear the house out; losing the seat one has just given up is no trouble."""
        await self._listener.follow(
            lambda evening: self._chores.finish(
                None if self._has_left else seat_lost_problem(evening, self._is_watching)
            )
        )
        self._chores.finish()

    def _is_carrying(self) -> bool:
        own = self._desk.own
        return own is not None and bool(own.in_flight)

    def _mark_cashing_out(self, is_so: bool) -> None:
        evening, own = self.evening, self._desk.own
        if evening is not None and own is not None and own.is_cashing_out != is_so:
            word = "" if is_so else own.taken_back
            own = replace(own, is_cashing_out=is_so and own.is_racing, taken_back=word)
            self._desk.lay(replace(evening, own=own))
