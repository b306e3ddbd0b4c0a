"""A bot at a table: a player on the same session as a person, whose moves a function chooses."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from saratoga_client.bots.choose import Choice, Chooser
from saratoga_client.bots.memory import Memory, remember
from saratoga_client.bots.pace import human_pace, steady_pace
from saratoga_client.net.errors import DealSpent, RequestTimedOut
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.table_view import takes_ready
from saratoga_rules.position import View

LOG: Final = logging.getLogger("saratoga.bot")

HARMLESS_REFUSALS: Final = frozenset(
    {"wrong_phase", "wrong_commitment", "nobody_ready", "host_only", "ready_blocked"}
)
"""Codes of refusals that mean only that the table has changed; the next event says how."""

MOST_REFUSALS: Final = 10
"""Number of moves in a row that the server may refuse before the bot stops with an error."""

EXCUSED_VOIDS: Final = 5
"""The most countdowns, besides one for each race, that a player may have voided whom a host bot still allows."""


class Due(NamedTuple):
    """A command that is due at the table."""

    name: str
    occasion: str
    """What distinguishes this time from others: the command is sent once on each occasion."""
    send: Callable[[], Awaitable[None]]


class BotPlayer:
    """A bot that has entered its table with the session."""

    def __init__(
        self,
        session: TableSession,
        choose: Chooser,
        *,
        pace: float | None = None,
        variation: int = 0,
        races: int | None = None,
        starts_with: int | None = None,
    ) -> None:
        """Create the player; see `SeatedBot.play` for the arguments."""
        self._session = session
        self._choose = choose
        self._pace = human_pace if pace is None else steady_pace(pace)
        self._variation = variation
        self._races = races
        self._starts_with = starts_with
        self._sent: dict[str, str] = {}
        """The last occasion of each command."""
        self._racing = ""
        """The race that the bot plays or has played, until its result is known."""
        self._refusals = 0
        self.opening: View | None = None
        """The deal of the last race, as it was shown."""

    async def stay(self) -> None:
        """Race until the last race is over and checked. Raises the `Problem` that ends the session."""
        attending = asyncio.create_task(self._session.attend())
        racing = asyncio.create_task(self._race())
        try:
            await asyncio.wait((attending, racing), return_when=asyncio.FIRST_COMPLETED)
            if attending.done():
                attending.result()
            racing.result()
        except Problem as problem:
            state = self._session.state
            if state is None or not (reason := state.seat_lost):
                raise
            what = "The bot has lost its seat."
            raise Problem(what, reason, problem.code, said=problem.said) from problem
        finally:
            attending.cancel()
            racing.cancel()
            await asyncio.gather(attending, racing, return_exceptions=True)

    async def _race(self) -> None:
        """Act whenever something is due, until the last race is over and its record was checked."""
        over = 0
        while over != self._races:
            state = await self._session.until(self._may_act)
            if self._is_over(state):
                ended = state.table.previous
                is_void = ended is not None and ended.race == self._racing and bool(ended.reason)
                over, self._racing = over + (not is_void), ""
            elif state.own is not None and state.own.is_racing:
                await self._play(state.own)
            elif (due := self._due(state)) is not None:
                await self._send(due)
        await self._session.until(lambda _: not self._session.is_checking)

    def _may_act(self, state: SessionState) -> bool:
        is_racing = state.own is not None and state.own.is_racing
        return is_racing or self._is_over(state) or self._due(state) is not None

    def _is_over(self, state: SessionState) -> bool:
        """Test whether the result of the bot's race is known, or was and the table has gone on."""
        outcome = state.table_view.outcome
        is_known = outcome is not None and outcome.race == self._racing
        return is_known or (bool(self._racing) and state.table.race != self._racing)

    # Between races

    def _due(self, state: SessionState) -> Due | None:
        """Return the command that is due; a host bot with `starts_with` also runs the table."""
        found = self._of_host(state) if state.is_host and self._starts_with is not None else None
        seat, table = state.seat, state.table
        may_be_ready = seat is not None and not seat.ready and not seat.blocked
        if found is None and may_be_ready and takes_ready(table) and state.game is not None:
            found = Due("ready", table.commitment, self._session.ready)
        is_first = found is not None and self._sent.get(found.name) != found.occasion
        return found if is_first else None

    def _of_host(self, state: SessionState) -> Due | None:
        table, session = state.table, self._session
        if table.phase == "over" and state.table_view.outcome is not None:
            return Due("next", table.race, session.next_race)
        for seat in table.seats:
            occasion = str(seat.voids)
            is_asked = self._sent.get(f"allow {seat.player}") == occasion
            if seat.blocked and seat.voids <= EXCUSED_VOIDS + seat.races and not is_asked:
                allow = partial(session.allow_ready, seat.player)
                return Due(f"allow {seat.player}", occasion, allow)
        ready = sum(seat.ready and seat.connected for seat in table.seats)
        is_ready = state.seat is not None and state.seat.ready
        if table.phase == "gathering" and is_ready and ready >= (self._starts_with or 0):
            # a call may end without a race, so that the bot starts it again
            return Due("start", str(table.version), session.start)
        return None

    async def _send(self, due: Due) -> None:
        self._sent[due.name] = due.occasion
        try:
            await due.send()
        except Problem as problem:
            match problem.__cause__:
                case RequestTimedOut():
                    del self._sent[due.name]
                case DealSpent() as spent:
                    LOG.warning("the bot does not take part in this race: %s", spent)
                case _ if problem.refusal not in HARMLESS_REFUSALS and self._session.has_seat:
                    raise

    # The board

    async def _play(self, own: OwnBoard) -> None:
        """Play the board until it ends, or the table has another race."""
        race, memory = own.race, Memory(variation=self._variation)
        if self._racing != race:
            self._racing, self.opening = race, own.view

        def has_ended(state: SessionState) -> bool:
            return state.own is None or state.own.race != race or not state.own.is_racing

        def is_answered(state: SessionState) -> bool:
            return has_ended(state) or (state.own is not None and not state.own.in_flight)

        while (own_now := self._session.own) is not None and own_now.race == race:
            if not own_now.is_racing:
                return
            began = time.monotonic()
            choice, pause = await asyncio.to_thread(self._think, own_now, memory)
            with suppress(TimeoutError):
                async with asyncio.timeout(began + pause - time.monotonic()):
                    await self._session.until(has_ended)
                    return
            if choice.move is None:
                await self._session.cash_out()
                return
            if not self._session.play(choice.move):
                continue  # the board has changed
            state = await self._session.until(is_answered)
            memory = self._remembered(own_now, choice, state.own or own_now)

    def _think(self, own: OwnBoard, memory: Memory) -> tuple[Choice, float]:
        """Return the choice, and the seconds to wait before it is made."""
        choice = self._choose(own.game, own.view, memory)
        return choice, self._pace(own.game, own.view, memory, choice)

    def _remembered(self, before: OwnBoard, choice: Choice, after: OwnBoard) -> Memory:
        """Return the memory after a move; a bot whose move was refused drops its plan."""
        assert choice.move is not None, "cashing out is no move"
        if not after.taken_back:
            self._refusals = 0
            return remember(before.game, choice.memory, before.view, choice.move, after.view)
        self._refusals += 1
        if self._refusals > MOST_REFUSALS and after.is_racing:
            raise Problem("The server refuses the bot's moves.", after.taken_back, Exit.UNEXPECTED)
        return replace(choice.memory, plan=(), stock=())
