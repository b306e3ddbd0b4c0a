"""The boards, as players and the clock change them: dealt, judged move by move, ended.

The way of a move: the position it was meant for is checked, the judge asked, the store asked to
append it, and only when it is durable is the board changed and the player answered.
"""

from collections.abc import Container
from functools import partial
from typing import Final

from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_protocol.events import BoardView, Dealt, MoveMade
from saratoga_rules.judge import IllegalMove
from saratoga_rules.moves import parse_move
from saratoga_rules.record import MOST_ENTRIES
from saratoga_rules.standing import State
from saratoga_rules.stuck import INLINE_LIMIT, StuckSearch, may_declare
from saratoga_server.clock import ServerClock
from saratoga_server.domain import board as boards
from saratoga_server.domain.board import Board, Played
from saratoga_server.domain.tables import Refusal
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.races import LiveRace, RaceCache
from saratoga_server.live.session import Session
from saratoga_server.live.stuck_searches import StuckSearches
from saratoga_server.ports import (
    BoardCommit,
    BoardStore,
    CommitOutcome,
    CommitStatus,
    LogEntry,
    StoreUnavailable,
)

DONE: Final = CommitStatus.DONE
"""By name, as the states in `race.py`."""

OUTCOME_REFUSALS: Final = {
    CommitStatus.FENCED: "taken_over",
    CommitStatus.TIME_UP: "time_up",
    CommitStatus.BOARD_OVER: "board_over",
    CommitStatus.NO_BOARD: "not_racing",
}


class MoveService:
    """Deals, judges and ends boards."""

    def __init__(
        self,
        store: BoardStore,
        races: RaceCache,
        searches: StuckSearches,
        broadcaster: Broadcaster,
        clock: ServerClock,
    ) -> None:
        self._store = store
        self._races = races
        self._searches = searches
        self._broadcaster = broadcaster
        self._clock = clock

    def deal(self, live_table: LiveTable, race: LiveRace) -> None:
        """The race starts: every racer on this node is sent the deal, all in one go."""
        if race.is_dealt:
            return
        race.is_dealt = True
        frames: list[tuple[Session, bytes | str]] = []
        for session in self._broadcaster.audience(live_table.code):
            if session.seat != live_table.code or session.player not in race.stands:
                continue
            board = race.boards.setdefault(
                session.player, boards.open_board(race.opening, race.start_at)
            )
            event = Dealt(
                board=race.view(board, session.legal),
                start_at=race.start_at,
                deadline=race.deadline,
                now=self._clock.now(),
            )
            frames.append((session, session.codec.encode_event(event)))
        for session, frame in frames:
            session.connection.send(frame)
        self._broadcaster.standings_changed(live_table.code, race.standings)

    async def make_move(self, session: Session, command: MakeMove) -> MoveMade:
        """Judge a move, make it durable, and say what the board is now; raises `Refusal`."""
        player = session.player
        race = self._races.known(command.race)
        if race is None or race.code != session.seat or player not in race.boards:
            race, _ = await self._own(session, command.race)
        turn = race.turn(player)
        if not turn.take_now():
            await turn.acquire()
        try:
            board = race.boards[player]
            if command.id <= board.last_id:
                return _answered_again(session, race, board, command.id)
            after = _judged(race, board, command)
            entries = [command.move]
            search = _search_for_stuck(race, after)
            if search is not None and search.advance(INLINE_LIMIT):
                after = Played(after.position, after.banked, State.STUCK)
                entries.append(boards.ENDING_OF_STATE[State.STUCK])
            answer = await self._committed(session, race, board, command.id, entries, after)
        finally:
            turn.release()
        if search is not None and search.advance(0) is None:
            self._search_on(race, player, search)
        return answer

    async def cash_out(self, session: Session, command: CashOut) -> MoveMade:
        """End a player's own board, and keep what is banked; raises `Refusal`."""
        race, board = await self._own(session, command.race)
        async with race.turn(session.player):
            board = race.boards.get(session.player, board)
            if command.id <= board.last_id:
                return _answered_again(session, race, board, command.id)
            _check_racing(board)
            after = Played(board.position, board.banked, State.CASHED_OUT)
            entries = [boards.ENDING_OF_STATE[State.CASHED_OUT]]
            return await self._committed(session, race, board, command.id, entries, after)

    async def own_board(self, session: Session, race_id: str) -> BoardView | None:
        """The player's present board, to go with a refusal; `None` where there is none."""
        try:
            race, board = await self._own(session, race_id)
        except (Refusal, StoreUnavailable):
            return None
        return race.view(board, session.legal)

    async def board_as_stored(self, race: LiveRace, player: str) -> Board:
        """The player's board, read again when nobody is judging it; raises `Refusal`."""
        async with race.turn(player):
            return await self._races.reload(race, player)

    async def board_taken_up(self, race: LiveRace, player: str) -> Board:
        """The same for a connection that knows nothing yet: what became of it is no news."""
        async with race.turn(player):
            return await self._races.reload(race, player, is_shown=True)

    async def _own(self, session: Session, race_id: str) -> tuple[LiveRace, Board]:
        if session.seat is None:
            raise Refusal("not_seated")
        race = await self._races.running_at(session.seat, race_id)
        return race, await self._races.board(race, session.player)

    async def _committed(
        self,
        session: Session,
        race: LiveRace,
        board: Board,
        command_id: int,
        entries: list[str],
        after: Played,
    ) -> MoveMade:
        """Store a player's own entries, and answer; raises `Refusal` if the store knows better."""
        player = session.player
        commit = _commit(race, player, board, session.epoch, command_id, entries, after)
        outcome = await self._store.commit(commit)
        if outcome.status is not DONE:
            present = await self._races.reload(race, player)
            if outcome.status is CommitStatus.REPEAT:
                return _answered_again(session, race, present, command_id)
            if outcome.status is CommitStatus.STALE:
                raise Refusal("stale_move", _stale_sentence(board.length, outcome.length))
            raise Refusal(OUTCOME_REFUSALS[outcome.status])
        self._entered(race, player, board, command_id, entries, after, outcome)
        return MoveMade(
            re=command_id,
            board=race.view(board, session.legal),
            at=outcome.at - race.start_at,
        )

    def _entered(
        self,
        race: LiveRace,
        player: str,
        board: Board,
        command_id: int,
        entries: list[str],
        after: Played,
        outcome: CommitOutcome,
    ) -> None:
        """The store has it: change the board, and let the table know."""
        boards.enter(
            board,
            after,
            [
                LogEntry(text, outcome.at, outcome.number + index, command_id)
                for index, text in enumerate(entries)
            ],
        )
        self._races.stands(race, player, board)

    async def end(
        self, race: LiveRace, player: str, state: State, length: int | None = None
    ) -> bool:
        """End a board for the house's reason; False if it had ended, or `length` is not its length."""
        async with race.turn(player):
            board = await self._races.board(race, player)
            if not board.racing or (length is not None and board.length != length):
                return False
            if not await self._end(race, player, board, state):
                board = await self._races.reload(race, player)
                if not board.racing:
                    return True
                if length is not None and board.length != length:
                    return False
                if not await self._end(race, player, board, state):
                    return False
            self._races.tell_ended(race, player, board)
        return True

    async def _end(self, race: LiveRace, player: str, board: Board, state: State) -> bool:
        """Write the ending; False if the board is not as this node thought."""
        after = Played(board.position, board.banked, state)
        entries = [boards.ENDING_OF_STATE[state]]
        commit = _commit(race, player, board, 0, 0, entries, after)
        outcome = await self._store.commit(commit)
        if outcome.status is not DONE:
            return False
        self._entered(race, player, board, 0, entries, after, outcome)
        return True

    async def sweep(self, race: LiveRace, elsewhere: Container[str] = ()) -> list[str]:
        """End the boards whose time is up; returns the racers who have gone quiet.

        Whether the boards of those who play `elsewhere`, on other nodes, are stuck is for those to find.
        """
        quiet = []
        now, since = self._clock.now(), self._clock.since
        out_of_time = bool(race.deadline) and now >= race.deadline
        for player in [player for player, s in race.stands.items() if not s.state.has_ended]:
            if out_of_time:
                await self.end(race, player, State.OUT_OF_TIME)
                continue
            board = await self._races.board(race, player)
            if boards.is_quiet(board, now, since):
                # another node may have heard of the racer, or a move may be on its way
                board = await self.board_as_stored(race, player)
                if board.racing and boards.is_quiet(board, now, since):
                    quiet.append(player)
            if player not in elsewhere and may_declare(board.position):
                self._search_on(race, player, StuckSearch(race.game, board.position))
        return quiet

    def _search_on(self, race: LiveRace, player: str, search: StuckSearch) -> None:
        """Go on with a search that nobody waits for; once for each position."""
        length = race.boards[player].length
        self._searches.go_on(
            (race.id, player, length),
            search,
            is_wanted=lambda: race.boards[player].racing and race.boards[player].length == length,
            on_stuck=partial(self.end, race, player, State.STUCK, length),
        )

    async def stop(self) -> None:
        """Give up what is still being searched."""
        await self._searches.stop()


