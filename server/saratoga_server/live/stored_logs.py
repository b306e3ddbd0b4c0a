"""The stored logs of races, replayed on the deals of their tables."""

import asyncio
from collections.abc import Callable
from typing import Final

from saratoga_rules.game import Game
from saratoga_rules.games import RULES
from saratoga_rules.position import Position
from saratoga_server.domain import board as boards
from saratoga_server.domain.board import Board
from saratoga_server.domain.tables import TableState
from saratoga_server.domain.tables.countdown import checked_deal
from saratoga_server.domain.tables.voids import ReadableLog
from saratoga_server.ports import Damage, StoredBoard
from saratoga_server.store.boards import BoardStore

FOLDED_AT_ONCE: Final = 2
"""Logs rebuilt at once; each delays every turn of the event loop by a millisecond."""

Deal = Callable[[Game, bytes], Position]
"""A function that returns the opening position for a deal key."""


def game_of(state: TableState) -> Game:
    """Return the game of a table's race, by the rules with which the race began."""
    return RULES[state.rules_version][state.settings.game]


class StoredLogs:
    """The part that replays stored logs, a few at once."""

    def __init__(self, store: BoardStore, deal: Deal) -> None:
        self._store = store
        self.deal: Final = deal
        self._folding = asyncio.Semaphore(FOLDED_AT_ONCE)

    def opening(self, state: TableState) -> Position:
        """Return the deal of a table's race, by the race's rules. Raises `Damage`."""
        return self.deal(game_of(state), checked_deal(state))

    async def fold(self, game: Game, board: Board, stored: StoredBoard) -> None:
        """Apply the entries of a stored board to `board`. Raises `Damage`."""
        async with self._folding:
            for _ in boards.fold(game, board, stored):
                await asyncio.sleep(0)

    async def readable(self, state: TableState) -> dict[str, ReadableLog]:
        """Return the logs of a table's race by player; one that fails is empty."""
        return {player: await self._readable(state, player) for player in state.racers}

    async def _readable(self, state: TableState, player: str) -> ReadableLog:
        try:
            stored = await self._store.load_board(state.code, state.race, player)
            if stored is None:
                return ReadableLog((), False)
            key = bytes.fromhex(state.deal_key)
            board = boards.open_board(
                self.opening(state), state.start_at, key, state.race_id, player
            )
            await self.fold(game_of(state), board, stored)
        except Damage:
            return ReadableLog((), False)
        return ReadableLog(stored.entries, True, not board.racing)
