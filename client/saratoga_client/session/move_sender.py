"""Send the player's moves to the server in order, and handle the answer to each.

Moves are pipelined: each states the number of moves before it, those in flight included. After a
temporary failure of the server (its store is unavailable, or it is about to restart) the refused
moves are sent again one by one. The stated number lets the server make each move only once.
"""

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import Final

from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import CommandRefused
from saratoga_client.net.timing import Backoff
from saratoga_client.problems import Exit, Problem
from saratoga_client.session.own_board import OwnBoard, place_of, without
from saratoga_client.session.state import confirm
from saratoga_client.session.state_store import StateStore
from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_protocol.events import BoardChanged, BoardView

LOG: Final = logging.getLogger("saratoga.racing")

MOVE_TIMEOUT: Final = 7200.0
"""Seconds to wait for the answer to a move; longer than a disconnected player keeps the seat."""

MAX_FAULTS: Final = 3
"""Number of refusals, for a server fault, after which a move is taken back."""


class MoveSender:
    """A sender that keeps the order of one player's moves and retries them."""

    def __init__(self, connection: Connection, store: StateStore, backoff: Backoff) -> None:
        self._connection = connection
        self._store = store
        self._backoff = backoff

    async def send(self, race: str, ticket: int) -> None:
        """Send a move in flight until it is confirmed or refused; retry after temporary failures.

        Raises the error that ended the connection, if one did.
        """
        faults = 0
        while (board := self._board_with(race, ticket)) is not None:
            place = place_of(board, ticket)
            assert place is not None, "the move is in flight"
            after, move = board.count + place, board.in_flight[place].move
            try:
                made = await self._connection.ask(
                    partial(MakeMove, race=race, after=after, move=str(move)),
                    BoardChanged,
                    within=MOVE_TIMEOUT,
                )
            except CommandRefused as refusal:
                faults += refusal.code == "server_fault"
                if faults < MAX_FAULTS and self._may_retry(race, ticket, after, refusal):
                    LOG.info("sending move %s after %d again: %s", move, after, refusal)
                    await self._until_first_in_flight(race, ticket)
                    await self._pause(refusal)
                else:
                    self._take_back(race, ticket, refusal)
            else:
                self._confirm(made.board)
                return

    async def cash_out(self) -> None:
        """End the board and keep the banked cards, after all moves in flight are answered.

        Does nothing without a racing board. Raises `Problem` if a move was taken back, or an error
        of `Connection.request`.
        """
        own = self._store.own
        if own is None or not own.is_racing or own.is_cashing_out:
            return
        self._mark(True)
        try:
            await self._store.until(lambda: not (self._store.own and self._store.own.in_flight))
            now = self._store.own
            if now is None or now.race != own.race or not now.is_racing:
                return
            if now.taken_back:
                raise Problem(
                    f"Not cashed out: {now.taken_back}",
                    "Look at the board, and cash out again if you still want to.",
                    Exit.REFUSED,
                )
            await self._send_cash_out(own.race)
        finally:
            self._mark(False)

    async def _send_cash_out(self, race: str) -> None:
        """Cash out. When the method returns, the board has ended, by this command or for an earlier reason."""
        faults = 0
        while True:
            own = self._store.own
            after = own.count if own is not None and own.race == race else None
            ask = partial(CashOut, race=race, after=after)
            try:
                made = await self._connection.ask(ask, BoardChanged, within=MOVE_TIMEOUT)
            except CommandRefused as refusal:
                if refusal.board is not None:
                    self._confirm(refusal.board)
                if refusal.code == "board_over":
                    return
                # another device may have moved: what is on the board now is cashed out
                faults += refusal.code in ("server_fault", "stale_move")
                may_retry = refusal.retry or refusal.code == "stale_move"
                if not may_retry or faults >= MAX_FAULTS:
                    raise
                LOG.info("cashing out of race %s again: %s", race, refusal)
                await self._pause(refusal)
            else:
                self._confirm(made.board)
                return

    def _mark(self, is_cashing_out: bool) -> None:
        """Show in the state that the board is being cashed out, or no longer."""
        state, own = self._store.state, self._store.own
        if state is not None and own is not None and own.is_cashing_out != is_cashing_out:
            reason = "" if is_cashing_out else own.taken_back
            own = replace(own, is_cashing_out=is_cashing_out and own.is_racing, taken_back=reason)
            self._store.replace(replace(state, own=own))

    def _may_retry(self, race: str, ticket: int, after: int, refusal: CommandRefused) -> bool:
        """Test whether a refused move may be sent again.

        It may after a temporary failure, and after the refusal of an earlier move in flight.
        """
        if refusal.retry:
            return True
        own = self._board_with(race, ticket)
        is_first = own is None or place_of(own, ticket) == 0
        is_early = refusal.board is not None and refusal.board.count < after
        return refusal.code == "stale_move" and is_early and not is_first

    async def _until_first_in_flight(self, race: str, ticket: int) -> None:
        """Wait until a move is the first one in flight, or no longer in flight."""

        def is_first_or_gone() -> bool:
            own = self._board_with(race, ticket)
            return own is None or place_of(own, ticket) == 0

        await self._store.until(is_first_or_gone)

    async def _pause(self, refusal: CommandRefused) -> None:
        if refusal.retry:
            await asyncio.sleep(self._backoff.wait(2))

    def _board_with(self, race: str, ticket: int) -> OwnBoard | None:
        """Return the player's board if the move of this ticket is in flight on it."""
        own = self._store.own
        if own is None or own.race != race or place_of(own, ticket) is None:
            return None
        return own

    def _confirm(self, board: BoardView, is_final: bool = False) -> None:
        if self._store.state is not None:
            self._store.replace(confirm(self._store.state, board, is_final))

    def _take_back(self, race: str, ticket: int, refusal: CommandRefused) -> None:
        own, state = self._board_with(race, ticket), self._store.state
        if own is not None and state is not None:
            LOG.info("move taken back in race %s: %s", race, refusal)
            self._store.replace(replace(state, own=without(own, ticket, refusal.message)))
        if refusal.board is not None:
            # The two boards differ and no move of ours explains it: the server's board counts.
            is_final = refusal.code == "stale_move" and own is not None
            self._confirm(refusal.board, is_final)
