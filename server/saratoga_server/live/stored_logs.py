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
from saratoga_server.domain.tables.countdown import checked_deal, made_key
from saratoga_server.domain.tables.records import ReadLog
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

    async def read(self, state: TableState) -> tuple[Position, dict[str, ReadLog]]:
        """Return the deal of a table's race and its logs by player, as far as they replay. Raises `Damage`."""
        key = made_key(state)
        opening = self.deal(game_of(state), key)
        logs = {}
        for player in state.racers:
            board = boards.open_board(opening, state.start_at, key, state.race_id, player)
            logs[player] = await self._read(state, board, player)
        return opening, logs

    async def _read(self, state: TableState, board: Board, player: str) -> ReadLog:
        try:
            stored = await self._store.load_board(state.code, state.race, player)
            if stored is None:
                return ReadLog((), damaged=True)
            await self.fold(game_of(state), board, stored)
        except Damage:
            return ReadLog(tuple(board.log), damaged=True)
        return ReadLog(tuple(board.log), False, not board.racing)
