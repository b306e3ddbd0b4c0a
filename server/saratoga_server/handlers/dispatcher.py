"""The dispatcher: passes every command to its handler and returns the answer.

`begin_move`, `finish_move`, `explain` and `answer` are the entry points. They turn every error into
an answer.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from saratoga_protocol import commands as wire
from saratoga_protocol.events import Alive, Event, Refused
from saratoga_protocol.refusals import BANNED, STORE_LOST_DATA, TAKEN_OVER
from saratoga_server.domain.tables import CommandRejected, TablePhase
from saratoga_server.handlers import identity, open_races, records, seats, table
from saratoga_server.limits import Action
from saratoga_server.live import play
from saratoga_server.live.play import JudgedMove
from saratoga_server.live.refusals import failed, refused, too_much
from saratoga_server.live.session import Session
from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreUnavailable

if TYPE_CHECKING:
    from saratoga_server.node import Node

WITH_BOARD: Final = frozenset(
    {"stale_move", "illegal_move", "board_over", "time_up", "bad_move", "board_full"}
)
"""Refusals whose answer carries the player's present board."""

CHANGES_TABLE: Final = frozenset(
    {
        *(wire.JoinTable, wire.LeaveTable, wire.ChangeSettings, wire.Kick),
        *(wire.LockTable, wire.AllowReady, wire.Ready, wire.NotReady, wire.AddBot),
        *(wire.EndRace, wire.HandOver),
    }
)
"""Commands that a player can repeat and that each send a new view to everyone at the table."""

SHOWS_NOTHING: Final = frozenset(
    {
        *(wire.Hello, wire.Heartbeat, wire.Reveal, wire.GetRecord, wire.OfferBots),
        *(wire.ListTables, wire.GetLeaderboard, wire.GetOpen, wire.GetPar),
    }
)
"""Commands that clients send by themselves, so that they are no sign that the player is there."""

NO_SUCH: Final = frozenset({"no_such_table", "no_such_race"})

TAGS: Final[Mapping[type[wire.Command], str]] = {
    kind: str(kind.__struct_config__.tag) for kind in wire.Command.__subclasses__()
}
"""The name of each command on the wire and in the metrics."""

Handle = Callable[["Node", Session, Any], Awaitable[Event]]

log = EventLog("dispatcher")


async def _heartbeat(node: "Node", session: Session, command: wire.Heartbeat) -> Event:
    now = node.clock.now()
    if command.active:
        session.active_at = now
    return Alive(re=command.id, now=now)


HANDLERS: Final[Mapping[type[wire.Command], Handle]] = {
    wire.Hello: identity.hello,
    wire.ClaimName: identity.claim_name,
    wire.CreateTable: seats.create,
    wire.JoinTable: seats.join,
    wire.LeaveTable: seats.leave,
    **dict.fromkeys(table.APPLY, table.act),
    wire.ChangeSettings: table.change_settings,
    wire.AddBot: table.add_bot,
    wire.EndRace: table.end_race,
    wire.React: table.react,
    wire.OfferBots: lambda node, *offered: node.bot_hosts.offer(*offered),
    wire.MakeMove: play.carry_out,
    wire.CashOut: play.carry_out,
    wire.ListTables: lambda node, *asked: node.public_tables.list_tables(*asked),
    wire.GetLeaderboard: lambda node, *asked: node.leaderboards.get(*asked),
    wire.GetRecord: records.get_record,
    wire.GetPar: lambda node, *asked: node.pars.get(*asked),
    wire.Heartbeat: _heartbeat,
    wire.EnterOpen: open_races.enter,
    wire.CreateChallenge: open_races.challenge,
    wire.GetOpen: open_races.get,
}

NAMES_TABLE: Final = frozenset(
    kind for kind in HANDLERS if not {"table", "race"}.isdisjoint(kind.__struct_fields__)
) - {wire.MakeMove, wire.CashOut}
"""Commands whose answer reveals whether a table with that code exists."""


