"""Handlers of moves and cash-outs: judged, stored, and acknowledged when durable.

A move on a board that this node holds is judged in the callback that read it (`begin_move`). Any
other move is handled by a coroutine (`make_move`), which ends in the same steps.
"""

import asyncio
from typing import Final

from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_protocol.events import BoardChanged, BoardView
from saratoga_rules.moves import parse_move
from saratoga_rules.play import IllegalMove
from saratoga_rules.records.record import MOST_ENTRIES
from saratoga_rules.records.standing import State
from saratoga_rules.stuck.stuck import INLINE_LIMIT, StuckSearch
from saratoga_server.domain import board as boards
from saratoga_server.domain.board import Board, BoardChange
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.live.board_service import DONE
from saratoga_server.live.live_race import BoardRun, LiveRace
from saratoga_server.live.races import RaceCache
from saratoga_server.live.session import Session
from saratoga_server.live.table_service import TableService
from saratoga_server.ports import CommitOutcome, CommitStatus, StoreUnavailable
from saratoga_server.store.batcher import Batcher

REFUSALS: Final = {
    CommitStatus.FENCED: "taken_over",
    CommitStatus.TIME_UP: "time_up",
    CommitStatus.BOARD_OVER: "board_over",
    CommitStatus.NO_BOARD: "not_racing",
}

Judged = tuple[BoardChange, StuckSearch | None]
"""A judged command: the board's change, and a search that tests if the board is stuck after it."""


class PlayHandlers:
    """The handlers of `move` and `cash_out`."""

    def __init__(
        self,
        commits: Batcher,
        races: RaceCache,
        table_service: TableService,
    ) -> None:
        self._commits = commits
        self._races = races
        self._table_service = table_service

    def begin_move(self, session: Session, command: MakeMove) -> "JudgedMove | BoardChanged | None":
        """Judge a move and start its commit without waiting. Raises `CommandRejected`.

        Returns `BoardChanged` for a command that was carried out before, and `None` if this node does not
        hold the board: then `make_move` answers.
        """
        race = self._races.known(command.race)
        run = None if race is None else race.runs.get(session.player)
        if race is None or run is None or run.board is None or run.audience != session.seat:
            return None
        return self._begun(session, race, run, command) if run.lock.try_acquire() else None

    async def make_move(self, session: Session, command: MakeMove) -> BoardChanged:
        """Judge a move, make it durable, and return the board. Raises `CommandRejected`."""
        return await self._carried_out(session, command)

    async def cash_out(self, session: Session, command: CashOut) -> BoardChanged:
        """End the player's board with its banked cards, and return it. Raises `CommandRejected`."""
        return await self._carried_out(session, command)

    async def _carried_out(self, session: Session, command: MakeMove | CashOut) -> BoardChanged:
        race, run, _ = await self._own(session, command.race)
        await run.lock.acquire()
        return await self._finished(self._begun(session, race, run, command))

    def board_at_hand(self, session: Session, race_id: str) -> BoardView | None:
        """Return the player's board if this node holds it."""
        race = self._races.known(race_id)
        run = None if race is None else race.runs.get(session.player)
        if race is None or run is None or run.board is None:
            return None
        return race.view(run.board, session.legal)

    async def own_board(self, session: Session, race_id: str) -> BoardView | None:
        """Return the player's present board, to be sent with a refusal.

        `None` if the player has no board in a running race, or if the store is unavailable.
        """
        try:
            race, _, board = await self._own(session, race_id)
        except (CommandRejected, StoreUnavailable):
            return None
        return race.view(board, session.legal)

    async def _own(self, session: Session, race_id: str) -> tuple[LiveRace, BoardRun, Board]:
        if session.seat is None:
            raise CommandRejected("not_seated", session.lost_seat)
        race = await self._races.running_at(session.seat, race_id)
        return race, *await self._races.board(race, session.player)

    def _begun(
        self, session: Session, race: LiveRace, run: BoardRun, command: MakeMove | CashOut
    ) -> "JudgedMove | BoardChanged":
        """Judge a command, start its commit and return the pending move, or the answer to a repeat.

        The caller holds the lock; `JudgedMove` releases it.
        """
        try:
            board = _held(run)
            if command.id > board.last_id:
                return self._commit(session, race, run, command.id, _judged(race, board, command))
            answer = _repeated(session, race, run, command.id)
        except BaseException:
            run.lock.release()
            raise
        run.lock.release()
        return answer

    def _commit(
        self, session: Session, race: LiveRace, run: BoardRun, command_id: int, judged: Judged
    ) -> "JudgedMove":
        after, search = judged
        commit = boards.commit_of(
            _held(run),
            after,
            table=race.code,
            race=race.number,
            player=run.player,
            epoch=session.epoch,
            command_id=command_id,
        )
        durable = self._commits.commit(commit)
        return JudgedMove(self, session, race, run, command_id, after, search, durable)

    async def _finished(self, move: "JudgedMove | BoardChanged") -> BoardChanged:
        if isinstance(move, BoardChanged):
            return move
        try:
            await asyncio.wait([move.durable])
        except asyncio.CancelledError:
            move.abandon()
            raise
        return move.finish() or await move.explain()

    def entered(self, move: "JudgedMove", outcome: CommitOutcome) -> BoardChanged:
        """Apply a durable move to the board, and return its acknowledgement."""
        race, run, after = move.race, move.run, move.after
        self._races.entered(race, run, after, outcome, move.command_id)
        board = _held(run)
        if not board.racing:
            self._table_service.finish_if_over(race)
        elif move.search is not None and move.search.advance(0) is None:
            self._table_service.search_stuck(race, run, move.search)
        made = range(board.length - len(after.entries), board.length)
        return race.changed(board, made, legal=move.session.legal, re=move.command_id)

    async def refused(self, move: "JudgedMove", outcome: CommitOutcome) -> BoardChanged:
        """Reload the board after the store refused a move; return the answer to a repeat.

        Raises `CommandRejected` with the reason otherwise.
        """
        race, run = move.race, move.run
        meant = _held(run).length
        await self._races.reload(race, run)
        self._table_service.finish_if_over(race)
        if outcome.status is CommitStatus.REPEAT:
            return _repeated(move.session, race, run, move.command_id)
        if outcome.status is CommitStatus.TIME_UP:
            self._table_service.end_out_of_time(race)
        if outcome.status is CommitStatus.STALE:
            raise CommandRejected("stale_move", _stale_sentence(meant, outcome.length))
        raise CommandRejected(REFUSALS[outcome.status])


