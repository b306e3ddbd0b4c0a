"""A person's seat at a table: the house's words become the evening, the player's deeds commands.

`attend` runs as long as the seat is there. The verbs raise `Problem` with what happened and what to
do; `play` never waits: what turns nothing up is shown at once, and taken back with the house's
reason if it is refused.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeVar

from saratoga_client.backoff import Backoff
from saratoga_client.connection import Answer, Connection, LinkState
from saratoga_client.pending import Draft
from saratoga_client.problems import Exit, Problem
from saratoga_client.proof import prove
from saratoga_client.racing.bests import best_in
from saratoga_client.racing.courier import Courier
from saratoga_client.racing.desk import Desk, DeskClosed
from saratoga_client.racing.evening import (
    Evening,
    Verification,
    begin,
    confirm,
    follow,
    link_changed,
)
from saratoga_client.racing.keepsakes import Keepsakes
from saratoga_client.racing.own_board import with_move
from saratoga_client.racing.partings import seat_gone, trouble_in_words
from saratoga_client.seat import Seat
from saratoga_client.shown import shown
from saratoga_client.trouble import (
    DealSpent,
    HouseClosed,
    Hung,
    Refused,
    Unanswered,
    UnexpectedAnswer,
    Unreachable,
)
from saratoga_client.witness import Witness
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
    WatchTable,
)
from saratoga_protocol.events import AnyEvent
from saratoga_rules.moves import Move
from saratoga_rules.record import RaceRecord, parse_record

LOG: Final = logging.getLogger("saratoga.racing")

TROUBLES: Final = (Refused, Unanswered, HouseClosed, Unreachable, UnexpectedAnswer, Hung)
"""All that can come between a player and the house."""

SEEN_BY_THE_SEAT: Final = (
    events.Snapshot,
    events.TableChanged,
    events.Dealt,
    events.RaceOver,
)
"""The events by which a seat does its duty."""

MEASURE_EVERY: Final = 1.0
"""Seconds between two looks at how long the way to the house is."""

Said = TypeVar("Said")


class Seated:
    """A player at one table, or a watcher beside it."""

    def __init__(
        self,
        house: Connection,
        *,
        witness: Witness | None = None,
        keepsakes: Keepsakes | None = None,
        on_change: Callable[[Evening], None] = lambda evening: None,
        backoff: Backoff = Backoff(),  # noqa: B008 - frozen
    ) -> None:
        """`on_change` is told of every change, in the loop that runs `attend`."""
        self._house = house
        self._witness = Witness() if witness is None else witness
        self._keepsakes = Keepsakes() if keepsakes is None else keepsakes
        self._desk = Desk(on_change)
        self._courier = Courier(house, self._desk, backoff)
        self._seat = Seat(house, self._witness, self._raise_alarm)
        self._tasks: set[asyncio.Task[None]] = set()
        self._end: asyncio.Future[None] | None = None
        """Done when there is nothing more to attend to; carries what went wrong."""
        self._has_left = False

    @property
    def evening(self) -> Evening | None:
        """`None` before the house has shown the table."""
        return self._desk.evening

    @property
    def on_change(self) -> Callable[[Evening], None]:
        """Told of every change; may be set."""
        return self._desk.on_change

    @on_change.setter
    def on_change(self, tell: Callable[[Evening], None]) -> None:
        self._desk.on_change = tell

    def now(self) -> int:
        """Milliseconds by the house's clock: for everything of an evening that asks for `now`."""
        return self._house.now()

    # Coming and staying

    async def open_table(
        self, game: str, *, cap: int = 10, seats: int = 16, public: bool = False
    ) -> str:
        """Open a table, and sit down as its host; returns its code."""
        return await self._sit(partial(CreateTable, game=game, cap=cap, seats=seats, public=public))

    async def sit_down(self, code: str) -> str:
        """Take a seat, or one's old seat again; returns the table's code."""
        return await self._sit(partial(JoinTable, table=code))

    async def watch(self, code: str) -> str:
        """Follow the table without a seat; returns its code."""
        return await self._sit(partial(WatchTable, table=code))

    async def attend(self) -> None:
        """Follow the table until the player leaves it; raises `Problem` if the seat is lost.

        The seat, or the place beside the table, is taken before or meanwhile.
        """
        self._end = asyncio.get_running_loop().create_future()
        forget = self._house.on_turn(self._turn)
        self._turn(self._house.state)
        self._begin(self._follow())
        self._begin(self._measure())
        try:
            await self._end
        finally:
            forget()
            self._desk.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def until(self, holds: Callable[[Evening], bool]) -> Evening:
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
        self._begin(self._courier.carry(own.race, own.in_flight[-1].ticket))
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
            made = await self._say(self._courier.cash_out(own.race))
            if self.evening is not None:
                self._desk.lay(confirm(self.evening, made.board))
        finally:
            self._mark_cashing_out(False)

    async def record(self, race: str) -> RaceRecord:
        """The record of a finished race: as kept here, or asked from the house."""
        text = self._keepsakes.text(race)
        if text is None:
            told = await self._ask(partial(GetRecord, race=race), events.Record)
            text = told.text
            self._keep(text)
        return parse_record(text)

    # The table

    async def ready(self) -> None:
        """Say ready for the coming race, with a nonce of one's own."""
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
        """Give up the seat, and in a running race the race; `attend` returns then."""
        self._has_left = True
        try:
            await self._request(partial(LeaveTable, table=self._code))
        except Problem:
            self._has_left = False
            raise
        self._finish()

    # Saying

    @property
    def _code(self) -> str:
        assert self.evening is not None, "no table has been seen"
        return self.evening.table.code

    async def _sit(self, draft: Draft) -> str:
        snapshot = await self._ask(draft, events.Snapshot)
        return snapshot.table.code

    async def _request(self, draft: Draft) -> AnyEvent:
        return await self._say(self._house.request(draft))

    async def _ask(self, draft: Draft, kind: type[Answer]) -> Answer:
        return await self._say(self._house.ask(draft, kind))

    async def _say(self, saying: Awaitable[Said]) -> Said:
        try:
            return await saying
        except (*TROUBLES, DeskClosed) as trouble:
            raise trouble_in_words(self._house.url, trouble) from trouble

    def _is_carrying(self) -> bool:
        own = self._desk.own
        return own is not None and bool(own.in_flight)

    def _mark_cashing_out(self, is_so: bool) -> None:
        evening, own = self.evening, self._desk.own
        if evening is not None and own is not None and own.is_cashing_out != is_so:
            word = "" if is_so else own.taken_back
            own = replace(own, is_cashing_out=is_so and own.is_racing, taken_back=word)
            self._desk.lay(replace(evening, own=own))

    # Hearing

    def _begin(self, doing: Coroutine[Any, Any, None]) -> None:
        """Do something beside everything else; what goes wrong ends `attend`."""
        task = asyncio.get_running_loop().create_task(self._guarded(doing))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, doing: Coroutine[Any, Any, None]) -> None:
        try:
            await doing
        except TROUBLES as trouble:
            self._finish(trouble_in_words(self._house.url, trouble))
        except Exception as fault:
            LOG.exception("a fault while attending the table")
            self._finish(fault)

    def _finish(self, trouble: Exception | None = None) -> None:
        if self._end is None or self._end.done():
            return
        if trouble is None or self._has_left:
            self._end.set_result(None)
        else:
            self._end.set_exception(trouble)

    async def _follow(self) -> None:
        async for event in self._house.events():
            self._hear(event)
            evening = self.evening
            if evening is not None and (evening.gone or evening.phase == "closed"):
                self._finish(seat_gone(evening))
                return
        self._finish()

    def _hear(self, event: AnyEvent) -> None:
        evening = self.evening
        if evening is None:
            if not isinstance(event, events.Snapshot):
                return
            evening = begin(self._house.welcome.player, event)
            evening = replace(evening, link=self._house.state)
        elif isinstance(event, events.Snapshot) and event.table.code != evening.table.code:
            return
        else:
            evening = follow(evening, event, self._house.now())
        # tasks begin in the order in which they are made: the seat has seen the event before
        # anybody who is told of it acts on it
        if isinstance(event, SEEN_BY_THE_SEAT):
            self._begin(self._do_duty(event))
        self._desk.lay(self._with_best(evening))

    def _turn(self, state: LinkState) -> None:
        if self.evening is not None:
            self._desk.lay(link_changed(self.evening, state, self._house.now()))

    async def _measure(self) -> None:
        while True:
            journey = self._house.journey
            millis = None if journey is None else round(journey * 1000)
            evening = self.evening
            if evening is not None and evening.journey_ms != millis:
                self._desk.lay(replace(evening, journey_ms=millis))
            await asyncio.sleep(MEASURE_EVERY)

    # Duties by the deal, and what remains of a race

    async def _do_duty(self, event: AnyEvent) -> None:
        await self._seat.hear(event)
        outcome = None
        if isinstance(event, events.Snapshot | events.RaceOver):
            outcome = event.outcome
        record = self._seat.record
        if outcome is None or record is None or record.race != outcome.race:
            return
        if self.evening is None or outcome.race in self.evening.verifications:
            return
        self._keep(record.text)
        await self._verify(record)

    def _keep(self, text: str) -> None:
        """Keep a record, and see whether it holds a best of one's own."""
        evening = self.evening
        try:
            if self._keepsakes.keep(text) is None or evening is None:
                return
            done = best_in(parse_record(text), evening.player)
            if done is not None and self._keepsakes.note(done, evening.player):
                is_this_race = done.race == evening.table.race
                self._desk.lay(replace(evening, best=done, is_new_best=is_this_race))
        except OSError as error:
            LOG.warning("the record is not kept: %s", error)

    async def _verify(self, record: events.Record) -> None:
        sighting = self._witness.load(record.race)
        proof = await asyncio.to_thread(
            prove, record.text.encode("ascii", "replace"), record.race, sighting
        )
        ok, sentence = proof.ok, proof.sentence
        if not ok:
            faults = [check.detail for check in proof.checks if not check.ok]
            sentence = f"{sentence} {'; '.join(faults)}"
        self._lay_verification(record.race, Verification(ok, shown(sentence)))

    def _lay_verification(self, race: str, found: Verification) -> None:
        evening = self.evening
        if evening is not None:
            known = MappingProxyType({**evening.verifications, race: found})
            self._desk.lay(replace(evening, verifications=known))

    def _with_best(self, evening: Evening) -> Evening:
        game = evening.table.settings.game
        if evening.best is not None and evening.best.game == game:
            return evening
        if self.evening is not None and self.evening.table.settings.game == game:
            return evening
        return replace(evening, best=self._keepsakes.best(game, evening.player))

    def _raise_alarm(self, race: str, disagreements: tuple[str, ...]) -> None:
        LOG.error("the house's words on race %s do not agree: %s", race, "; ".join(disagreements))
        evening = self.evening
        if evening is not None:
            fresh = tuple(shown(f"Race {race}: {sentence}.") for sentence in disagreements)
            self._desk.lay(replace(evening, alarms=(*evening.alarms, *fresh)))
