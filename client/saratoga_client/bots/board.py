"""A bot's play on one board: choose a move, send it, and remember the cards it turned up.

After a refused move the bot chooses again, on the board that the refusal contains.
"""

import asyncio
import time
from dataclasses import replace
from functools import partial
from typing import Final

import msgspec

from saratoga_client.bots.choice import Choice, Chooser
from saratoga_client.bots.memory import Memory, remember
from saratoga_client.bots.pace import Pace
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import STALE_ID, CommandRefused, RequestTimedOut
from saratoga_protocol import events
from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_protocol.views import rules_view
from saratoga_rules.game import Game
from saratoga_rules.moves import Move

RACING: Final = "racing"

OVER: Final = frozenset({"board_over", "time_up", "not_racing", "no_such_race", "race_running"})
"""Codes of refusals that mean that the board has ended."""

MOST_REFUSALS: Final = 10
"""Number of refusals in a row after which the bot stops with an error."""


class BoardPlayer:
    """A player of one board for a bot, from the deal to the end of the board."""

    def __init__(
        self,
        connection: Connection,
        game: Game,
        choose: Chooser,
        *,
        pace: Pace,
        variation: int = 0,
    ) -> None:
        self._connection = connection
        self._game = game
        self._choose = choose
        self._pace = pace
        self._memory = Memory(variation=variation)
        self._refusals = 0

    async def play(self, board: events.BoardView) -> events.BoardView:
        """Play from this board until it ends; return the ended board. Raises `CommandRefused`."""
        while board.state == RACING:
            began = time.monotonic()
            choice, pause = await asyncio.to_thread(self._think, board)
            await asyncio.sleep(max(0.0, began + pause - time.monotonic()))
            board = await self._send(board, choice)
        return board

    def _think(self, board: events.BoardView) -> tuple[Choice, float]:
        """Return the choice, and the seconds to wait before it is sent."""
        view = rules_view(board.view)
        choice = self._choose(self._game, view, self._memory)
        return choice, self._pace(self._game, view, self._memory, choice)

    async def _send(self, board: events.BoardView, choice: Choice) -> events.BoardView:
        try:
            if choice.move is None:
                made = await self._connection.ask(
                    partial(CashOut, race=board.race), events.BoardChanged
                )
                return made.board
            made = await self._connection.ask(
                partial(MakeMove, race=board.race, after=board.count, move=str(choice.move)),
                events.BoardChanged,
            )
        except RequestTimedOut:
            # If the server made the move, it refuses the next one and sends the current board.
            return board
        except CommandRefused as refusal:
            return self._after_refusal(board, refusal)
        self._refusals = 0
        self._memory = self._remembered(choice, choice.move, board, made.board)
        return made.board

    def _remembered(
        self, choice: Choice, move: Move, before: events.BoardView, after: events.BoardView
    ) -> Memory:
        seen_before, seen_after = rules_view(before.view), rules_view(after.view)
        return remember(self._game, choice.memory, seen_before, move, seen_after)

    def _after_refusal(self, board: events.BoardView, refusal: CommandRefused) -> events.BoardView:
        """Return the board after a refusal; the bot drops its plan if the board has changed."""
        self._refusals += 1
        may_retry = self._refusals <= MOST_REFUSALS
        if refusal.board is not None and may_retry:
            self._memory = replace(self._memory, plan=(), stock=())
            return refusal.board
        if refusal.code in OVER:
            return msgspec.structs.replace(board, state=refusal.code)
        if (refusal.retry or refusal.code == STALE_ID) and may_retry:
            # The bot repeats the move under a new id.
            return board
        raise refusal
