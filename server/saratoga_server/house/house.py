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
from saratoga_server import table as rules
from saratoga_server.allowance.limits import Act
from saratoga_server.clock import HouseClock
from saratoga_server.errands import Errands, guarded
from saratoga_server.floor.floor import Floor
from saratoga_server.floor.hub import Hub
from saratoga_server.floor.refusing import refused, too_much
from saratoga_server.floor.room import Room
from saratoga_server.floor.session import Session
from saratoga_server.gauges.metrics import Metrics
from saratoga_server.house.lobby import Lobby
from saratoga_server.house.news import News
from saratoga_server.house.readiness import Readiness
from saratoga_server.house.reception import Reception
from saratoga_server.house.tableside import Tableside
from saratoga_server.logs import EventLog
from saratoga_server.parcels.nudges import Renamed, Settled
from saratoga_server.ports import Millis, NodeStore, StoreUnavailable
from saratoga_server.racing.archive import Archive
from saratoga_server.racing.dealer import Dealer
from saratoga_server.racing.races import Race, Races
from saratoga_server.racing.reckoner import Reckoner
from saratoga_server.table import Change, Phase, Refusal, TableState

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


class House(Struct):
    """All who serve, and what they share."""

    floor: Floor
    races: Races
    dealer: Dealer
    lobby: Lobby
    tableside: Tableside
    reception: Reception
    archive: Archive
    hub: Hub
    clock: HouseClock
    nodes: NodeStore
    node: str
    metrics: Metrics
    news: News
    reckoner: Reckoner
    readiness: Readiness
    errands: Errands = field(default_factory=Errands)
    leaving: bool = False
    """About to stop: nobody should be sent here any more, and who is here plays on."""
    draining: bool = False
    """Stopping: no race begins here any more."""
    _serves: dict[type[said.Command], Serve] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give every command to the one who serves it."""
        lobby, seat, dealer, archive = self.lobby, self.tableside, self.dealer, self.archive
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
            said.MakeMove: dealer.make_move,
            said.CashOut: dealer.cash_out,
            said.NextRace: seat.next_race,
            said.ListTables: lobby.public.list_tables,
            said.GetLeaderboard: archive.get_leaderboard,
            said.SubscribeLeaderboard: archive.subscribe,
            said.UnsubscribeLeaderboard: archive.unsubscribe,
            said.GetRecord: archive.get_record,
            said.Heartbeat: self._heartbeat,
        }
        self.floor.on_change = self.after_change
        self.floor.on_caught_up = self.catch_up
        self.races.on_board_ended = self._board_ended
        self.races.on_heard_end = self._heard_end
        self.archive.on_settled = self._settled

    def now(self) -> int:
        return self.clock.now()

    # Connections

    def is_racing(self, session: Session) -> bool:
        """Whether the connection's player sits at a table that races."""
        room = self.floor.known(session.seat) if session.seat else None
        return room is not None and room.state.phase is Phase.RUNNING

    def arrived(self, session: Session) -> None:
        self.hub.enter(session)
        self.metrics.connections += 1
        log.debug("connected", connection=session.number, address=session.address)

    async def gone(self, session: Session) -> None:
        self.hub.leave(session)
        self.archive.forget(session)
        self.metrics.connections -= 1
        log.debug("disconnected", player=session.player, connection=session.number)
        if self.draining:
            # on the way to another node, most likely: nobody needs to be told twice
            return
        try:
            await self.lobby.gone(session)
        except (Refusal, StoreUnavailable):
            return  # the seat's node is seen to have lost it at the next look over the floor

    async def answer(self, session: Session, command: said.AnyCommand) -> AnyEvent:
        """Carry out a command; whatever goes wrong is an answer too."""
        self.metrics.commands[TAGS[type(command)]] += 1
        answer: AnyEvent
        try:
            try:
                if isinstance(command, said.MakeMove) and session.player:
                    # ninety-nine of every hundred; nothing that `_served` asks is about it
                    answer = await self.dealer.make_move(session, command)
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
        if kind in CHANGES_TABLE and (wait := session.visitor.does(Act.CHANGE)):
            raise too_much("The table was changed too often.", wait)
        if kind in ASKS_FOR_TABLE and is_a_guess(session, command):
            return await self._guessed(session, command)
        return await self._serves[kind](session, command)

    async def _guessed(self, session: Session, command: Any) -> AnyEvent:
        """Serve a command about a table that the player may only hope to be there."""
        visitor = session.visitor
        if wait := visitor.does(Act.WRONG_CODE):
            raise too_much("Too many codes were tried that are no table's.", wait)
        is_there = True
        try:
            return await self._serves[type(command)](session, command)
        except Refusal as refusal:
            is_there = refusal.code not in NOT_THERE
            raise
        finally:
            if is_there:
                visitor.takes_back(Act.WRONG_CODE)

    async def _refused(
        self, session: Session, command: said.AnyCommand, refusal: Refusal
    ) -> Refused:
        board = None
        if refusal.code == "banned":
            session.line.close(BANNED)
        if refusal.code == "draining" and not self.draining:
            # the table is for newer nodes; whoever balances them may find one
            session.line.close(RESTARTING)
        if refusal.code == "taken_over":
            held = session.seat
            if await self.lobby.holds_seat(session):
                # the newer one is itself: it was not answered when it asked for its seat again
                return refused("store_unavailable", command.id)
            if session.seat == held:  # else it has been told by now
                session.seat = None
                session.line.close(TAKEN_OVER)
        if refusal.code in WITH_BOARD and isinstance(command, said.MakeMove | said.CashOut):
            board = await self.dealer.own_board(session, command.race)
        return refused(refusal.code, command.id, refusal.detail, board, refusal.wait)

    async def _claim_name(self, session: Session, command: said.ClaimName) -> NameClaimed:
        answer = await self.reception.claim_name(session, command)
        await self.lobby.renamed(session.player, answer.name)
        self.errands.spawn(self.news.tell(Renamed(session.player, answer.name)))
        return answer

    async def _heartbeat(self, session: Session, command: said.Heartbeat) -> Alive:
        return Alive(re=command.id, now=self.clock.now())

    # What a change of a table sets off

    async def after_change(self, room: Room, before: TableState, change: Change) -> None:
        """Do what a durable change of a table means beyond the table."""
        for effect in change.effects:
            match effect:
                case rules.RaceStarted():
                    self.metrics.races_begun += 1
                    log.info("race_started", table=room.code, race=room.state.race_id)
                    self.dealer.deal(room, self.races.open(room))
                case rules.RacerLeft(player):
                    race = await self.races.of(room)
                    await self.dealer.end(race, player, State.LEFT)
                case rules.SeatLost(player, reason):
                    log.info("seat_lost", table=room.code, player=player, reason=reason)
                    await self.lobby.seat_lost(room, player, reason)
                case rules.BoardsDue():
                    await self._look_over(room)
                case rules.TableClosed(reason):
                    log.info("table_closed", table=room.code, reason=reason)
                    await self.lobby.closed(room, reason)
                case rules.CountdownVoided():
                    log.info("countdown_voided", table=room.code, race=room.state.race_id)
        self.lobby.tell_the_older(room)
        await self.lobby.public.bring_up_to_date(room)
        if room.state.phase is not before.phase:
            self.metrics.tables = self.floor.phases()

    async def catch_up(self, room: Room, known: TableState) -> None:
        """Do what a change means that was made without this node, or whose answer was lost."""
        state = room.state
        for session in self.hub.audience(room.code):
            if session.seat == room.code and state.seat(session.player) is None:
                reason = KICKED if session.player in state.kicked else state.notice
                await self.lobby.seat_lost(room, session.player, reason)
        if state.phase is Phase.CLOSED:
            await self.lobby.closed(room, state.notice)
        await self._follow_race(room, known)
        self.lobby.tell_the_older(room)
        if state.settings.public or known.settings.public:
            await self.lobby.public.bring_up_to_date(room)
        if state.phase is not known.phase:
            self.metrics.tables = self.floor.phases()

    async def _follow_race(self, room: Room, known: TableState) -> None:
        """What has become of the race that this node knew, and the one that it did not know."""
        state = room.state
        same_race = known.race == state.race
        if known.phase in (Phase.COUNTDOWN, Phase.RUNNING) and not same_race:
            await self.reckoner.announce_missed(room, known.race_id)
        if state.phase is Phase.RUNNING:
            race = await self.races.of(room)
            if known.phase is not Phase.RUNNING or not same_race:
                self.dealer.deal(room, race)
            for player in state.left:
                await self.dealer.end(race, player, State.LEFT)
        elif state.outcome is not None and (known.outcome is None or not same_race):
            await self.reckoner.announce_counted(room, state.outcome)

    async def _look_over(self, room: Room) -> None:
        """End the boards that are out of time, idle, or left behind."""
        race = await self.races.of(room)
        for player in room.state.left:
            await self.dealer.end(race, player, State.LEFT)
        elsewhere = {seat.player for seat in room.state.seats if seat.node not in ("", self.node)}
        for player in await self.dealer.sweep(race, elsewhere):

            def idle(table: TableState, now: Millis, player: str = player) -> Change | None:
                return rules.idle_leave(table, player, now=now)

            await self.floor.change(room.code, idle)
        if race.is_over:
            await self.reckoner.count_up(room.code)

    def _board_ended(self, race: Race) -> None:
        if race.is_over:
            self.errands.spawn(self.reckoner.count_up(race.code))

    def _heard_end(self, race: Race, player: str) -> None:
        """A board has ended on another node: its player may be here, and the race may be over."""
        if self.hub.is_following(player, race.code) and player in race.boards:
            self.errands.spawn(self.dealer.board_as_stored(race, player))
        if race.is_over:
            self.errands.spawn(self.reckoner.count_up_late(race))

    def _settled(self, games: list[str]) -> None:
        self.errands.spawn(self.news.tell(Settled(games)))

    # The pages

    async def why_not_ready(self) -> str | None:
        """Why nobody should be sent here now, for people; `None`: ready."""
        if self.leaving or self.draining:
            return "This server is about to stop."
        return None if await self.readiness.store_answers() else "The store does not answer."

    async def leaderboard(self, query: said.GetLeaderboard) -> Leaderboard:
        return await self.archive.page(query)

    async def record(self, race: str) -> str:
        return await self.archive.record(race)

    async def _give_up_seats(self, room: Room) -> None:
        """Whoever had a seat here, and has not come to another node yet, is away."""
        for seat in room.state.seats:
            if seat.node == self.node:

                def away(table: TableState, now: Millis, seat: rules.Seat = seat) -> Change | None:
                    return rules.disconnect(table, seat.player, seat.epoch, now=now)

                await self.floor.change(room.code, away)

    async def stop(self) -> None:
        """Finish what is under way."""
        await self.dealer.stop()
        await self.errands.finish()
        await asyncio.gather(*(guarded(self._give_up_seats(room)) for room in self.floor.rooms()))
        await self.floor.close()
        # without a store nothing can be said, and is found out in time
        await guarded(self.nodes.gone(self.node))


def is_a_guess(session: Session, command: Any) -> bool:
    """Whether the table is none that this connection has to do with already."""
    code = command.race.partition("/")[0] if isinstance(command, said.GetRecord) else command.table
    return code not in (session.seat, session.home) and code not in session.watching
