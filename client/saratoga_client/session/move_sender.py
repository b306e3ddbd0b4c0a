"""Moves carried to the house: sent at once, one behind the other, and followed until answered.

While all is well, moves are pipelined: each says how many moves come before it, those in flight
included. When the house stumbles (its store is away, it is about to stop), the moves that it could
not take are brought again one by one, each when it is its turn: the number of moves before it makes
sure that nothing is done twice.
"""

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import Final

from saratoga_client.net.backoff import Backoff
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import STALE_ID, CommandRefused
from saratoga_client.sanitised import sanitised
from saratoga_client.session.error_messages import DOUBTFUL
from saratoga_client.session.own_board import OwnBoard, place_of, without
from saratoga_client.session.state import confirm
from saratoga_client.session.state_store import StateStore
from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_protocol.events import BoardView, MoveMade

LOG: Final = logging.getLogger("saratoga.racing")

FOR_AS_LONG_AS_IT_TAKES: Final = 7200.0
"""Seconds: longer than a seat stays without a connection, so a move is never given up before it."""

MOST_FAULTS: Final = 3
"""Faults of the house's own over one move, or of its id, before it is given up."""


class MoveSender:
    """Carries the moves of one player."""

    def __init__(self, house: Connection, desk: StateStore, backoff: Backoff) -> None:
        self._house = house
        self._desk = desk
        self._backoff = backoff

    async def carry(self, race: str, ticket: int) -> None:
        """Carry a move in flight until the house has taken or refused it.

        Raises what ended the connection for good.
        """
        failures, is_doubtful = 0, False
        while (board := self._with_it(race, ticket)) is not None:
            place = place_of(board, ticket)
            assert place is not None, "it is in flight"
            after, move = board.count + place, board.in_flight[place].move
            try:
                made = await self._house.ask(
                    partial(MakeMove, race=race, after=after, move=str(move)),
                    MoveMade,
                    within=FOR_AS_LONG_AS_IT_TAKES,
                )
            except CommandRefused as no:
                failures += no.code in ("server_fault", STALE_ID)
                is_doubtful = is_doubtful or no.code in DOUBTFUL
                is_done = is_doubtful and _is_past(no, after)
                if is_done and no.board is not None:
                    self._confirm(no.board)
                elif failures < MOST_FAULTS and self._is_worth_another_try(race, ticket, after, no):
                    LOG.info("%s after %d is carried again: %s", move, after, no)
                    await self._turn_of(race, ticket)
                    await self._pause(no)
                else:
                    self._take_back(race, ticket, no)
            else:
                self._confirm(made.board)
                return

    async def cash_out(self, race: str) -> None:
        """Take the money when no move is in flight any more; raises `CommandRefused`.

        When it returns, the board has ended: so, or some other way before.
        """
        await self._desk.until(lambda: not self._flights(race))
        faults = 0
        while True:
            try:
                made = await self._house.ask(
                    partial(CashOut, race=race), MoveMade, within=FOR_AS_LONG_AS_IT_TAKES
                )
            except CommandRefused as no:
                if no.board is not None:
                    self._confirm(no.board)
                if no.code == "board_over":
                    return
                faults += no.code == "server_fault"
                if not no.retry or faults >= MOST_FAULTS:
                    raise
                LOG.info("cashing out of race %s is said again: %s", race, no)
                await self._pause(no)
            else:
                self._confirm(made.board)
                return

    def _is_worth_another_try(self, race: str, ticket: int, after: int, no: CommandRefused) -> bool:
        """Whether the move was refused for the moment, or only because of those around it."""
        if no.retry or no.code == STALE_ID:
            return True
        own = self._with_it(race, ticket)
        is_first = own is None or place_of(own, ticket) == 0
        is_early = no.board is not None and no.board.count < after
        return no.code == "stale_move" and is_early and not is_first

    async def _turn_of(self, race: str, ticket: int) -> None:
        """Wait until no other move is before this one, or this one is in flight no more."""

        def has_come() -> bool:
            own = self._with_it(race, ticket)
            return own is None or place_of(own, ticket) == 0

        await self._desk.until(has_come)

    async def _pause(self, no: CommandRefused) -> None:
        if no.retry:
            await asyncio.sleep(self._backoff.wait(2))

    def _with_it(self, race: str, ticket: int) -> OwnBoard | None:
        """One's board, if this move is in flight on it."""
        own = self._desk.own
        if own is None or own.race != race or place_of(own, ticket) is None:
            return None
        return own

    def _flights(self, race: str) -> bool:
        own = self._desk.own
        return own is not None and own.race == race and bool(own.in_flight)

    def _confirm(self, board: BoardView, is_final_word: bool = False) -> None:
        if self._desk.evening is not None:
            self._desk.lay(confirm(self._desk.evening, board, is_final_word))

    def _take_back(self, race: str, ticket: int, no: CommandRefused) -> None:
        own, evening = self._with_it(race, ticket), self._desk.evening
        if own is not None and evening is not None:
            LOG.info("taken back in race %s: %s", race, no)
            # out of step with the house, and nothing of ours before it: the house is right
            self._desk.lay(replace(evening, own=without(own, ticket, sanitised(no.message))))
        if no.board is not None:
            self._confirm(no.board, is_final_word=no.code == "stale_move" and own is not None)


def _is_past(no: CommandRefused, after: int) -> bool:
    return no.code == "stale_move" and no.board is not None and no.board.count > after
