"""The running races on this node, with the boards that are played here.

Every race has the standings of all racers. Boards are rebuilt from their logs when first needed.
The log is the truth: what this node has of a board is what the store had when it was last read, and
what this node wrote since.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from saratoga_protocol.events import BoardChanged, BoardView, Standings
from saratoga_protocol.views import wire_view
from saratoga_rules.game import Game
from saratoga_rules.games import RULES
from saratoga_rules.money import net
from saratoga_rules.position import Position
from saratoga_rules.records.heads import first_head, shown
from saratoga_rules.records.standing import RacerScore, State, ranking
from saratoga_server.domain import board as boards
from saratoga_server.domain.board import Board, BoardChange, analysis_of, open_board
from saratoga_server.domain.open_races import Ghosts
from saratoga_server.domain.results import wire_standings
from saratoga_server.domain.tables import CommandRejected, TablePhase, TableState
from saratoga_server.domain.tables.countdown import checked_deal
from saratoga_server.live.broadcaster import send_loss
from saratoga_server.logs import EventLog
from saratoga_server.ports import CommitOutcome, Damage, LiveStanding, Millis

if TYPE_CHECKING:
    from saratoga_server.live.tables import LiveTable
    from saratoga_server.node import Node

log = EventLog("races")

FOLDED_AT_ONCE: Final = 2
"""Logs rebuilt at once; each delays every turn of the event loop by a millisecond."""


def try_acquire(lock: asyncio.Lock) -> bool:
    """Acquire a lock at once, without a task, if nobody holds it or waits for it."""
    acquiring = lock.acquire()
    try:
        acquiring.send(None)
    except StopIteration:  # it did not have to wait
        return True
    acquiring.close()
    return False


@dataclass(slots=True, eq=False)
class BoardRun:
    """One racer's part of a race: start, deadline, standing and board."""

    player: str
    start_at: Millis
    deadline: Millis
    """The end of the run; 0: no deadline."""
    standing: LiveStanding
    sent: LiveStanding | None = None
    """The standing that was last sent to the table at a tick; `None` if none was."""
    board: Board | None = None
    """The board, rebuilt from its log when first needed; `None` before."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """The lock held while a move is judged, stored and applied."""

    @property
    def held(self) -> Board:
        """The board, which this node holds."""
        assert self.board is not None
        return self.board

    @property
    def shown_head(self) -> str:
        """The head that others see: the last sent while count and state are, or it would show moves."""
        sent, standing = self.sent, self.standing
        if sent and (sent.banked, sent.state) == (standing.banked, standing.state):
            return sent.head
        return standing.head

    @property
    def has_ended(self) -> bool:
        return self.standing.state.has_ended


@dataclass(slots=True, eq=False)
class LiveRace:
    """A running race and the runs of its racers."""

    id: str
    code: str
    """The code of the table."""
    number: int
    game: Game
    key: bytes
    """The deal key."""
    opening: Position
    runs: dict[str, BoardRun]
    """The runs, by player."""
    people: frozenset[str]
    """The racers who are no bots."""
    deal_id: str
    """The id that keys the heads (`TableState.deal_id`)."""
    ghosts: Ghosts | None = None
    """The earlier runs that the player of an open race sees."""
    is_dealt: bool = False
    """True if this node's racers have been sent the deal."""
    has_final_standings: bool = False
    """True if the table was sent the standings after the last ending."""

    @property
    def racing(self) -> set[str]:
        """The racers whose boards have not ended."""
        return {player for player, run in self.runs.items() if not run.has_ended}

    @property
    def waited_for(self) -> frozenset[str]:
        """The racers for whom the others wait: the people if several raced, else everyone."""
        return self.people if len(self.people) > 1 else frozenset(self.runs)

    @property
    def last_racer(self) -> str:
        """The only one of `waited_for` who still races in a race of several; or empty."""
        racing = [player for player in self.waited_for if not self.runs[player].has_ended]
        return racing[0] if len(racing) == 1 < len(self.runs) else ""

    @property
    def only_bots_race(self) -> bool:
        """True if people have raced, and only bots still do."""
        return bool(self.people) and bool(self.racing) and not self.racing & self.people

    @property
    def is_over(self) -> bool:
        return all(run.has_ended for run in self.runs.values())

    def run(self, player: str) -> BoardRun:
        """Return a racer's run. Raises `CommandRejected`."""
        run = self.runs.get(player)
        if run is None:
            raise CommandRejected("not_racing")
        return run

    def standings(self) -> Standings:
        """Return all racers' standings, in order of place."""
        scores = [
            RacerScore(
                player=run.player,
                banked=run.standing.banked,
                state=run.standing.state,
                reached=run.standing.reached,
            )
            for run in self.runs.values()
        ]
        heads = {player: run.shown_head for player, run in self.runs.items()}
        if self.ghosts:
            scores += self.ghosts.scores()
            heads |= dict.fromkeys(self.ghosts.players, "")
        return wire_standings(self.id, ranking(self.game, scores), heads)

    def next_standings(self) -> Standings:
        """Return the standings that are sent to the table at a tick."""
        for run in self.runs.values():
            run.sent = replace(run.standing, head=run.shown_head)
        return self.standings()

    def open_board(self, run: BoardRun) -> Board:
        """Return a racer's board with the deal and no moves."""
        return open_board(self.opening, run.start_at, self.key, self.deal_id, run.player)

    def changed(
        self,
        board: Board,
        entries: range,
        *,
        legal: bool,
        re: int | None = None,
    ) -> BoardChanged:
        """Return the event with a board and the entries of its log that have these indexes."""
        return BoardChanged(
            re=re,
            board=self.view(board, legal),
            place=entries.start + 1,
            entries=board.lines(entries),
        )

    def view(self, board: Board, legal: bool) -> BoardView:
        """Return a board as its own player may see it; `legal`: with the legal moves."""
        moves = None
        if legal:
            analysis = analysis_of(self.game, board) if board.racing else None
            moves = [move.text for move in analysis.legal_moves()] if analysis else []
        return BoardView(
            race=self.id,
            count=board.length,
            view=wire_view(board.position),
            banked=board.banked,
            net=net(self.game, board.banked),
            state=board.state,
            head=shown(board.head),
            legal=moves,
        )


