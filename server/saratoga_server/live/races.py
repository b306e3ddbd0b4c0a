"""The races on this node: each opened from its table and the store, with the boards played here.

A race's stands are what its table may know of everyone; its boards are folded from their logs at
the first touch.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from saratoga_protocol.events import BoardEnded, BoardView, Standing, Standings
from saratoga_protocol.views import wire_view
from saratoga_rules.deal import deal_for_key
from saratoga_rules.game import Game
from saratoga_rules.games import RULES
from saratoga_rules.judge import legal_moves
from saratoga_rules.money import net
from saratoga_rules.position import Position
from saratoga_rules.standing import Racer, Reached, State, ranking
from saratoga_rules.views import redact
from saratoga_server.domain import board as boards
from saratoga_server.domain.board import Board
from saratoga_server.domain.tables import Phase, Refusal, TableState
from saratoga_server.live.board_lock import BoardLock
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.table_cache import TableCache
from saratoga_server.messages.node_events import StoodAt
from saratoga_server.ports import BoardStore, Millis, StoredStanding

FOLDED_AT_ONCE: Final = 2
"""Long logs; each takes a millisecond of every turn of the event loop."""

Deal = Callable[[Game, bytes], Position]
"""The opening position that belongs to a deal key."""


@dataclass(slots=True)
class LiveStanding:
    """What the table may know of a racer."""

    banked: int
    state: State
    reached: Reached | None = None
    length: int = field(default=0, compare=False)
    """Of the board's log: what has more entries is newer."""

    @classmethod
    def told(cls, stood: StoodAt) -> "LiveStanding":
        """As another node told it."""
        reached = None if stood.at < 0 else Reached(stood.at, stood.number)
        return cls(stood.banked, State(stood.state), reached, stood.length)

    def is_as(self, board: Board) -> bool:
        """Whether the board shows nothing new: most moves bank nothing."""
        return (
            self.banked == board.banked
            and self.state is board.state
            and self.reached == board.reached
        )

    def to_tell(self, player: str) -> StoodAt:
        """As other nodes are told it."""
        at, number = self.reached or (-1, 0)
        return StoodAt(player, self.length, self.banked, self.state, at, number)


@dataclass(slots=True)
class LiveRace:
    """A race that has started, on this node."""

    id: str
    code: str
    number: int
    game: Game
    opening: Position
    start_at: Millis
    deadline: Millis
    stands: dict[str, LiveStanding]
    boards: dict[str, Board] = field(default_factory=dict)
    turns: dict[str, BoardLock] = field(default_factory=dict)
    is_dealt: bool = False
    """This node's racers have been sent the deal."""

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

    def turn(self, player: str) -> BoardLock:
        """Held by whoever judges or ends the player's board."""
        turn = self.turns.get(player)
        if turn is None:
            turn = self.turns[player] = BoardLock()
        return turn

    def view(self, board: Board, legal: bool) -> BoardView:
        """A player's own board, as its player may see it."""
        moves = None
        if legal:
            racing = board.racing
            moves = [move.text for move in legal_moves(self.game, board.position)] if racing else []
        return BoardView(
            race=self.id,
            count=board.length,
            view=wire_view(redact(board.position)),
            banked=board.banked,
            net=net(self.game, board.banked),
            state=board.state,
            legal=moves,
        )

    @property
    def is_over(self) -> bool:
        return all(stand.state.has_ended for stand in self.stands.values())


