"""Boards in play: moves and cash-outs, acknowledged when durable; deals; and endings.

A move on a board that this node holds is judged in the callback that read it (`begin_move`). Any
other command is handled by a coroutine (`carry_out`), which ends in the same steps.
"""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_protocol.events import BoardChanged, BoardView
from saratoga_rules.moves import parse_move
from saratoga_rules.play import IllegalMove
from saratoga_rules.records.record import MOST_ENTRIES
from saratoga_rules.records.standing import State
from saratoga_rules.stuck.stuck import INLINE_LIMIT, StuckSearch
from saratoga_server.domain import board as boards
from saratoga_server.domain import results, tables
from saratoga_server.domain.board import Board, BoardChange
from saratoga_server.domain.tables import CommandRejected, TablePhase, TableState
from saratoga_server.live.races import BoardRun, LiveRace, try_acquire
from saratoga_server.live.session import Session
from saratoga_server.logs import EventLog
from saratoga_server.ports import CommitOutcome, CommitStatus, Millis, RaceFinish, StoreUnavailable

if TYPE_CHECKING:
    from saratoga_server.live.tables import LiveTable
    from saratoga_server.node import Node

log = EventLog("races")

DONE: Final = CommitStatus.DONE
"""A global, because every move reads it (see `domain.board.RACING`)."""

REFUSALS: Final = {
    CommitStatus.FENCED: "taken_over",
    CommitStatus.TIME_UP: "time_up",
    CommitStatus.BOARD_OVER: "board_over",
    CommitStatus.NO_BOARD: "not_racing",
    CommitStatus.DAMAGED: "damaged",
}

Play: TypeAlias = MakeMove | CashOut


# Moves and cash-outs


def begin_move(
    node: "Node", session: Session, command: MakeMove
) -> "JudgedMove | BoardChanged | None":
    """Judge a move and start its commit without waiting. Raises `CommandRejected`.

    Returns `BoardChanged` for a command that was carried out before, and `None` if this node does
    not hold the board: then `carry_out` answers.
    """
    race = node.races.known(command.race)
    run = None if race is None else race.runs.get(session.player)
    if race is None or run is None or run.board is None or race.code != session.seat:
        return None
    return _begun(node, session, race, run, command) if try_acquire(run.lock) else None


async def carry_out(node: "Node", session: Session, command: Play) -> BoardChanged:
    """Judge a move or cash-out, make it durable, and return the board. Raises `CommandRejected`."""
    race, run, _ = await _own(node, session, command.race)
    await run.lock.acquire()
    move = _begun(node, session, race, run, command)
    if isinstance(move, BoardChanged):
        return move
    try:
        await asyncio.wait([move.durable])
    except asyncio.CancelledError:
        move.durable.add_done_callback(move.released)
        raise
    return move.finish() or await move.explain()


async def own_board(node: "Node", session: Session, race_id: str) -> BoardView | None:
    """Return the player's present board, to be sent with a refusal.

    `None` if the player has no board in a running race, or if the store is unavailable.
    """
    try:
        race, _, board = await _own(node, session, race_id)
    except (CommandRejected, StoreUnavailable):
        return None
    return race.view(board, session.legal)


def board_at_hand(node: "Node", session: Session, race_id: str) -> BoardView | None:
    """Return the player's board if this node holds it."""
    race = node.races.known(race_id)
    run = None if race is None else race.runs.get(session.player)
    if race is None or run is None or run.board is None:
        return None
    return race.view(run.board, session.legal)


async def _own(node: "Node", session: Session, race_id: str) -> tuple[LiveRace, BoardRun, Board]:
    if session.seat is None:
        raise CommandRejected("not_seated", session.lost_seat)
    race = await node.races.running_at(session.seat, race_id)
    return race, *await node.races.board(race, session.player)


def _begun(
    node: "Node", session: Session, race: LiveRace, run: BoardRun, command: Play
) -> "JudgedMove | BoardChanged":
    """Judge a command, start its commit and return the pending move, or the answer to a repeat.

    The caller holds the lock; `JudgedMove` releases it.
    """
    try:
        board = run.held
        done = _repeated(board, command)
        if not done:
            after, search = _judged(race, board, command)
            commit = boards.commit_of(
                board,
                after,
                table=race.code,
                race=race.number,
                player=run.player,
                epoch=session.epoch,
            )
            durable = node.store.commits.commit(commit)
            return JudgedMove(node, session, race, run, command, after, search, durable)
        answer = _answered_again(node, session, race, board, command.id, done)
    except BaseException:
        run.lock.release()
        raise
    run.lock.release()
    return answer


