"""A bot's board in one race: it looks, chooses, moves, and remembers, at a human pace.

Whatever the house answers is the truth: a refused move shows the present board, and the bot looks
again.
"""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from saratoga_client.bots.choice import Choice, Chooser
from saratoga_client.bots.memory import Memory, remember
from saratoga_client.net.connection import Connection
from saratoga_client.net.errors import STALE_ID, CommandRefused, RequestTimedOut
from saratoga_protocol import events
from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_protocol.views import rules_view
from saratoga_rules.game import Game
from saratoga_rules.moves import Move

RACING: Final = "racing"

OVER: Final = frozenset({"board_over", "time_up", "not_racing", "no_such_race", "race_running"})
"""Refusals after which there is nothing left to play."""

MOST_REFUSALS: Final = 10
"""In a row; a bot and a house that disagree so often do not play the same game."""

RESTLESS: Final = 0.5
"""A bot's pauses vary by this much of themselves to both sides."""


class BoardPlayer:
    """Plays one board to its end."""

    def __init__(
        self,
        house: Connection,
        game: Game,
        choose: Chooser,
        *,
        pace: float,
        temper: int = 0,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._house = house
        self._game = game
        self._choose = choose
        self._pause = 1 / pace if pace > 0 else 0.0
        self._memory = Memory(temper=temper)
        self._chance = chance
        self._refusals = 0

    async def play(self, board: events.BoardView) -> events.BoardView:
        """Play from this board on; returns the board as it ended. Raises `CommandRefused`."""
        while board.state == RACING:
            began = time.monotonic()
            choice = await asyncio.to_thread(self._think, board)
            await self._rest(time.monotonic() - began)
            board = await self._act(board, choice)
        return board

    def _think(self, board: events.BoardView) -> Choice:
        return self._choose(self._game, rules_view(board.view), self._memory)

    async def _rest(self, thought: float) -> None:
        pause = self._pause * (1 + RESTLESS * (2 * self._chance() - 1))
        await asyncio.sleep(max(0.0, pause - thought))

    async def _act(self, board: events.BoardView, choice: Choice) -> events.BoardView:
        try:
            if choice.move is None:
                made = await self._house.ask(partial(CashOut, race=board.race), events.MoveMade)
                return made.board
            made = await self._house.ask(
                partial(MakeMove, race=board.race, after=board.count, move=str(choice.move)),
                events.MoveMade,
            )
        except RequestTimedOut:
            # perhaps it was made all the same; then the next attempt shows the present board
            return board
        except CommandRefused as no:
            return self._look_again(board, no)
        self._refusals = 0
        self._memory = self._remembered(choice, choice.move, board, made.board)
        return made.board

    def _remembered(
        self, choice: Choice, move: Move, before: events.BoardView, after: events.BoardView
    ) -> Memory:
        seen_before, seen_after = rules_view(before.view), rules_view(after.view)
        return remember(self._game, choice.memory, seen_before, move, seen_after)

    def _look_again(self, board: events.BoardView, no: CommandRefused) -> events.BoardView:
        """The board after a refusal; if it is another one, what was planned is void."""
        self._refusals += 1
        is_patient = self._refusals <= MOST_REFUSALS
        if no.board is not None and is_patient:
            self._memory = replace(self._memory, plan=(), stock=())
            return no.board
        if no.code in OVER:
            return events.BoardView(
                race=board.race,
                count=board.count,
                view=board.view,
                banked=board.banked,
                net=board.net,
                state=no.code,
            )
        if (no.retry or no.code == STALE_ID) and is_patient:
            # asked again under another id; if the board has changed, the house will show it
            return board
        raise no