class JudgedMove:
    """A judged move while it is being stored. Holds the board's lock until it is finished."""

    __slots__ = (
        *("after", "command_id", "durable", "race", "run", "search", "session"),
        "_play",
    )

    def __init__(
        self,
        play: PlayHandlers,
        session: Session,
        race: LiveRace,
        run: BoardRun,
        command_id: int,
        after: BoardChange,
        search: StuckSearch | None,
        durable: asyncio.Future[CommitOutcome],
    ) -> None:
        self._play = play
        self.session = session
        self.race = race
        self.run = run
        self.command_id = command_id
        self.after = after
        self.search = search
        self.durable = durable
        """The store's answer; fails with `StoreUnavailable`."""

    def finish(self) -> BoardChanged | None:
        """Apply the move when `durable` is done, and return the acknowledgement.

        Returns `None` if the store refused the move: call `explain`. Raises `StoreUnavailable`.
        """
        is_kept = False
        try:
            outcome = self.durable.result()
            if outcome.status is DONE:
                return self._play.entered(self, outcome)
            is_kept = True
            return None
        finally:
            if not is_kept:
                self.run.lock.release()

    async def explain(self) -> BoardChanged:
        """Answer a move that the store refused, and release the board's lock."""
        try:
            return await self._play.refused(self, self.durable.result())
        finally:
            self.run.lock.release()

    def abandon(self) -> None:
        """Release the board's lock when the commit is done, without applying the move."""
        self.durable.add_done_callback(self._released)

    def _released(self, durable: asyncio.Future[CommitOutcome]) -> None:
        self.run.lock.release()
        if not durable.cancelled():
            durable.exception()  # retrieve the exception, or asyncio logs it


def _held(run: BoardRun) -> Board:
    assert run.board is not None
    return run.board


def _judged(race: LiveRace, board: Board, command: MakeMove | CashOut) -> Judged:
    """Return the judged move or cash-out. Raises `CommandRejected`."""
    if not board.racing:
        raise CommandRejected("board_over", f"Your board has ended: {board.state}.")
    if isinstance(command, CashOut):
        if command.after is not None and command.after != board.length:
            raise CommandRejected("stale_move", _stale_sentence(command.after, board.length))
        return boards.ended(board, State.CASH_OUT), None
    after = _played(race, board, command)
    search = boards.stuck_search(race.game, after)
    if search is None or not search.advance(INLINE_LIMIT):
        return after, search
    return boards.stuck_after(board, after), search


def _played(race: LiveRace, board: Board, command: MakeMove) -> BoardChange:
    """Return the change of the board by a move. Raises `CommandRejected`."""
    if board.length >= MOST_ENTRIES:
        raise CommandRejected("board_full")
    if command.after != board.length:
        raise CommandRejected("stale_move", _stale_sentence(command.after, board.length))
    try:
        move = parse_move(command.move)
    except ValueError as error:
        raise CommandRejected("bad_move", str(error)) from None
    try:
        return boards.played(race.game, board, move)
    except IllegalMove as error:
        raise CommandRejected("illegal_move", str(error)) from None


def _repeated(session: Session, race: LiveRace, run: BoardRun, command_id: int) -> BoardChanged:
    """Return the answer to a repeated command. Raises `CommandRejected` if it is none."""
    board = _held(run)
    entries = board.log.of_command(command_id)
    if not entries:
        raise CommandRejected("stale_id")
    return race.changed(board, entries, legal=session.legal, re=command_id, repeat=True)


def _stale_sentence(meant: int, present: int) -> str:
    return f"That move was meant for a board with {meant} moves; yours has {present}. Look again."
