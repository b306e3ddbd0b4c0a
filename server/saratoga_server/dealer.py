"""The boards on this node: dealt at the start, judged move by move, ended, and counted up.

The way of a move: the position it was meant for is checked, the judge asked, the store asked to
append it, and only when it is durable is the board changed and the player answered.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from saratoga_protocol.commands import CashOut, MakeMove
from saratoga_protocol.events import BoardEnded, BoardView, Dealt, MoveMade, Standing, Standings
from saratoga_protocol.views import wire_view
from saratoga_rules.deal import deal_for_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.judge import IllegalMove, legal_moves
from saratoga_rules.money import net
from saratoga_rules.moves import parse_move
from saratoga_rules.position import Position
from saratoga_rules.standing import Racer, Reached, State, ranking
from saratoga_rules.stuck import DEFAULT_LIMIT, INLINE_LIMIT, StuckSearch, may_declare
from saratoga_rules.views import redact
from saratoga_server import race as boards
from saratoga_server.clock import HouseClock
from saratoga_server.floor import Floor, Room
from saratoga_server.hub import Hub
from saratoga_server.ports import (
    BoardCommit,
    BoardStore,
    CommitOutcome,
    CommitStatus,
    LogEntry,
    Millis,
    StoreUnavailable,
)
from saratoga_server.race import Board, Played
from saratoga_server.session import Session
from saratoga_server.table import Phase, Refusal, TableState

SLICE: Final = INLINE_LIMIT // 2
"""Arrangements that a slice of a longer search looks at: well under 2 ms of the event loop."""

OUTCOME_REFUSALS: Final = {
    CommitStatus.FENCED: "taken_over",
    CommitStatus.TIME_UP: "time_up",
    CommitStatus.BOARD_OVER: "board_over",
    CommitStatus.NO_BOARD: "not_racing",
}

Deal = Callable[[Game, bytes], Position]
"""The opening position that belongs to a deal key."""


@dataclass(slots=True)
class Stand:
    """What the table may know of a racer."""

    banked: int
    state: State
    reached: Reached | None = None


@dataclass(slots=True)
class Race:
    """A race that has started, on this node."""

    id: str
    code: str
    number: int
    game: Game
    opening: Position
    start_at: Millis
    deadline: Millis
    stands: dict[str, Stand]
    boards: dict[str, Board] = field(default_factory=dict)
    locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    def standings(self) -> Standings:
        """Where everyone stands, in order of place."""
        rows = ranking(
            self.game,
            [
                Racer(player=player, banked=s.banked, state=s.state, reached=s.reached)
                for player, s in self.stands.items()
            ],
        )
        return Standings(
            race=self.id,
            standings=[
                Standing(player=r.player, place=r.place, banked=r.banked, net=r.net, state=r.state)
                for r in rows
            ],
        )

    @property
    def is_over(self) -> bool:
        return all(stand.state.has_ended for stand in self.stands.values())


class Dealer:
    """Deals, judges and ends the boards of the races that this node has touched."""

    def __init__(
        self,
        store: BoardStore,
        floor: Floor,
        hub: Hub,
        clock: HouseClock,
        deal: Deal = deal_for_key,
    ) -> None:
        self._store = store
        self._floor = floor
        self._hub = hub
        self._clock = clock
        self._deal = deal
        self._races: dict[str, Race] = {}
        self._searches: set[asyncio.Task[None]] = set()
        self._searching = asyncio.Semaphore(1)
        self.on_board_ended: Callable[[Race], None] | None = None
        """Told when a board has ended: perhaps it was the last of its race."""

    # A race, from the table

    async def race(self, room: Room) -> Race:
        """The table's race, once it has started; raises `Refusal` before."""
        state = room.state
        race_id = f"{state.code}/{state.race}"
        race = self._races.get(race_id)
        if race is not None:
            return race
        if state.phase not in (Phase.RUNNING, Phase.OVER) or not state.deal_key:
            raise Refusal("wrong_phase", "The race has not started yet.")
        stored = await self._store.load_standings(state.code, state.race)
        race = self._races.get(race_id)
        if race is None:
            race = self._races[race_id] = self._opened(state, race_id)
        for player, standing in stored.items():
            reached = standing.reached_at
            race.stands[player] = Stand(
                standing.banked,
                State(standing.state),
                None
                if reached is None
                else Reached(reached - race.start_at, standing.reached_number),
            )
        return race

    def known(self, state: TableState) -> Race | None:
        """The table's race, if this node has touched it."""
        return self._races.get(f"{state.code}/{state.race}")

    def forget(self, race_id: str) -> None:
        """Let go of a race that nobody here needs."""
        self._races.pop(race_id, None)

    def opening_banked(self, state: TableState) -> int:
        """How many cards the table's coming deal puts on the foundations."""
        return self._opening(state).banked

    def _opening(self, state: TableState) -> Position:
        return self._deal(GAMES[state.settings.game], bytes.fromhex(state.deal_key))

    def _opened(self, state: TableState, race_id: str) -> Race:
        opening = self._opening(state)
        return Race(
            id=race_id,
            code=state.code,
            number=state.race,
            game=GAMES[state.settings.game],
            opening=opening,
            start_at=state.start_at,
            deadline=state.deadline,
            stands={player: Stand(opening.banked, State.RACING) for player in state.racers},
        )

    # Boards

    async def board(self, race: Race, player: str) -> Board:
        """The player's board, folded from the store at the first touch; raises `Refusal`."""
        board = race.boards.get(player)
        if board is None:
            loaded = await self._load(race, player)
            board = race.boards.setdefault(player, loaded)
        return board

    async def board_as_stored(self, race: Race, player: str) -> Board:
        """The player's board, read again: another node may have written; raises `Refusal`."""
        async with self._lock(race, player):
            return await self._reload(race, player)

    async def _load(self, race: Race, player: str) -> Board:
        stored = await self._store.load_board(race.code, race.number, player)
        if stored is None:
            raise Refusal("not_racing")
        return boards.fold(race.game, race.opening, race.start_at, stored)

    async def _reload(self, race: Race, player: str) -> Board:
        board = race.boards[player] = await self._load(race, player)
        self._stands(race, player, board)
        return board

    def _stands(self, race: Race, player: str, board: Board) -> None:
        """Let the table know where a racer stands now, if that is news."""
        stand, known = Stand(board.banked, board.state, board.reached), race.stands.get(player)
        if stand == known:
            return
        race.stands[player] = stand
        self._hub.standings_changed(race.code, race.standings)
        if stand.state.has_ended and self.on_board_ended is not None:
            self.on_board_ended(race)

    def board_view(self, race: Race, board: Board, legal: bool) -> BoardView:
        """A player's own board, as its player may see it."""
        moves = None
        if legal:
            racing = board.racing
            moves = [str(m) for m in legal_moves(race.game, board.position)] if racing else []
        return BoardView(
            race=race.id,
            count=board.length,
            view=wire_view(redact(board.position)),
            banked=board.banked,
            net=net(race.game, board.banked),
            state=board.state,
            legal=moves,
        )

    async def deal(self, room: Room) -> None:
        """The race starts: every racer on this node is sent the deal, all in one go."""
        race = await self.race(room)
        seated = [s for s in self._hub.audience(room.code) if s.seat == room.code]
        frames: list[tuple[Session, bytes | str]] = []
        for session in seated:
            if session.player not in race.stands:
                continue
            board = race.boards.setdefault(
                session.player, boards.open_board(race.opening, race.start_at, session.epoch)
            )
            event = Dealt(
                board=self.board_view(race, board, session.legal),
                start_at=race.start_at,
                deadline=race.deadline,
                now=self._clock.now(),
            )
            frames.append((session, session.codec.encode_event(event)))
        for session, frame in frames:
            session.line.send(frame)
        self._hub.standings_changed(room.code, race.standings)

    # Moves

    async def make_move(self, session: Session, command: MakeMove) -> MoveMade:
        """Judge a move, make it durable, and say what the board is now; raises `Refusal`."""
        race, board = await self._own(session, command.race)
        async with self._lock(race, session.player):
            board = race.boards.get(session.player, board)
            if command.id <= board.last_id:
                return self._answer_again(session, race, board, command.id)
            _still_racing(board)
            if command.after != board.length:
                raise Refusal("stale_move", _stale_sentence(command.after, board.length))
            try:
                move = parse_move(command.move)
            except ValueError as error:
                raise Refusal("bad_move", str(error)) from None
            try:
                after = boards.played(race.game, board, move)
            except IllegalMove as error:
                raise Refusal("illegal_move", str(error)) from None
            entries = [command.move]
            search = None
            if after.state is State.RACING and may_declare(after.position):
                search = StuckSearch(race.game, after.position)
                if search.advance(INLINE_LIMIT):
                    after = Played(after.position, after.banked, State.STUCK)
                    entries.append(boards.ENDING_OF_STATE[State.STUCK])
            outcome = await self._commit(session, race, board, command.id, entries, after)
            if outcome is None:
                return self._answer_again(session, race, race.boards[session.player], command.id)
            self._entered(race, session.player, board, command.id, entries, after, outcome)
        if search is not None and after.state is State.RACING and search.advance(0) is None:
            self._search_on(race, session.player, board.length, search)
        return MoveMade(
            re=command.id,
            board=self.board_view(race, board, session.legal),
            at=outcome.at - race.start_at,
        )

    async def cash_out(self, session: Session, command: CashOut) -> MoveMade:
        """End a player's own board, and keep what is banked; raises `Refusal`."""
        race, board = await self._own(session, command.race)
        async with self._lock(race, session.player):
            board = race.boards.get(session.player, board)
            if command.id <= board.last_id:
                return self._answer_again(session, race, board, command.id)
            _still_racing(board)
            after = Played(board.position, board.banked, State.CASHED_OUT)
            entries = [boards.ENDING_OF_STATE[State.CASHED_OUT]]
            outcome = await self._commit(session, race, board, command.id, entries, after)
            if outcome is None:
                return self._answer_again(session, race, race.boards[session.player], command.id)
            self._entered(race, session.player, board, command.id, entries, after, outcome)
        return MoveMade(
            re=command.id,
            board=self.board_view(race, board, session.legal),
            at=outcome.at - race.start_at,
        )

    async def own_board(self, session: Session, race_id: str) -> BoardView | None:
        """The player's present board, to go with a refusal; `None` where there is none."""
        try:
            race, board = await self._own(session, race_id)
        except (Refusal, StoreUnavailable):
            return None
        return self.board_view(race, board, session.legal)

    async def _own(self, session: Session, race_id: str) -> tuple[Race, Board]:
        if session.seat is None:
            raise Refusal("not_seated")
        race = self._races.get(race_id)
        if race is None:
            room = await self._floor.room(session.seat)
            if room.state.race_id != race_id:
                raise Refusal("no_such_race", f"The race at this table is {room.state.race_id}.")
            race = await self.race(room)
        elif race.code != session.seat:
            raise Refusal("not_racing")
        return race, await self.board(race, session.player)

    def _lock(self, race: Race, player: str) -> asyncio.Lock:
        lock = race.locks.get(player)
        if lock is None:
            lock = race.locks[player] = asyncio.Lock()
        return lock

    async def _commit(
        self,
        session: Session,
        race: Race,
        board: Board,
        command_id: int,
        entries: list[str],
        after: Played,
    ) -> CommitOutcome | None:
        """Store a player's own entries; `None`: they were there already; may raise `Refusal`."""
        outcome = await self._write(
            race, session.player, board, session.epoch, command_id, entries, after
        )
        if outcome.status is CommitStatus.DONE:
            return outcome
        await self._reload(race, session.player)
        if outcome.status is CommitStatus.REPEAT:
            return None
        if outcome.status is CommitStatus.STALE:
            raise Refusal("stale_move", _stale_sentence(board.length, outcome.length))
        raise Refusal(OUTCOME_REFUSALS[outcome.status])

    async def _write(
        self,
        race: Race,
        player: str,
        board: Board,
        epoch: int,
        command_id: int,
        entries: list[str],
        after: Played,
    ) -> CommitOutcome:
        (outcome,) = await self._store.commit(
            [
                BoardCommit(
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
                    late=after.state is State.OUT_OF_TIME,
                )
            ]
        )
        return outcome

    def _entered(
        self,
        race: Race,
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
        self._stands(race, player, board)

    def _answer_again(
        self, session: Session, race: Race, board: Board, command_id: int
    ) -> MoveMade:
        if not board.accepted(command_id):
            raise Refusal("stale_id")
        entry = next(e for e in reversed(board.log) if e.command_id == command_id)
        return MoveMade(
            re=command_id,
            board=self.board_view(race, board, session.legal),
            at=entry.at - race.start_at,
            repeat=True,
        )

    # Endings of the house's own

    async def end(self, race: Race, player: str, state: State, length: int | None = None) -> bool:
        """End a board for the house's reason; False if it had ended, or `length` is not its length."""
        async with self._lock(race, player):
            board = await self.board(race, player)
            if not board.racing or (length is not None and board.length != length):
                return False
            if not await self._end(race, player, board, state):
                board = await self._reload(race, player)
                if length is not None and board.length != length and board.racing:
                    return False
                if board.racing and not await self._end(race, player, board, state):
                    return False
        for session in self._hub.audience(race.code):
            if session.player == player and session.seat == race.code:
                session.tell(
                    BoardEnded(
                        board=self.board_view(race, board, session.legal),
                        at=board.log[-1].at - race.start_at,
                    )
                )
        return True

    async def _end(self, race: Race, player: str, board: Board, state: State) -> bool:
        """Write the ending; False if the board is not as this node thought."""
        after = Played(board.position, board.banked, state)
        entries = [boards.ENDING_OF_STATE[state]]
        outcome = await self._write(race, player, board, 0, 0, entries, after)
        if outcome.status is not CommitStatus.DONE:
            return False
        self._entered(race, player, board, 0, entries, after, outcome)
        return True

    async def sweep(self, race: Race) -> list[str]:
        """End the boards whose time is up or whose racers have gone quiet; returns the quiet."""
        quiet = []
        now = self._clock.now()
        out_of_time = bool(race.deadline) and now >= race.deadline
        for player, stand in list(race.stands.items()):
            if stand.state.has_ended:
                continue
            board = await self.board(race, player)
            if out_of_time:
                await self.end(race, player, State.OUT_OF_TIME)
            elif len(race.stands) > 1 and (
                now - boards.last_sign_of_life(board) >= boards.IDLE_LEAVES
            ):
                await self.end(race, player, State.LEFT)
                quiet.append(player)
        return quiet

    async def final_boards(self, race: Race) -> dict[str, Board] | None:
        """Every board of a race as the store has it; `None` if one still races."""
        final = {player: await self._reload(race, player) for player in list(race.stands)}
        if any(board.racing for board in final.values()):
            return None
        return final

    def _search_on(self, race: Race, player: str, length: int, search: StuckSearch) -> None:
        """Go on with a long search for *stuck* in slices, until it is settled or out of date."""
        task = asyncio.create_task(self._search(race, player, length, search))
        self._searches.add(task)
        task.add_done_callback(self._searches.discard)

    async def _search(self, race: Race, player: str, length: int, search: StuckSearch) -> None:
        async with self._searching:
            for _ in range(DEFAULT_LIMIT // SLICE):
                if race.boards[player].length != length:
                    return
                verdict = search.advance(SLICE)
                if verdict is not None:
                    break
                await asyncio.sleep(0)
            else:
                return
        if verdict:
            await self.end(race, player, State.STUCK, length)

    async def stop(self) -> None:
        """Give up what is still being searched."""
        for task in self._searches:
            task.cancel()
        await asyncio.gather(*self._searches, return_exceptions=True)


def _still_racing(board: Board) -> None:
    if not board.racing:
        raise Refusal("board_over", f"Your board has ended: {board.state}.")


def _stale_sentence(meant: int, present: int) -> str:
    return f"That move was meant for a board with {meant} moves; yours has {present}. Look again."