class Races:
    """The running races that this node has used."""

    def __init__(self, node: "Node") -> None:
        self._node = node
        self._store = node.store.boards
        self._races: dict[str, LiveRace] = {}
        self._damaged: set[str] = set()
        """The ids of the races whose stored data are damaged, each logged once."""
        self._folding = asyncio.Semaphore(FOLDED_AT_ONCE)

    def known(self, race_id: str) -> LiveRace | None:
        """Return the race if this node holds it, else `None`."""
        return self._races.get(race_id)

    def has_ended(self, race_id: str, player: str) -> bool:
        """Test whether the board of a racer has ended, as far as this node knows."""
        race = self._races.get(race_id)
        return race is not None and player in race.runs and race.runs[player].has_ended

    def all(self) -> list[LiveRace]:
        return list(self._races.values())

    def ghosts_moved(self) -> list[LiveRace]:
        """Return the races whose ghosts have other counts than at the last call."""
        return [race for race in self._races.values() if race.ghosts and race.ghosts.moved()]

    def keep_only(self, running: Collection[str]) -> None:
        """Drop all races except `running`."""
        for race_id in [race_id for race_id in self._races if race_id not in running]:
            self.forget(race_id)

    def forget(self, race_id: str) -> None:
        """Drop a race that is over, was voided, or must be read again."""
        self._races.pop(race_id, None)
        self._damaged.discard(race_id)

    def _refusal(self, code: str, race_id: str, damage: Damage) -> CommandRejected:
        """Log a race's damaged data, once for each race; return the refusal."""
        if race_id not in self._damaged:
            self._damaged.add(race_id)
            log.error("race_damaged", table=code, race=race_id, reason=str(damage))
        return CommandRejected("damaged")

    # Races

    async def of(self, table: "LiveTable") -> LiveRace:
        """Return the table's race. Raises `CommandRejected` if it has not started."""
        state = table.state
        race = self._races.get(state.race_id)
        if race is not None:
            return race
        if state.phase not in (TablePhase.RUNNING, TablePhase.OVER) or not state.deal_key:
            raise CommandRejected("wrong_phase", "The race has not started yet.")
        try:
            race = self._opened(state)
            stored = await self._store.load_standings(state.code, state.race)
        except Damage as damage:
            raise self._refusal(state.code, state.race_id, damage) from None
        race = self._races.setdefault(race.id, race)
        self.merge(race, stored)
        return race

    def _opened(self, state: TableState) -> LiveRace:
        game = RULES[state.rules_version][state.settings.game]
        key = checked_deal(state)
        opening, race_id = self._node.deal(game, key), state.race_id
        runs = {}
        for player in state.racers:
            head = shown(first_head(key, state.deal_id, player))
            standing = LiveStanding(0, opening.banked, State.RACING, head)
            runs[player] = BoardRun(player, state.start_at, state.deadline, standing)
        people = frozenset(each.player for each in state.racers.values() if not each.bot)
        ghosts = None
        if state.open and state.open.ghosts:
            since, clock = state.start_at, self._node.clock
            ghosts = Ghosts(state.open.ghosts, opening.banked, lambda: clock.now() - since)
        return LiveRace(
            race_id, state.code, state.race, game, key, opening, runs, people, state.deal_id, ghosts
        )

    async def running_at(self, code: str, race_id: str) -> LiveRace:
        """Return the race of that id at this table. Raises `CommandRejected`."""
        race = self._races.get(race_id)
        if race is None:
            table = await self._node.tables.get(code)
            if table.state.race_id != race_id:
                raise CommandRejected("no_such_race", _why_not_here(table.state, race_id))
            return await self.of(table)
        if race.code != code:
            raise CommandRejected("not_racing")
        return race

    # Boards

    async def board(self, race: LiveRace, player: str) -> tuple[BoardRun, Board]:
        """Return a run and its board, rebuilt when first needed. Raises `CommandRejected`.

        The caller does not hold `run.lock`.
        """
        run = race.run(player)
        if run.board is None:
            async with run.lock:
                # moves made while the store answers would look lost
                run.board = run.board or await self._load(race, run)
        return run, run.board

    async def reload(self, race: LiveRace, run: BoardRun) -> Board:
        """Return a board, read again. The caller holds `run.lock`. Raises `CommandRejected`."""
        run.board = await self._load(race, run)
        self.changed(race, run)
        return run.board

    async def latest(self, race: LiveRace, player: str) -> Board:
        """Wait for the board's lock and return the board, read again. Raises `CommandRejected`."""
        run = race.run(player)
        async with run.lock:
            return await self.reload(race, run)

    async def show_ending(self, race: LiveRace, player: str) -> None:
        """Send a player here the ending of a board that this node believed to be racing."""
        run = race.run(player)
        if self._node.broadcaster.holds_seat(player, race.code):
            async with run.lock:
                if run.board is None or run.board.racing:
                    await self.reload(race, run)
                    self.send_ending(race, run)

    async def final_boards(self, race: LiveRace) -> dict[str, Board] | None:
        """Return all boards of a race, read again; `None` if a board has not ended."""
        final = {}
        for player, run in list(race.runs.items()):
            # the store may have lost writes that were published, endings too
            board = await self.latest(race, player)
            if board.racing:
                run.standing = board.standing()
                return None
            final[player] = board
        return final

    async def _load(self, race: LiveRace, run: BoardRun) -> Board:
        """Return the stored board. The caller holds `run.lock`, so no move is made meanwhile."""
        known = run.board
        try:
            stored = await self._store.load_board(race.code, race.number, run.player)
            if stored is None:
                self._report_loss(race, run, 0)
                raise Damage("the board is gone")
            # this node may not have read the table since a newer connection took the seat over
            self._node.broadcaster.close_older(run.player, race.code, stored.epoch)
            board = None if known is None else boards.continued(known, stored)
            has_lost = board is None and known is not None
            if has_lost:
                self._report_loss(race, run, len(stored.entries))
            board = board or race.open_board(run)
            async with self._folding:
                for _ in boards.fold(race.game, board, stored):
                    await asyncio.sleep(0)
            if has_lost:
                # otherwise a standing never goes back
                run.standing = board.standing()
                self._node.broadcaster.standings_changed(race.code, race.next_standings)
        except Damage as damage:
            state = (await self._node.tables.get(race.code)).state
            if state.race_id != race.id or state.phase is not TablePhase.RUNNING:
                raise CommandRejected("not_racing") from None
            what = Damage(f"the board of {run.player}: {damage}")
            raise self._refusal(race.code, race.id, what) from None
        return board

    def _report_loss(self, race: LiveRace, run: BoardRun, stored: int) -> None:
        """Log that the store has lost acknowledged moves, and tell their player."""
        known = 0 if run.board is None else run.board.length
        if not known:
            return
        log.error(
            "moves_lost",
            table=race.code,
            race=race.id,
            player=run.player,
            acknowledged=known,
            stored=stored,
        )
        audience = self._node.broadcaster.audience(race.code)
        send_loss(
            [each for each in audience if each.player == run.player],
            f"The server's store lost data: your board is back at move {stored} of {known}. Continue from there.",
        )

    def send_ending(self, race: LiveRace, run: BoardRun) -> None:
        """Send the player, if connected here, that the server has ended the board."""
        board = run.held
        if board.racing:
            return
        for session in self._node.broadcaster.audience(race.code):
            if session.player == run.player and session.seat == race.code:
                last = range(board.length - 1, board.length)
                session.send(race.changed(board, last, legal=session.legal))

    def entered(
        self, race: LiveRace, run: BoardRun, after: BoardChange, outcome: CommitOutcome
    ) -> None:
        """Apply a durable commit to the board, and send the racer's new standing to the table."""
        boards.enter(run.held, after, outcome.at, outcome.number)
        self.changed(race, run)

    # Standings

    def changed(self, race: LiveRace, run: BoardRun) -> None:
        """Send the standing of a held board to the table, if others see a difference."""
        self._moves_on(race, run, run.held.standing())

    async def read_standings(self, race: LiveRace) -> None:
        """Merge the stored standings, in case an event was lost."""
        self.merge(race, await self._store.load_standings(race.code, race.number))

    def merge(self, race: LiveRace, standings: Mapping[str, LiveStanding]) -> None:
        """Take over standings newer than this node's; show players here how their boards ended."""
        for player, standing in standings.items():
            run = race.runs.get(player)
            # without an entry, the store has no head
            if run is None or not standing.length or not self._moves_on(race, run, standing):
                continue
            if standing.state.has_ended and run.board is not None:
                self._node.background_tasks.spawn(self.show_ending(race, player))

    def _moves_on(self, race: LiveRace, run: BoardRun, standing: LiveStanding) -> bool:
        """Replace a standing by a newer one; return whether other players see a difference."""
        known = run.standing
        if standing.length <= known.length:
            return False
        run.standing = standing
        if (standing.banked, standing.state, standing.reached) == (
            known.banked,
            known.state,
            known.reached,
        ):
            return False
        self._node.broadcaster.standings_changed(race.code, race.next_standings)
        return True


def _why_not_here(state: TableState, race_id: str) -> str:
    """Return why a race is not the one at its table, as a sentence."""
    code, _, number = race_id.partition("/")
    if code == state.code and number.isdecimal() and int(number) < state.race:
        return "That race is over; its record says whether the move counts."
    return f"The race at this table is {state.race_id}."
