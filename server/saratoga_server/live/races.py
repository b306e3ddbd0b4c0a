"""The running races on this node, with the boards that are played here.

Every race has the standings of all racers. Boards are rebuilt from their logs when first needed.
"""

from collections.abc import Collection, Mapping

from saratoga_rules.records.heads import first_head, shown
from saratoga_rules.records.standing import State
from saratoga_server.domain import board as boards
from saratoga_server.domain.board import Board, BoardChange
from saratoga_server.domain.tables import CommandRejected, TablePhase, TableState
from saratoga_server.live.broadcaster import Broadcaster, send_loss
from saratoga_server.live.live_race import BoardRun, LiveRace
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.peers import Peers
from saratoga_server.live.stored_logs import StoredLogs, game_of
from saratoga_server.live.table_cache import TableCache
from saratoga_server.logs import EventLog
from saratoga_server.ports import CommitOutcome, Damage, LiveStanding
from saratoga_server.store.boards import BoardStore

log = EventLog("races")


class RaceCache:
    """The cache of running races that this node has used."""

    def __init__(
        self,
        store: BoardStore,
        table_cache: TableCache,
        broadcaster: Broadcaster,
        peers: Peers,
        logs: StoredLogs,
    ) -> None:
        self._store = store
        self._table_cache = table_cache
        self._broadcaster = broadcaster
        self._peers = peers
        self._damaged: set[str] = set()
        """The ids of the races whose stored data are damaged, each logged once."""
        self._logs = logs
        self._races: dict[str, LiveRace] = {}
        self._loading: dict[str, dict[str, LiveStanding]] = {}
        """The standings published for each race while it is being loaded."""

    def known(self, race_id: str) -> LiveRace | None:
        """Return the race if it is in the cache, else `None`."""
        return self._races.get(race_id)

    def all(self) -> list[LiveRace]:
        return list(self._races.values())

    def keep_only(self, running: Collection[str]) -> None:
        """Drop all races except `running`."""
        for race_id in [race_id for race_id in self._races if race_id not in running]:
            del self._races[race_id]
        self._damaged.intersection_update(running)

    def _refusal(self, code: str, race_id: str, damage: Damage) -> CommandRejected:
        """Log a race's damaged data, once for each race; return the refusal."""
        if race_id not in self._damaged:
            self._damaged.add(race_id)
            log.error("race_damaged", table=code, race=race_id, reason=str(damage))
        return CommandRejected("damaged")

    def forget(self, race_id: str) -> None:
        """Drop a race that was voided or must be read again."""
        self._races.pop(race_id, None)
        self._damaged.discard(race_id)

    # Races

    async def of(self, table: LiveTable) -> LiveRace:
        """Return the table's race. Raises `CommandRejected` if it has not started."""
        state = table.state
        race = self._races.get(state.race_id)
        if race is not None:
            return race
        if state.phase not in (TablePhase.RUNNING, TablePhase.OVER) or not state.deal_key:
            raise CommandRejected("wrong_phase", "The race has not started yet.")
        published = self._loading.setdefault(state.race_id, {})
        try:
            stored = await self._store.load_standings(state.code, state.race)
        except Damage as damage:
            raise self._refusal(state.code, state.race_id, damage) from None
        finally:
            self._loading.pop(state.race_id, None)
        race = self._races.get(state.race_id)
        if race is None:
            race = self.open(table)
            for player, standing in stored.items():
                # without an entry, the store has no head
                if player in race.runs and standing.length:
                    race.runs[player].standing = standing
            self._merge(race, published)
        return race

    def open(self, table: LiveTable) -> LiveRace:
        """Return the table's race that has just started; cache the race if it is missing.

        Raises `CommandRejected` if the stored data of the deal are damaged.
        """
        state = table.state
        if state.race_id not in self._races:
            try:
                self._races[state.race_id] = self._opened(state)
            except Damage as damage:
                raise self._refusal(state.code, state.race_id, damage) from None
        return self._races[state.race_id]

    def _opened(self, state: TableState) -> LiveRace:
        opening, key = self._logs.opening(state), bytes.fromhex(state.deal_key)
        return LiveRace(
            id=state.race_id,
            code=state.code,
            number=state.race,
            game=game_of(state),
            key=key,
            opening=opening,
            runs={
                player: BoardRun(
                    player=player,
                    start_at=state.start_at,
                    deadline=state.deadline,
                    audience=state.code,
                    standing=LiveStanding(
                        0,
                        opening.banked,
                        State.RACING,
                        shown(first_head(key, state.race_id, player)),
                    ),
                )
                for player in state.racers
            },
        )

    async def running_at(self, code: str, race_id: str) -> LiveRace:
        """Return the race of that id at this table. Raises `CommandRejected`."""
        race = self._races.get(race_id)
        if race is None:
            table = await self._table_cache.get(code)
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
        run = _run(race, player)
        if run.board is None:
            async with run.lock:
                # moves made while the store answers would look lost
                run.board = run.board or await self._load(race, run)
        return run, run.board

    async def reload(self, race: LiveRace, run: BoardRun, *, is_shown: bool = False) -> Board:
        """Return a board, read again after another node's write. The caller holds `run.lock`.

        If the server has ended the board meanwhile, the player is sent the ending, unless the caller sends
        the board anyway (`is_shown`). Raises `CommandRejected`.
        """
        was_racing = run.board is not None and run.board.racing
        board = run.board = await self._load(race, run)
        self.changed(race, run)
        if was_racing and not is_shown and not board.racing and not board.log[-1].command_id:
            self.send_ending(race, run)
        return board

    async def latest(self, race: LiveRace, player: str, *, is_shown: bool = False) -> Board:
        """Wait for the board's lock and return the board, read again. Raises `CommandRejected`."""
        run = _run(race, player)
        async with run.lock:
            return await self.reload(race, run, is_shown=is_shown)

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
            self._broadcaster.close_older(run.player, race.code, stored.epoch)
            run.stored_active_at = stored.active_at
            run.active_at = max(run.active_at, stored.active_at)
            board = None if known is None else boards.continued(known, stored)
            has_lost = board is None and known is not None
            if has_lost:
                self._report_loss(race, run, len(stored.entries))
            if board is None:
                board = race.open_board(run)
            await self._logs.fold(race.game, board, stored)
            if has_lost:
                # otherwise a standing never goes back
                run.standing = board.standing()
                self._broadcaster.standings_changed(run.audience, race.next_standings)
        except Damage as damage:
            state = (await self._table_cache.get(race.code)).state
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
        send_loss(
            [each for each in self._broadcaster.audience(race.code) if each.player == run.player],
            f"The server's store lost data: your board is back at move {stored} of {known}. Continue from there.",
        )

    def send_ending(self, race: LiveRace, run: BoardRun) -> None:
        """Send the player, if connected here, that the server has ended the board."""
        board = run.board
        assert board is not None
        for session in self._broadcaster.audience(run.audience):
            if session.player == run.player and session.seat == run.audience:
                last = range(board.length - 1, board.length)
                session.send(race.changed(board, last, legal=session.legal))

    def entered(
        self,
        race: LiveRace,
        run: BoardRun,
        after: BoardChange,
        outcome: CommitOutcome,
        command_id: int = 0,
    ) -> None:
        """Apply a durable commit to the board, and send the racer's new standing to the table."""
        assert run.board is not None
        boards.enter(run.board, after, outcome.at, outcome.number, command_id)
        self.changed(race, run)

    # Standings

    def changed(self, race: LiveRace, run: BoardRun) -> None:
        """Send the new standing of a racer on this node to the table and to the other nodes."""
        assert run.board is not None
        standing = run.board.standing()
        if standing.shows_same_as(run.standing):
            if standing.length > run.standing.length:
                run.standing = standing
        elif self._moves_on(race, run, standing):
            self._peers.standing_changed(race.id, run.player, standing)

    def published(self, race_id: str, standings: Mapping[str, LiveStanding]) -> list[str]:
        """Merge standings from another node; return the racers that have ended there."""
        loading = self._loading.get(race_id)
        if loading is not None:
            for player, standing in standings.items():
                if player not in loading or loading[player].length < standing.length:
                    loading[player] = standing
        race = self._races.get(race_id)
        return [] if race is None else self._merge(race, standings)

    async def read_standings(self, race: LiveRace) -> list[str]:
        """Merge the stored standings, in case an event was lost; return the racers newly ended."""
        return self._merge(race, await self._store.load_standings(race.code, race.number))

    def _merge(self, race: LiveRace, standings: Mapping[str, LiveStanding]) -> list[str]:
        return [
            player
            for player, standing in standings.items()
            if (run := race.runs.get(player)) is not None
            and self._moves_on(race, run, standing)
            and standing.state.has_ended
        ]

    def _moves_on(self, race: LiveRace, run: BoardRun, standing: LiveStanding) -> bool:
        """Replace a standing by a newer one; return whether other players see a difference."""
        known = run.standing
        if standing.length <= known.length:
            return False
        run.standing = standing
        if standing.shows_same_as(known):
            return False
        self._broadcaster.standings_changed(run.audience, race.next_standings)
        return True


def _run(race: LiveRace, player: str) -> BoardRun:
    run = race.runs.get(player)
    if run is None:
        raise CommandRejected("not_racing")
    return run


def _why_not_here(state: TableState, race_id: str) -> str:
    """Return why a race is not the one at its table, as a sentence."""
    code, _, number = race_id.partition("/")
    if code == state.code and number.isdecimal() and int(number) < state.race:
        return "That race is over; its record says whether the move counts."
    return f"The race at this table is {state.race_id}."
