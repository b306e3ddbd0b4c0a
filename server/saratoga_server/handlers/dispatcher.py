"""The house, open: every command to the one who serves it, every change to what it sets off.

Whoever reads the code starts here. `answer` is the only way in for a player's command, and
whatever goes wrong behind it becomes an answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, get_args

from msgspec import Struct, field

from saratoga_protocol import commands as said
from saratoga_protocol.events import (
    Alive,
    AnyEvent,
    Leaderboard,
    NameClaimed,
    Refused,
)
from saratoga_protocol.refusals import BANNED, RESTARTING, TAKEN_OVER
from saratoga_rules.standing import State
from saratoga_server.background_tasks import BackgroundTasks, run_logged
from saratoga_server.clock import ServerClock
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, Phase, Refusal, TableState
from saratoga_server.handlers.identity import Identity
from saratoga_server.handlers.leaderboards import LeaderboardHandlers
from saratoga_server.handlers.seats import SeatHandlers
from saratoga_server.handlers.table_settings import TableHandlers
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.move_service import MoveService
from saratoga_server.live.peers import PeerEvents
from saratoga_server.live.race_finisher import RaceFinisher
from saratoga_server.live.races import LiveRace, RaceCache
from saratoga_server.live.readiness import Readiness
from saratoga_server.live.refusals import refused, too_much
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache
from saratoga_server.logs import EventLog
from saratoga_server.messages.node_events import Renamed, Settled
from saratoga_server.metrics.counters import Metrics
from saratoga_server.ports import Millis, NodeStore, StoreUnavailable
from saratoga_server.rate_limits.rates import Action

WITH_BOARD: Final = frozenset(
    {"stale_move", "illegal_move", "board_over", "time_up", "bad_move", "board_full"}
)
"""Refusals that show the present board."""

ASKS_FOR_TABLE: Final = frozenset(
    {
        *(said.JoinTable, said.Resume, said.LeaveTable, said.WatchTable, said.ChangeSettings),
        *(said.Kick, said.Ready, said.NotReady, said.Start, said.Reveal, said.NextRace),
        said.GetRecord,
    }
)
"""Commands whose answer tells whether there is a table of that code."""

CHANGES_TABLE: Final = frozenset(
    {
        *(said.JoinTable, said.Resume, said.LeaveTable, said.ChangeSettings, said.Kick),
        *(said.Ready, said.NotReady),
    }
)
"""Commands that have everybody at the table shown a new picture, as often as one likes."""

NOT_THERE: Final = frozenset({"no_such_table", "no_such_race"})

TAGS: Final[Mapping[type[said.Command], str]] = {
    kind: str(kind.__struct_config__.tag) for kind in get_args(said.AnyCommand)
}
"""What each command is called on the wire, and in the metrics."""

log = EventLog("house")

Serve = Callable[[Session, Any], Awaitable[AnyEvent]]

KICKED: Final = "The host has sent you away."


class Dispatcher(Struct):
    """All who serve, and what they share."""

    table_cache: TableCache
    races: RaceCache
    moves: MoveService
    lobby: SeatHandlers
    tableside: TableHandlers
    reception: Identity
    leaderboards: LeaderboardHandlers
    broadcaster: Broadcaster
    clock: ServerClock
    nodes: NodeStore
    node: str
    metrics: Metrics
    news: PeerEvents
    race_finisher: RaceFinisher
    readiness: Readiness
    background_tasks: BackgroundTasks = field(default_factory=BackgroundTasks)
    leaving: bool = False
    """About to stop: nobody should be sent here any more, and who is here plays on."""
    draining: bool = False
    """Stopping: no race begins here any more."""
    _serves: dict[type[said.Command], Serve] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give every command to the one who serves it."""
        lobby, seat, moves, leaderboards = self.lobby, self.tableside, self.moves, self.leaderboards
        self._serves = {
            said.Hello: self.reception.hello,
            said.ClaimName: self._claim_name,
            said.CreateTable: lobby.create,
            said.JoinTable: lobby.join,
            said.Resume: lobby.resume,
            said.LeaveTable: lobby.leave,
            said.WatchTable: lobby.watch,
            said.UnwatchTable: lobby.unwatch,
            said.ChangeSettings: seat.change_settings,
            said.Kick: seat.kick,
            said.Ready: seat.ready,
            said.NotReady: seat.not_ready,
            said.Start: seat.start,
            said.Reveal: seat.reveal,
            said.MakeMove: moves.make_move,
            said.CashOut: moves.cash_out,
            said.NextRace: seat.next_race,
            said.ListTables: lobby.public.list_tables,
            said.GetLeaderboard: leaderboards.get_leaderboard,
            said.SubscribeLeaderboard: leaderboards.subscribe,
            said.UnsubscribeLeaderboard: leaderboards.unsubscribe,
            said.GetRecord: leaderboards.get_record,
            said.Heartbeat: self._heartbeat,
        }
        self.table_cache.on_change = self.after_change
        self.table_cache.on_caught_up = self.catch_up
        self.races.on_board_ended = self._board_ended
        self.races.on_heard_end = self._heard_end
        self.leaderboards.on_settled = self._settled

    def now(self) -> int:
        return self.clock.now()

    # Connections

    def is_racing(self, session: Session) -> bool:
        """Whether the connection's player sits at a table that races."""
        live_table = self.table_cache.known(session.seat) if session.seat else None
        return live_table is not None and live_table.state.phase is Phase.RUNNING

    def connected(self, session: Session) -> None:
        self.broadcaster.enter(session)
        self.metrics.connections += 1
        log.debug("connected", connection=session.number, address=session.address)

    async def disconnected(self, session: Session) -> None:
        self.broadcaster.leave(session)
        self.leaderboards.forget(session)
        self.metrics.connections -= 1
        log.debug("disconnected", player=session.player, connection=session.number)
        if self.draining:
            # on the way to another node, most likely: nobody needs to be told twice
            return
        try:
            await self.lobby.gone(session)
        except (Refusal, StoreUnavailable):
            return  # the seat's node is seen to have lost it at the next look over the floor

    def begin_move(self, session: Session, command: said.MakeMove) -> None:
        """Leave every move to `answer`."""

    async def answer(self, session: Session, command: said.AnyCommand) -> AnyEvent:
        """Carry out a command; whatever goes wrong is an answer too."""
        self.metrics.commands[TAGS[type(command)]] += 1
        answer: AnyEvent
        try:
            try:
                if isinstance(command, said.MakeMove) and session.player:
                    # ninety-nine of every hundred; nothing that `_served` asks is about it
                    answer = await self.moves.make_move(session, command)
                else:
                    answer = await self._served(session, command)
            except Refusal as refusal:
                answer = await self._refused(session, command, refusal)
        except StoreUnavailable as fault:
            self.metrics.store_errors += 1
            log.warning("store_unavailable", player=session.player, reason=str(fault))
            answer = refused("store_unavailable", command.id)
        except Exception as fault:  # the edge: a fault of ours is an answer and a line in the log
            log.error("house_fault", fault=fault, player=session.player)
            answer = refused("house_fault", command.id)
        if type(answer) is Refused:
            self.metrics.refusals[answer.code] += 1
        return answer

    async def _served(self, session: Session, command: said.AnyCommand) -> AnyEvent:
        """Have a command carried out by the one who serves it; raises `Refusal`."""
        kind = type(command)
        if not session.player and kind not in (said.Hello, said.Heartbeat):
            raise Refusal("hello_first")
        if self.draining and kind in (said.CreateTable, said.Start):
            raise Refusal("draining")
        if kind in CHANGES_TABLE and (wait := session.quota.take(Action.CHANGE)):
            raise too_much("The table was changed too often.", wait)
        if kind in ASKS_FOR_TABLE and is_a_guess(session, command):
            return await self._guessed(session, command)
        return await self._serves[kind](session, command)

    async def _guessed(self, session: Session, command: Any) -> AnyEvent:
        """Serve a command about a table that the player may only hope to be there."""
        quota = session.quota
        if wait := quota.take(Action.WRONG_CODE):
            raise too_much("Too many codes were tried that are no table's.", wait)
        is_there = True
        try:
            return await self._serves[type(command)](session, command)
        except Refusal as refusal:
            is_there = refusal.code not in NOT_THERE
            raise
        finally:
            if is_there:
                quota.refund(Action.WRONG_CODE)

    async def _refused(
        self, session: Session, command: said.AnyCommand, refusal: Refusal
    ) -> Refused:
        board = None
        if refusal.code == "banned":
            session.connection.close(BANNED)
        if refusal.code == "draining" and not self.draining:
            # the table is for newer nodes; whoever balances them may find one
            session.connection.close(RESTARTING)
        if refusal.code == "taken_over":
            held = session.seat
            if await self.lobby.holds_seat(session):
                # the newer one is itself: it was not answered when it asked for its seat again
                return refused("store_unavailable", command.id)
            if session.seat == held:  # else it has been told by now
                session.seat = None
                session.connection.close(TAKEN_OVER)
        if refusal.code in WITH_BOARD and isinstance(command, said.MakeMove | said.CashOut):
            board = await self.moves.own_board(session, command.race)
        return refused(refusal.code, command.id, refusal.detail, board, refusal.wait)

    async def _claim_name(self, session: Session, command: said.ClaimName) -> NameClaimed:
        answer = await self.reception.claim_name(session, command)
        await self.lobby.renamed(session.player, answer.name)
        self.background_tasks.spawn(self.news.tell(Renamed(session.player, answer.name)))
        return answer

    async def _heartbeat(self, session: Session, command: said.Heartbeat) -> Alive:
        return Alive(re=command.id, now=self.clock.now())

    # What a change of a table sets off

    async def after_change(self, live_table: LiveTable, before: TableState, change: Change) -> None:
        """Do what a durable change of a table means beyond the table."""
        for effect in change.effects:
            match effect:
                case tables.RaceStarted():
                    self.metrics.races_begun += 1
                    log.info("race_started", table=live_table.code, race=live_table.state.race_id)
                    self.moves.deal(live_table, self.races.open(live_table))
                case tables.RacerLeft(player):
                    race = await self.races.of(live_table)
                    await self.moves.end(race, player, State.LEFT)
                case tables.SeatLost(player, reason):
                    log.info("seat_lost", table=live_table.code, player=player, reason=reason)
                    await self.lobby.seat_lost(live_table, player, reason)
                case tables.BoardsDue():
                    await self._look_over(live_table)
                case tables.TableClosed(reason):
                    log.info("table_closed", table=live_table.code, reason=reason)
                    await self.lobby.closed(live_table, reason)
                case tables.CountdownVoided():
                    log.info(
                        "countdown_voided", table=live_table.code, race=live_table.state.race_id
                    )
        self.lobby.tell_the_older(live_table)
        await self.lobby.public.bring_up_to_date(live_table)
        if live_table.state.phase is not before.phase:
            self.metrics.tables = self.table_cache.phases()

    async def catch_up(self, live_table: LiveTable, known: TableState) -> None:
        """Do what a change means that was made without this node, or whose answer was lost."""
        state = live_table.state
        for session in self.broadcaster.audience(live_table.code):
            if session.seat == live_table.code and state.seat(session.player) is None:
                reason = KICKED if session.player in state.kicked else state.notice
                await self.lobby.seat_lost(live_table, session.player, reason)
        if state.phase is Phase.CLOSED:
            await self.lobby.closed(live_table, state.notice)
        await self._follow_race(live_table, known)
        self.lobby.tell_the_older(live_table)
        if state.settings.public or known.settings.public:
            await self.lobby.public.bring_up_to_date(live_table)
        if state.phase is not known.phase:
            self.metrics.tables = self.table_cache.phases()

    async def _follow_race(self, live_table: LiveTable, known: TableState) -> None:
        """What has become of the race that this node knew, and the one that it did not know."""
        state = live_table.state
        same_race = known.race == state.race
        if known.phase in (Phase.COUNTDOWN, Phase.RUNNING) and not same_race:
            await self.race_finisher.announce_missed(live_table, known.race_id)
        if state.phase is Phase.RUNNING:
            race = await self.races.of(live_table)
            if known.phase is not Phase.RUNNING or not same_race:
                self.moves.deal(live_table, race)
            for player in state.left:
                await self.moves.end(race, player, State.LEFT)
        elif state.outcome is not None and (known.outcome is None or not same_race):
            await self.race_finisher.announce_counted(live_table, state.outcome)

    async def _look_over(self, live_table: LiveTable) -> None:
        """End the boards that are out of time, idle, or left behind."""
        race = await self.races.of(live_table)
        for player in live_table.state.left:
            await self.moves.end(race, player, State.LEFT)
        elsewhere = {
            seat.player for seat in live_table.state.seats if seat.node not in ("", self.node)
        }
        for player in await self.moves.sweep(race, elsewhere):

            def idle(table: TableState, now: Millis, player: str = player) -> Change | None:
                return tables.idle_leave(table, player, now=now)

            await self.table_cache.change(live_table.code, idle)
        if race.is_over:
            await self.race_finisher.count_up(live_table.code)

    def _board_ended(self, race: LiveRace) -> None:
        if race.is_over:
            self.background_tasks.spawn(self.race_finisher.count_up(race.code))

    def _heard_end(self, race: LiveRace, player: str) -> None:
        """A board has ended on another node: its player may be here, and the race may be over."""
        if self.broadcaster.is_following(player, race.code) and player in race.boards:
            self.background_tasks.spawn(self.moves.board_as_stored(race, player))
        if race.is_over:
            self.background_tasks.spawn(self.race_finisher.count_up_late(race))

    def _settled(self, games: list[str]) -> None:
        self.background_tasks.spawn(self.news.tell(Settled(games)))

    # The pages

    async def why_not_ready(self) -> str | None:
        """Why nobody should be sent here now, for people; `None`: ready."""
        if self.leaving or self.draining:
            return "This server is about to stop."
        return None if await self.readiness.store_answers() else "The store does not answer."

    async def leaderboard(self, query: said.GetLeaderboard) -> Leaderboard:
        return await self.leaderboards.page(query)

    async def record(self, race: str) -> str:
        return await self.leaderboards.record(race)

    async def _give_up_seats(self, live_table: LiveTable) -> None:
        """Whoever had a seat here, and has not come to another node yet, is away."""
        for seat in live_table.state.seats:
            if seat.node == self.node:

                def away(table: TableState, now: Millis, seat: tables.Seat = seat) -> Change | None:
                    return tables.disconnect(table, seat.player, seat.epoch, now=now)

                await self.table_cache.change(live_table.code, away)

    async def stop(self) -> None:
        """Finish what is under way."""
        await self.moves.stop()
        await self.background_tasks.finish()
        await asyncio.gather(
            *(
                run_logged(self._give_up_seats(live_table))
                for live_table in self.table_cache.live_tables()
            )
        )
        await self.table_cache.close()
        # without a store nothing can be said, and is found out in time
        await run_logged(self.nodes.gone(self.node))


def is_a_guess(session: Session, command: Any) -> bool:
    """Whether the table is none that this connection has to do with already."""
    code = command.race.partition("/")[0] if isinstance(command, said.GetRecord) else command.table
    return code not in (session.seat, session.home) and code not in session.watching
