"""A player at a table, in lines: orders are carried out one after another, news are said at once.

An order is answered before the next one is read, so a script may write them down one below the
other. Only where a person types, and while the connection is lost or they wait for something, are
those that need no house answered out of turn.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from functools import partial
from typing import Final

from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused, RequestTimedOut, ServerClosed, Unreachable
from saratoga_client.net.link_state import LinkState
from saratoga_client.plain.commands import Deeds
from saratoga_client.plain.event_lines import Manner, changes, opening
from saratoga_client.plain.grammar import Said, Where
from saratoga_client.plain.position import money_words
from saratoga_client.plain.session import Parting, Talk, open_talk
from saratoga_client.plain.standings_rate import Told, telling
from saratoga_client.session.invitation import Destination, join_command
from saratoga_client.session.join import TableWanted
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness
from saratoga_protocol.commands import UnwatchTable

GOODBYE: Final = 2.0
"""Seconds for a last word to the house."""

KEPT_FOR: Final = 60
"""Seconds for which the house keeps the seat of a racer who has hung up."""


class Place(Enum):
    """How one comes to a table whose code one has."""

    SEAT = auto()
    BESIDE = auto()
    """Watching."""


async def play_table(
    house: Connection,
    table: str | TableWanted,
    *,
    place: Place = Place.SEAT,
    talk: Talk | None = None,
    witness: Witness | None = None,
    keepsakes: RecordStore | None = None,
) -> Parting:
    """Sit down (or stand) at a table, or open one, and stay until one goes. Raises `Problem`."""
    side = Tableside(talk or open_talk(), place)
    side.seated = TableSession(house, witness=witness, keepsakes=keepsakes, on_change=side.turn)
    match table:
        case TableWanted():
            await side.seated.open_table(
                table.game, cap=table.cap, seats=table.seats, public=table.public
            )
        case str() if place is Place.SEAT:
            await side.seated.sit_down(table)
        case str():
            await side.seated.watch(table)
    try:
        return await side.stay()
    finally:
        if place is Place.BESIDE and house.state is LinkState.CONNECTED:
            await stop_watching(house, str(table))


async def stop_watching(house: Connection, code: str) -> None:
    """Tell the house that nobody watches any more; if it cannot be told, it does not matter."""
    with suppress(CommandRefused, RequestTimedOut, ServerClosed, Unreachable):
        await house.request(partial(UnwatchTable, table=code), within=GOODBYE)


class Tableside:
    """Somebody at a table, and the talk with them."""

    seated: TableSession

    def __init__(self, talk: Talk, place: Place = Place.SEAT) -> None:
        self._talk = talk
        self._where = Where.TABLE if place is Place.SEAT else Where.BESIDE
        self._evening: SessionState | None = None
        self._news = asyncio.Event()
        self._orders: asyncio.Queue[Said] = asyncio.Queue()
        self._open_orders = 0
        self._deeds: Deeds | None = None
        self._told = Told()
        self._later: asyncio.TimerHandle | None = None

    def turn(self, evening: SessionState) -> None:
        """The evening has changed: say what is new."""
        manner = Manner(self._talk.tongue, self._talk.is_verbose)
        now = self.seated.now()
        if self._evening is None:
            self._talk.voice.say_all(opening(evening, manner, now))
        elif self._deeds is None or not self._deeds.is_leaving:
            self._talk.voice.say_all(changes(self._evening, evening, manner, now))
        self._evening = evening
        self._tell_standings()
        self._news.set()

    def _tell_standings(self) -> None:
        """Say what is new in the standings, now or when it is time."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self._evening is None or (self._deeds is not None and self._deeds.is_leaving):
            return
        now, is_verbose = self.seated.now(), self._talk.is_verbose
        self._told, lines, wait = telling(self._told, self._evening, now, is_verbose=is_verbose)
        self._talk.voice.say_all(lines)
        if wait is not None:
            self._later = asyncio.get_running_loop().call_later(wait / 1000, self._tell_standings)

    async def stay(self) -> Parting:
        """Attend the table and carry out orders, until either ends."""
        attending = asyncio.create_task(self.seated.attend(), name="attending")
        talking = asyncio.create_task(self._talk_on(), name="talking")
        working = asyncio.create_task(self._work(), name="orders")
        tasks = (attending, talking, working)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if talking.done() and not attending.done():
                return talking.result()
            if working.done() and not attending.done():
                working.result()
            await attending
            return Parting.LEFT
        finally:
            if self._later is not None:
                self._later.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # Orders

    async def _talk_on(self) -> Parting:
        await self._until(lambda: self._evening is not None)
        self._deeds = Deeds(self._talk, self.seated, self._where)
        while True:
            said = await self._talk.order(self._where)
            if said is None:
                return await self._after_the_last_line()
            if said.order is not None and said.order.name == "quit":
                self._say_goodbye("quit")
                return Parting.QUIT
            if said.order is not None and said.order.is_quick:
                await self._deeds.do(said)
                continue
            self._open_orders += 1
            self._orders.put_nowait(said)
            await self._until(self._may_go_on)
            if self._deeds.has_left:
                return Parting.LEFT

    def _may_go_on(self) -> bool:
        """Whether the next line may be read: all is done, or somebody types and it will take long."""
        if self._talk.voice.is_typed and (self._is_away or self._is_waiting):
            return True
        return not self._open_orders

    @property
    def _is_away(self) -> bool:
        return self._evening is not None and self._evening.link is not LinkState.CONNECTED

    @property
    def _is_waiting(self) -> bool:
        return self._deeds is not None and self._deeds.is_waiting

    async def _work(self) -> None:
        while True:
            said = await self._orders.get()
            assert self._deeds is not None, "orders are read when the table is there"
            work = asyncio.create_task(self._deeds.do(said))
            # whether the deed waits is known after its first step
            await asyncio.sleep(0)
            self._news.set()
            await work
            self._open_orders -= 1
            self._news.set()

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._news.clear()
            await self._news.wait()

    # Going

    async def _after_the_last_line(self) -> Parting:
        """There will be no more orders: a board still raced stays as it is, every other seat is left.

        Nothing is cashed out that nobody has cashed out.
        """
        assert self._deeds is not None, "lines are read when the table is there"
        await self._until(lambda: not self._open_orders)
        await self._until(lambda: self._phase != "countdown" or not self._is_racer)
        own = None if self._evening is None else self._evening.own
        if self._where is Where.TABLE and not (own is not None and own.is_racing):
            await self._until(lambda: self._phase != "running" or not self._is_racer)
            self._talk.voice.say("input: there are no more lines")
            await self._deeds.leave()
        else:
            self._say_goodbye("input: there are no more lines")
        return Parting.INPUT_ENDED

    @property
    def _phase(self) -> str:
        return "" if self._evening is None else self._evening.phase

    @property
    def _is_racer(self) -> bool:
        evening = self._evening
        return evening is not None and evening.player in evening.table.racers

    def _say_goodbye(self, why: str) -> None:
        """Say what becomes of the seat."""
        evening = self._evening
        if evening is None or self._where is Where.BESIDE:
            self._talk.voice.say(f"{why}: you watch no longer")
            return
        own = evening.own
        board = ""
        if own is not None and own.is_racing:
            board = f" your board stays as it is, {money_words(own.game, own.view)};"
        self._talk.voice.say(
            f"{why}:{board} your seat is kept for {KEPT_FOR} seconds: "
            f"{join_command(Destination(evening.table.code))}"
        )
