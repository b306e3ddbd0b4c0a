"""Send the deals on this node, and end boards that end without a move."""

from typing import Final

from saratoga_protocol.events import BoardChanged
from saratoga_rules.records.standing import State
from saratoga_server.clock import ServerClock
from saratoga_server.domain import board as boards
from saratoga_server.domain.board import Board
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_race import BoardRun, LiveRace
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.races import RaceCache
from saratoga_server.live.session import Session
from saratoga_server.ports import CommitStatus, Millis
from saratoga_server.store.batcher import Batcher

DONE: Final = CommitStatus.DONE
"""A global, because every move reads it (see `domain.board.RACING`)."""


class BoardService:
    """The service that sends deals, and ends boards that are stuck, out of time or left."""

    def __init__(
        self, commits: Batcher, races: RaceCache, broadcaster: Broadcaster, clock: ServerClock
    ) -> None:
        self._commits = commits
        self._races = races
        self._broadcaster = broadcaster
        self._clock = clock

    def deal(self, table: LiveTable, race: LiveRace) -> None:
        """Send the deal to every racer on this node at the start of the race."""
        if race.is_dealt:
            return
        race.is_dealt = True
        frames: list[tuple[Session, bytes | str]] = []
        for session in self._broadcaster.audience(table.code):
            run = race.runs.get(session.player) if session.seat == table.code else None
            if run is None:
                continue
            run.board = run.board or race.open_board(run)
            event = BoardChanged(
                board=race.view(run.board, session.legal),
                start_at=run.start_at,
                deadline=run.deadline,
                now=self._clock.now(),
            )
            frames.append((session, session.codec.encode(event)))
        for session, frame in frames:
            session.connection.send(frame)
        self._broadcaster.standings_changed(table.code, race.next_standings)

    async def end(
        self, race: LiveRace, player: str, state: State, length: int | None = None
    ) -> bool:
        """End a board with `state`: stuck, out of time, left, gone, idle or ended by the host.

        Return whether it has ended now. False if it had ended before as this node knew, if its log does not have
        `length` entries, or if the ending could not be stored.
        """
        if await self._board(race, player) is None:
            return False
        run = race.runs[player]
        async with run.lock:
            board = run.board
            assert board is not None
            if not board.racing or (length is not None and board.length != length):
                return False
            if not await self._ended(race, run, board, state):
                board = await self._races.reload(race, run)
                if not board.racing:
                    return True
                if length is not None and board.length != length:
                    return False
                if not await self._ended(race, run, board, state):
                    return False
            self._races.send_ending(race, run)
        return True

    async def _board(self, race: LiveRace, player: str) -> Board | None:
        """Return a racer's board; `None` if it is damaged and cannot end."""
        try:
            return (await self._races.board(race, player))[1]
        except CommandRejected as refusal:
            if refusal.code != "damaged":
                raise
            return None

    async def _ended(self, race: LiveRace, run: BoardRun, board: Board, state: State) -> bool:
        """Store the ending; return False if the board has changed in the store."""
        after = boards.ended(board, state)
        outcome = await self._commits.commit(
            boards.commit_of(board, after, table=race.code, race=race.number, player=run.player)
        )
        if outcome.status is CommitStatus.TIME_UP:
            # by the store's clock, which may be ahead of this node's, the board is out of time
            return await self._ended(race, run, board, State.OUT_OF_TIME)
        if outcome.status is not DONE:
            return False
        self._races.entered(race, run, after, outcome)
        return True

    async def sweep(self, race: LiveRace, served_since: Millis) -> list[str]:
        """End the boards that are out of time; return the racers who are idle too long.

        Time before `served_since`, when no node could serve the table, does not count.
        """
        idle = []
        now, since = self._clock.now(), max(self._clock.since, served_since)
        for player, run in list(race.runs.items()):
            if run.standing.state.has_ended:
                continue
            if run.is_out_of_time(now):
                await self.end(race, player, State.OUT_OF_TIME)
                continue
            board = await self._board(race, player)
            if board is not None and boards.is_idle(board, now, max(since, run.active_at)):
                # another node may have written, or a move may be in progress
                board = await self._races.latest(race, player)
                if boards.is_idle(board, now, max(since, run.active_at)):
                    idle.append(player)
        return idle