class JudgedMove:
    """A judged command while it is being stored. Holds the board's lock until it is finished."""

    __slots__ = ("after", "command", "durable", "node", "race", "run", "search", "session")

    def __init__(
        self,
        node: "Node",
        session: Session,
        race: LiveRace,
        run: BoardRun,
        command: Play,
        after: BoardChange,
        search: StuckSearch | None,
        durable: asyncio.Future[CommitOutcome],
    ) -> None:
        self.node = node
        self.session = session
        self.race = race
        self.run = run
        self.command = command
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
                return self._entered(outcome)
            is_kept = True
            return None
        finally:
            if not is_kept:
                self.run.lock.release()

    def _entered(self, outcome: CommitOutcome) -> BoardChanged:
        node, race, run, board = self.node, self.race, self.run, self.run.held
        node.races.entered(race, run, self.after, outcome)
        if not board.racing:
            board_ended(node, race)
        elif self.search is not None and self.search.advance(0) is None:
            search_stuck(node, race, run, self.search)
        made = range(board.length - len(self.after.entries), board.length)
        return race.changed(board, made, legal=self.session.legal, re=self.command.id)

    async def explain(self) -> BoardChanged:
        """Answer a move that the store refused, and release the board's lock.

        The board is read again: the command may have been carried out before. Raises
        `CommandRejected` otherwise.
        """
        outcome, command, run = self.durable.result(), self.command, self.run
        meant = run.held.length
        try:
            board = await self.node.races.reload(self.race, run)
            if done := _repeated(board, command):
                given = self.node, self.session, self.race, board, command.id, done
                return _answered_again(*given)
            self.node.races.send_ending(self.race, run)
        finally:
            run.lock.release()
        if outcome.status is CommitStatus.TIME_UP:
            self.node.background_tasks.spawn(end_out_of_time(self.node, self.race))
        if outcome.status is CommitStatus.STALE:
            raise CommandRejected("stale_move", _stale_sentence(meant, outcome.length))
        raise CommandRejected(REFUSALS[outcome.status])

    def released(self, durable: asyncio.Future[CommitOutcome]) -> None:
        """Release the board's lock after a commit, without applying the move."""
        self.run.lock.release()
        if not durable.cancelled():
            durable.exception()  # retrieve the exception, or asyncio logs it


def _repeated(board: Board, command: Play) -> range:
    """Return the indexes of the entries of a command that was carried out before, if it was."""
    if isinstance(command, MakeMove):
        return boards.repeated(board, command.after, command.move)
    after = board.length - 1 if command.after is None else command.after
    return boards.repeated(board, after, State.CASH_OUT.value) if after >= 0 else range(0)


def _answered_again(
    node: "Node", session: Session, race: LiveRace, board: Board, re: int, done: range
) -> BoardChanged:
    """Return the answer to a repeat of a command whose entries are `done`."""
    if not board.racing:
        board_ended(node, race)  # the reply to the ending may have been lost
    return race.changed(board, done, legal=session.legal, re=re)


def _judged(race: LiveRace, board: Board, command: Play) -> tuple[BoardChange, StuckSearch | None]:
    """Return the board's change, and a search if it is stuck then. Raises `CommandRejected`."""
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


def _stale_sentence(meant: int, present: int) -> str:
    return f"That move was meant for a board with {meant} moves; yours has {present}. Look again."


# Deals, and endings by the server


def deal(node: "Node", race: LiveRace) -> None:
    """Send the deal to every racer on this node at the start of the race."""
    if race.is_dealt:
        return
    race.is_dealt = True
    frames: list[tuple[Session, bytes | str]] = []
    for session in node.broadcaster.audience(race.code):
        run = race.runs.get(session.player) if session.seat == race.code else None
        if run is None:
            continue
        run.board = run.board or race.open_board(run)
        event = BoardChanged(
            board=race.view(run.board, session.legal),
            start_at=run.start_at,
            deadline=run.deadline,
            now=node.clock.now(),
        )
        frames.append((session, session.codec.encode(event)))
    for session, frame in frames:
        session.connection.send(frame)
    node.broadcaster.standings_changed(race.code, race.next_standings)


async def end_board(
    node: "Node", race: LiveRace, player: str, state: State, length: int | None = None
) -> bool:
    """End a board with `state`: stuck, out of time, left, gone, idle or ended by the host.

    Return whether it has ended now. False if it had ended before as this node knew, if its log does
    not have `length` entries, or if the ending could not be stored.
    """
    run = race.runs[player]
    if run.has_ended:
        return False
    try:
        await node.races.board(race, player)
    except CommandRejected as refusal:
        if refusal.code != "damaged":
            raise
        return False
    async with run.lock:
        if not run.held.racing:
            return False
        for is_last in (False, True):
            board = run.held
            is_wanted = board.racing and length in (None, board.length)
            if not is_wanted or await _ended(node, race, run, state):
                break
            if not is_last:
                await node.races.reload(race, run)
        node.races.send_ending(race, run)
        return not run.held.racing


async def _ended(node: "Node", race: LiveRace, run: BoardRun, state: State) -> bool:
    """Store the ending; return False if the board has changed in the store."""
    after = boards.ended(run.held, state)
    outcome = await node.store.commits.commit(
        boards.commit_of(run.held, after, table=race.code, race=race.number, player=run.player)
    )
    if outcome.status is CommitStatus.TIME_UP:
        # by the store's clock, which may be ahead of this node's, the board is out of time
        return await _ended(node, race, run, State.OUT_OF_TIME)
    if outcome.status is not DONE:
        return False
    node.races.entered(race, run, after, outcome)
    board_ended(node, race)
    return True