class RaceCache:
    """All races that this node has touched and that are not over."""

    def __init__(
        self,
        store: BoardStore,
        table_cache: TableCache,
        broadcaster: Broadcaster,
        deal: Deal = deal_for_key,
    ) -> None:
        self._store = store
        self._table_cache = table_cache
        self._broadcaster = broadcaster
        self._deal = deal
        self._races: dict[str, LiveRace] = {}
        self._folding = asyncio.Semaphore(FOLDED_AT_ONCE)
        self._arriving: dict[str, dict[str, LiveStanding]] = {}
        """Of races that are being loaded: what was told of them meanwhile."""
        self.on_board_ended: Callable[[LiveRace], None] | None = None
        """Told when a board has ended: perhaps it was the last of its race."""
        self.on_stand: Callable[[LiveRace, str, LiveStanding], None] | None = None
        """Told where a racer stands now who plays here."""
        self.on_heard_end: Callable[[LiveRace, str], None] | None = None
        """Told when a board is said to have ended, on another node."""

    async def of(self, live_table: LiveTable) -> LiveRace:
        """The table's race, once it has started; raises `Refusal` before."""
        state = live_table.state
        race = self._races.get(state.race_id)
        if race is not None:
            return race
        if state.phase not in (Phase.RUNNING, Phase.OVER) or not state.deal_key:
            raise Refusal("wrong_phase", "The race has not started yet.")
        told = self._arriving.setdefault(state.race_id, {})
        try:
            stored = await self._store.load_standings(state.code, state.race)
        finally:
            self._arriving.pop(state.race_id, None)
        race = self._races.get(state.race_id)
        if race is None:
            race = self.open(live_table)
            for player, standing in stored.items():
                race.stands[player] = _stand(standing, race.start_at)
            self._merge(race, told)
        return race

    def known(self, race_id: str) -> LiveRace | None:
        """The race, if this node has touched it."""
        return self._races.get(race_id)

    def all(self) -> list[LiveRace]:
        return list(self._races.values())

    def open(self, live_table: LiveTable) -> LiveRace:
        """The table's race, which has just started."""
        return self._races.setdefault(live_table.state.race_id, self._opened(live_table.state))

    async def running_at(self, code: str, race_id: str) -> LiveRace:
        """The race of that id, which must be the one at this table; raises `Refusal`."""
        race = self._races.get(race_id)
        if race is None:
            live_table = await self._table_cache.live_table(code)
            if live_table.state.race_id != race_id:
                raise Refusal(
                    "no_such_race", f"The race at this table is {live_table.state.race_id}."
                )
            return await self.of(live_table)
        if race.code != code:
            raise Refusal("not_racing")
        return race

    def keep_only(self, running: Collection[str]) -> None:
        """Let go of all races but these."""
        for race_id in [race_id for race_id in self._races if race_id not in running]:
            del self._races[race_id]

    def opening_banked(self, state: TableState) -> int:
        """How many cards the table's coming deal puts on the foundations."""
        return self._opening(state).banked

    def _opening(self, state: TableState) -> Position:
        return self._deal(_game_of(state), bytes.fromhex(state.deal_key))

    def _opened(self, state: TableState) -> LiveRace:
        opening = self._opening(state)
        return LiveRace(
            id=state.race_id,
            code=state.code,
            number=state.race,
            game=_game_of(state),
            opening=opening,
            start_at=state.start_at,
            deadline=state.deadline,
            stands={player: LiveStanding(opening.banked, State.RACING) for player in state.racers},
        )

    async def board(self, race: LiveRace, player: str) -> Board:
        """The player's board, folded from the store at the first touch; raises `Refusal`."""
        board = race.boards.get(player)
        if board is None:
            loaded = await self._load(race, player)
            board = race.boards.setdefault(player, loaded)
        return board

    async def reload(self, race: LiveRace, player: str, *, is_shown: bool = False) -> Board:
        """The player's board, read again: another node may have written; raises `Refusal`.

        The player is told if the house has ended it meanwhile, unless the board `is_shown` whole
        anyway. The turn at it is the caller's.
        """
        known = race.boards.get(player)
        raced = known is not None and known.racing
        board = race.boards[player] = await self._load(race, player)
        self.stands(race, player, board)
        if raced and not is_shown and not board.racing and not board.log[-1].command_id:
            self.tell_ended(race, player, board)
        return board

    def tell_ended(self, race: LiveRace, player: str, board: Board) -> None:
        """The house has ended the board: tell whoever holds the player's seat here."""
        for session in self._broadcaster.audience(race.code):
            if session.player == player and session.seat == race.code:
                session.tell(
                    BoardEnded(
                        board=race.view(board, session.legal),
                        at=board.log[-1].at - race.start_at,
                    )
                )

    async def final_boards(self, race: LiveRace) -> dict[str, Board] | None:
        """Every board of a race, ended; `None` if one still races."""
        final = {}
        for player in list(race.stands):
            board = await self.board(race, player)
            if board.racing:
                async with race.turn(player):
                    board = await self.reload(race, player)
            if board.racing:
                # a store that lost its newest writes knows better than whoever told of them
                race.stands[player] = _stand_of(board)
                return None
            final[player] = board
        return final

    async def _load(self, race: LiveRace, player: str) -> Board:
        stored = await self._store.load_board(race.code, race.number, player)
        if stored is None:
            raise Refusal("not_racing")
        known = race.boards.get(player)
        board = None if known is None else boards.as_far_as(known, stored)
        if board is None:
            board = boards.open_board(race.opening, race.start_at)
        async with self._folding:
            for _ in boards.fold(race.game, board, stored):
                await asyncio.sleep(0)
        return board

    def stands(self, race: LiveRace, player: str, board: Board) -> None:
        """Let the table know where a racer stands now, if that is news; other nodes too."""
        known = race.stands.get(player)
        if known is not None and known.is_as(board):
            known.length = max(known.length, board.length)
            return
        stand = _stand_of(board)
        if not self._moves_on(race, player, stand):
            return
        if self.on_stand is not None:
            self.on_stand(race, player, stand)
        if stand.state.has_ended and self.on_board_ended is not None:
            self.on_board_ended(race)

    def hear(self, race_id: str, told: Mapping[str, LiveStanding]) -> None:
        """Another node tells where racers stand; what is older than what is known is passed over."""
        arriving = self._arriving.get(race_id)
        if arriving is not None:
            for player, stand in told.items():
                if player not in arriving or arriving[player].length < stand.length:
                    arriving[player] = stand
        race = self._races.get(race_id)
        if race is not None:
            self._merge(race, told)

    async def look_again(self, race: LiveRace) -> None:
        """Read where everybody stands, in case that nobody could tell."""
        stored = await self._store.load_standings(race.code, race.number)
        self._merge(race, {p: _stand(each, race.start_at) for p, each in stored.items()})

    def _merge(self, race: LiveRace, told: Mapping[str, LiveStanding]) -> None:
        for player, stand in told.items():
            if not self._moves_on(race, player, stand):
                continue
            if stand.state.has_ended and self.on_heard_end is not None:
                self.on_heard_end(race, player)

    def _moves_on(self, race: LiveRace, player: str, stand: LiveStanding) -> bool:
        """Whether that is newer than what was known, and seen to be; a stand never turns back."""
        known = race.stands.get(player)
        if known is None or stand.length <= known.length:
            return False
        race.stands[player] = stand
        if stand == known:
            return False
        self._broadcaster.standings_changed(race.code, race.standings)
        return True


def _stand_of(board: Board) -> LiveStanding:
    return LiveStanding(board.banked, board.state, board.reached, board.length)


def _stand(stored: StoredStanding, start_at: Millis) -> LiveStanding:
    at = stored.reached_at
    reached = None if at is None else Reached(at - start_at, stored.reached_number)
    return LiveStanding(stored.banked, State(stored.state), reached, stored.length)


def _game_of(state: TableState) -> Game:
    """The game under the rules of its race: a race that runs goes on under those that it began with."""
    return RULES[state.rules_version][state.settings.game]