def _commit(
    race: LiveRace,
    player: str,
    board: Board,
    epoch: int,
    command_id: int,
    entries: list[str],
    after: Played,
) -> BoardCommit:
    return BoardCommit(
        table=race.code,
        race=race.number,
        player=player,
        epoch=epoch,
        command_id=command_id,
        after=board.length,
        entries=tuple(entries),
        banked=after.banked,
        state=after.state,
        rises=after.banked > board.banked,
        late=after.state is boards.OUT_OF_TIME,
    )


def _judged(race: LiveRace, board: Board, command: MakeMove) -> Played:
    """What the move leads to; a `Refusal` if it was meant for another board, or the rules say no."""
    _check_racing(board)
    if board.length >= MOST_ENTRIES:
        raise Refusal("board_full")
    if command.after != board.length:
        raise Refusal("stale_move", _stale_sentence(command.after, board.length))
    try:
        move = parse_move(command.move)
    except ValueError as error:
        raise Refusal("bad_move", str(error)) from None
    try:
        return boards.played(race.game, board, move)
    except IllegalMove as error:
        raise Refusal("illegal_move", str(error)) from None


def _search_for_stuck(race: LiveRace, after: Played) -> StuckSearch | None:
    """A search, where its verdict may be told."""
    if after.state is boards.RACING and may_declare(after.position):
        return StuckSearch(race.game, after.position)
    return None


def _answered_again(session: Session, race: LiveRace, board: Board, command_id: int) -> MoveMade:
    """The answer to a command that was carried out before; a `Refusal` if it never was."""
    entry = board.log.of_command(command_id)
    if entry is None:
        raise Refusal("stale_id")
    return MoveMade(
        re=command_id,
        board=race.view(board, session.legal),
        at=entry.at - race.start_at,
        repeat=True,
    )


def _check_racing(board: Board) -> None:
    if not board.racing:
        raise Refusal("board_over", f"Your board has ended: {board.state}.")


def _stale_sentence(meant: int, present: int) -> str:
    return f"That move was meant for a board with {meant} moves; yours has {present}. Look again."