def board_ended(node: "Node", race: LiveRace) -> None:
    """End the race in the background, or the boards for which nobody waits, if that is due."""
    node.background_tasks.spawn(look_at_end(node, race.code))


async def look_at_end(node: "Node", code: str) -> None:
    """End the boards of a table's race that are due; finish the race if all have ended."""
    table = await node.tables.get(code)
    if table.state.phase is not TablePhase.RUNNING:
        return
    race = await node.races.of(table)
    if not race.is_over:
        # the other boards may have ended on another node
        await node.races.read_standings(race)
    await end_due_boards(node, table.state, race)
    await finish_if_over(node, table, race)


async def end_due_boards(node: "Node", state: TableState, race: LiveRace) -> None:
    """End the boards of racers who lost their places or are out of time, or whose race is ended.

    The host ends a race, or all people who still race have voted for it, or only bots still race.
    """
    for player, ending in state.left.items():
        await end_board(node, race, player, ending)
    if state.is_ended_by_host:
        await end_board(node, race, state.last_racer, State.ENDED_BY_HOST)
    if state.votes and (people := race.racing & race.people) <= set(state.votes):
        for player in people:
            await end_board(node, race, player, State.ENDED_BY_VOTE)
    if race.only_bots_race:
        for player in race.racing:
            await end_board(node, race, player, State.BOTS_STOPPED)
    if state.deadline and node.clock.now() >= state.deadline:
        await end_out_of_time(node, race)


async def end_out_of_time(node: "Node", race: LiveRace) -> None:
    """End all boards: the deadline has passed, by the store's clock or by this node's."""
    for player in list(race.runs):
        await end_board(node, race, player, State.OUT_OF_TIME)


def search_stuck(node: "Node", race: LiveRace, run: BoardRun, search: StuckSearch) -> None:
    """Continue a search in the background; end the board if it is proved stuck."""
    length = run.held.length
    node.searches.search(
        (race.id, run.player, length),
        search,
        is_wanted=lambda: run.held.racing and run.held.length == length,
        end_board=partial(end_board, node, race, run.player, State.STUCK, length),
    )


async def look_over(node: "Node", state: TableState, race: LiveRace) -> None:
    """End the boards of this node's racers that are idle, and search those that may be stuck."""
    for session in node.broadcaster.audience(race.code):
        run = race.runs.get(session.player) if session.seat == race.code else None
        if run is None or run.has_ended:
            continue
        _, board = await node.races.board(race, run.player)
        search = boards.stuck_search(race.game, board)
        if search is not None:
            search_stuck(node, race, run, search)
        sign = Millis(max(session.active_at, state.waited_since))
        is_idle = boards.is_idle(board, node.clock.now(), sign) and state.has_others(run.player)
        if is_idle and await end_board(node, race, run.player, State.IDLE, board.length):
            log.info("board_idle", table=race.code, race=race.id, player=run.player)


# The end of a race: the node that ended the last board computes its results and writes them. If
# that node dies first, the race is due again at once, and any node finishes it; the store accepts
# one finish.


async def finish_if_over(node: "Node", table: "LiveTable", race: LiveRace) -> None:
    """Finish a table's race if all its boards have ended; if one is left, name its player."""
    if race.is_over:
        await _finish(node, table, race)
    elif race.last_racer and not table.state.last_racer:
        await _name_last_racer(node, race, race.last_racer)


async def _finish(node: "Node", table: "LiveTable", race: LiveRace) -> None:
    """Write the results of the race, unless a board still races after all."""
    state = table.state
    boards = await node.races.final_boards(race)
    if boards is None or state.race_id != race.id or state.phase is not TablePhase.RUNNING:
        return
    # sixteen long boards take too long for one turn of the event loop
    counted = await asyncio.to_thread(results.count_up, state, race.opening, boards)
    write = RaceFinish(race=state.race, record=counted.record, settlement=counted.settlement)
    if state.open is not None:
        write = await node.open_races.finished(state, race.opening, boards, counted.record)
    if not race.has_final_standings:
        race.has_final_standings = True
        node.broadcaster.send_to_table(table.code, race.standings())
    away = {
        session.player
        for session in node.broadcaster.audience(table.code)
        if (board := boards.get(session.player)) is not None
        and board.state is State.IDLE
        and session.active_at <= board.log[-1].at
    }

    def over(present: TableState, now: Millis) -> TableState:
        if present.phase is not TablePhase.RUNNING or present.race != state.race:
            return present
        return tables.finish(present, counted.outcome, now=now, away=away)

    await node.tables.change(table.code, over, write)


async def _name_last_racer(node: "Node", race: LiveRace, player: str) -> None:
    """Write to the table whose board is the last one racing, and since when."""
    since = Millis(0)
    for other in race.waited_for - {player}:
        _, board = await node.races.board(race, other)
        if board.racing:
            board = await node.races.latest(race, other)
        if board.racing:
            return
        since = max(since, board.log[-1].at)

    def named(state: TableState, now: Millis) -> TableState:
        return tables.last_board(state, player, since) if state.race_id == race.id else state

    await node.tables.change(race.code, named)
