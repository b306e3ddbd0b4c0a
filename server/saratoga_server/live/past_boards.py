"""Answers to repeated moves and cash-outs of a race that their player can no longer play.

The race may be over and the next one gathering, or the player may have left the table. The command was carried
out nevertheless, so a refusal would not be true. The board's log has the ids of its commands.
"""

import asyncio
import re
from typing import Final, NamedTuple

from saratoga_protocol.commands import GetRecord
from saratoga_protocol.events import MoveMade
from saratoga_rules.dealing.fairness import deal_key
from saratoga_rules.game import Game
from saratoga_rules.position import Position
from saratoga_rules.records.grammar import POSITIVE, TABLE_CODE
from saratoga_rules.records.lines import RecordError
from saratoga_rules.records.record import RaceRecord, parse_record
from saratoga_rules.records.replay import ReplayError
from saratoga_rules.records.replay import game_of as game_of_record
from saratoga_rules.records.void_record import VoidRecord, is_void_record, parse_void_record
from saratoga_server.domain import board as boards
from saratoga_server.domain.damage import Damage
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.live.live_race import LiveRace
from saratoga_server.live.live_table import TableMoved
from saratoga_server.live.refusals import too_much
from saratoga_server.live.session import Session
from saratoga_server.live.stored_logs import FOLDED_AT_ONCE, StoredLogs, game_of
from saratoga_server.live.table_cache import TableCache
from saratoga_server.ports import BoardStore, Millis, TableStore
from saratoga_server.rate_limits.rates import COSTS

_RACE_ID: Final = re.compile(f"({TABLE_CODE})/({POSITIVE})")

COST: Final = COSTS[GetRecord]
"""Tokens of a command whose answer is looked for here; the first was taken when the command came."""


class _Dealt(NamedTuple):
    """What a race began with."""

    game: Game
    opening: Position
    start_at: Millis


class PastBoards:
    """The part that finds the answers to repeated moves and cash-outs in the stored boards of earlier races."""

    def __init__(
        self,
        boards: BoardStore,
        tables: TableStore,
        table_cache: TableCache,
        logs: StoredLogs,
    ) -> None:
        self._boards = boards
        self._tables = tables
        self._table_cache = table_cache
        self._logs = logs
        self._answering = asyncio.Semaphore(FOLDED_AT_ONCE)

    async def answer(self, session: Session, race_id: str, command_id: int) -> MoveMade | None:
        """Return the answer to a command that was carried out on the player's board; `None` if it was not.

        Raises `CommandRejected` if the player asks too often.
        """
        match = _RACE_ID.fullmatch(race_id)
        if match is None:
            return None
        quota = session.quota
        now = quota.limiter.now()
        if not quota.spend(COST - 1, now):
            wait = quota.seconds_to_wait(COST, now)
            raise too_much("You repeated too many commands of earlier races.", wait)
        async with self._answering:
            try:
                return await self._found(session, match[1], int(match[2]), command_id)
            except Damage:
                return None

    async def _found(
        self, session: Session, code: str, number: int, command_id: int
    ) -> MoveMade | None:
        stored = await self._boards.load_board(code, number, session.player)
        if stored is None or all(each.command_id != command_id for each in stored.entries):
            return None
        dealt = await self._dealt(code, number)
        if dealt is None:
            return None
        board = boards.open_board(dealt.opening, dealt.start_at)
        await self._logs.fold(dealt.game, board, stored)
        race = LiveRace(f"{code}/{number}", code, number, dealt.game, dealt.opening, {})
        entry = board.log.of_command(command_id)
        assert entry is not None
        return MoveMade(
            re=command_id,
            board=race.view(board, session.legal),
            at=entry.at - dealt.start_at,
            number=entry.number,
            repeat=True,
        )

    async def _dealt(self, code: str, number: int) -> _Dealt | None:
        """Return the deal of a race by the table, or by the race's record when the table has gone on.

        Raises `TableMoved` if only newer nodes can read the table or know the game.
        """
        try:
            state = (await self._table_cache.get(code)).state
        except TableMoved:
            raise
        except CommandRejected:
            return None
        if state.race == number and state.deal_key:
            return _Dealt(game_of(state), self._logs.opening(state), state.start_at)
        text = await self._tables.load_record(code, number)
        if text is None:
            return None
        try:
            if is_void_record(text):
                return self._voided(await asyncio.to_thread(parse_void_record, text))
            record = await asyncio.to_thread(parse_record, text)
        except RecordError:
            return None
        return _Dealt(_game(record), record.deal, Millis(record.start_at))

    def _voided(self, record: VoidRecord) -> _Dealt | None:
        """Return the deal of a voided race, if its seed and all nonces can be read."""
        nonces = {racer.player: bytes.fromhex(racer.nonce) for racer in record.racers}
        if not record.seed or not all(nonces.values()):
            return None
        key = deal_key(bytes.fromhex(record.seed), record.race_id, nonces)
        game = _game(record)
        return _Dealt(game, self._logs.deal(game, key), Millis(record.start_at))


def _game(record: RaceRecord | VoidRecord) -> Game:
    """Return the game of a record. Raises `TableMoved` if only newer nodes know it."""
    try:
        return game_of_record(record)
    except ReplayError:
        raise TableMoved from None