class Dispatcher:
    """The dispatcher: passes commands to their handlers, and turns errors into answers."""

    def __init__(self, node: "Node") -> None:
        self._node = node
        self._metrics = node.metrics
        self._moves = self._metrics.commands.labels(TAGS[wire.MakeMove])

    def now(self) -> int:
        return self._node.clock.now()

    # Connections

    def connected(self, session: Session) -> None:
        """Register a new connection."""
        is_first = not self._node.broadcaster.sessions
        self._node.broadcaster.enter(session)
        if is_first:  # before this node's name stands at a seat
            self._node.background_tasks.spawn(self._node.scheduler.beat())
        self._metrics.connections.inc()
        log.debug("connected", connection=session.number, address=session.address)

    async def disconnected(self, session: Session) -> None:
        """Clean up after a connection that has ended."""
        self._node.broadcaster.leave(session)
        self._node.leaderboards.unfollow(session)
        self._node.public_tables.unfollow(session)
        self._metrics.connections.dec()
        log.debug("disconnected", player=session.player, connection=session.number)
        if self._node.readiness.is_draining:
            # the player most likely reconnects to another node: keep the seat as it is
            return
        try:
            await seats.disconnected(self._node, session)
            await self._node.bot_hosts.withdraw(session)
        except (CommandRejected, StoreUnavailable):
            return  # the scheduler finds the lost seat at its next check

    def is_racing(self, session: Session) -> bool:
        """Return whether the connection's player is at a table with a running race."""
        held = self._node.tables.known(session.seat) if session.seat else None
        return held is not None and held.state.phase is TablePhase.RUNNING

    # Commands

    def begin_move(self, session: Session, command: wire.MakeMove) -> "JudgedMove | Event | None":
        """Judge a move without waiting. Returns the answer, or the move while it is being stored.

        Returns `None` if this node does not hold the board: call `answer` instead.
        """
        try:
            try:
                begun: JudgedMove | Event | None = play.begin_move(self._node, session, command)
            except CommandRejected as refusal:
                begun = self._refused_move(session, command, refusal)
        except Exception as fault:  # any internal error becomes an answer
            begun = failed(session, command.id, fault, self._metrics)
        if begun is None:
            return None
        self._moves.inc()
        session.active_at = self._node.clock.now()
        return begun

    def finish_move(self, session: Session, move: "JudgedMove") -> Event | None:
        """Return the answer to a move whose commit is done; `None` if it must be explained."""
        try:
            return move.finish()
        except Exception as fault:  # any internal error becomes an answer
            return failed(session, move.command.id, fault, self._metrics)

    async def explain(self, session: Session, move: "JudgedMove") -> Event:
        """Return the answer to a move that the store refused."""
        return await self._answered(session, move.command, move.explain())

    def _refused_move(
        self, session: Session, command: wire.MakeMove, refusal: CommandRejected
    ) -> Refused:
        self._metrics.refusals.labels(refusal.code).inc()
        board = None
        if refusal.code in WITH_BOARD:
            board = play.board_at_hand(self._node, session, command.race)
        return refused(refusal.code, command.id, refusal.detail, board, refusal.wait)

    async def answer(self, session: Session, command: wire.Command) -> Event:
        """Carry out a command and return the answer."""
        self._metrics.commands.labels(TAGS[type(command)]).inc()
        return await self._answered(session, command, self._handled(session, command))

    async def _answered(
        self, session: Session, command: wire.Command, handling: Awaitable[Event]
    ) -> Event:
        """Await a handler and return its answer; an error becomes an answer too."""
        try:
            try:
                return await handling
            except CommandRejected as refusal:
                answer = await self._refused(session, command, refusal)
        except Exception as fault:  # any internal error becomes an answer
            return failed(session, command.id, fault, self._metrics)
        self._metrics.refusals.labels(answer.code).inc()
        return answer

    async def _handled(self, session: Session, command: wire.Command) -> Event:
        """Call the command's handler and return its answer. Raises `CommandRejected`."""
        kind = type(command)
        if kind not in SHOWS_NOTHING:
            session.active_at = self._node.clock.now()
        session.hello_begun |= kind is wire.Hello
        if not session.player and kind is not wire.Hello:
            raise CommandRejected("hello_first")
        if self._node.readiness.is_draining and kind in (
            wire.CreateTable,
            wire.Start,
            wire.EnterOpen,
        ):
            raise CommandRejected("draining")
        only_watches = isinstance(command, wire.JoinTable) and not command.seat
        if (
            kind in CHANGES_TABLE
            and not only_watches
            and (wait := session.quota.take(Action.CHANGE))
        ):
            raise too_much("You changed the table too often.", wait)
        if kind in NAMES_TABLE and is_guess(session, command):
            return await self._guessed(session, command)
        return await HANDLERS[kind](self._node, session, command)

    async def _guessed(self, session: Session, command: Any) -> Event:
        """Return the answer to a command about a table whose code the player may have guessed."""
        quota = session.quota
        if wait := quota.take(Action.WRONG_CODE):
            raise too_much("You tried too many table codes that do not exist.", wait)
        is_there = True
        try:
            return await HANDLERS[type(command)](self._node, session, command)
        except CommandRejected as refusal:
            is_there = refusal.code not in NO_SUCH
            raise
        finally:
            if is_there:
                quota.refund(Action.WRONG_CODE)

    async def _refused(
        self, session: Session, command: wire.Command, refusal: CommandRejected
    ) -> Refused:
        """Return the answer to a refused command; close the connection if necessary."""
        board = None
        if refusal.code == "banned":
            session.connection.leave(BANNED)
        if refusal.code == "hello_first" and session.player:
            # the player's row is gone; the next hello makes another
            session.connection.leave(STORE_LOST_DATA)
        if refusal.code == "taken_over":
            held = session.seat
            if await seats.holds_seat(self._node, session):
                # this connection is the newer one: the reply to its request for the seat was lost
                return refused("store_unavailable", command.id)
            only_watches = held is None and getattr(command, "table", None) in session.watching
            if session.seat == held and not only_watches:  # otherwise it has been closed by now
                session.seat = None
                session.connection.leave(TAKEN_OVER)
        if refusal.code in WITH_BOARD and isinstance(command, wire.MakeMove | wire.CashOut):
            board = await play.own_board(self._node, session, command.race)
        return refused(refusal.code, command.id, refusal.detail, board, refusal.wait)


def is_guess(session: Session, command: Any) -> bool:
    """Return whether the command names a table that this connection does not follow."""
    code = (
        getattr(command, "table", None) or (getattr(command, "race", None) or "").partition("/")[0]
    )
    return code not in ("", session.seat, session.home) and code not in session.watching
