"""Events from the store and other nodes: hints, because the store's data are the truth.

What is missed is made up for by checks of the data: when the subscription begins or is renewed, and
every two seconds for the versions of the tables held here.
"""

from typing import TYPE_CHECKING

from saratoga_protocol.events import Announcement, Reacted
from saratoga_protocol.refusals import BANNED, DELETED, STORE_LOST_DATA, CloseCode
from saratoga_server.background_tasks import run_each_logged, run_logged
from saratoga_server.domain import tables
from saratoga_server.live.broadcaster import send_to_all
from saratoga_server.live.session import Session
from saratoga_server.logs import EventLog
from saratoga_server.ports import PlayerRow
from saratoga_server.store.news import (
    Announce,
    BotAsked,
    BotsOffered,
    NodeEvent,
    PlayerChanged,
    Reaction,
    Settled,
    Stood,
    Touched,
    standing_of,
)

if TYPE_CHECKING:
    from saratoga_server.node import Node

_log = EventLog("peers")


class Listener:
    """The listener of one node."""

    def __init__(self, node: "Node") -> None:
        self._node = node
        self._has_listened = False

    @property
    def node(self) -> str:
        return self._node.name

    async def run(self) -> None:
        """Receive events until cancelled."""
        await self._node.store.events.listen(self)

    def receive(self, event: NodeEvent) -> None:
        node = self._node
        node.metrics.node_events.labels(event.__struct_config__.tag).inc()
        match event:
            case Touched(table, version):
                node.background_tasks.spawn(node.tables.refresh(table, version))
            case Stood(rows):
                for row in rows:
                    if (race := node.races.known(row.race)) is not None:
                        node.races.merge(race, {row.player: standing_of(row)})
            case Settled(game):
                node.leaderboards.changed(game)
            case Announce(text):
                send_to_all(node.broadcaster.sessions, Announcement(text=text))
            case PlayerChanged():
                node.background_tasks.spawn(self.apply(event))
            case BotsOffered() | BotAsked():
                node.bot_hosts.receive(event)
            case Reaction(table, player, reaction):
                shown = Reacted(table=table, player=player, reaction=reaction)
                node.broadcaster.send_to_table(table, shown)

    # Checks for missed events

    async def subscribed(self) -> None:
        """Look for what was missed before the subscription."""
        if self._has_listened:
            self._node.metrics.resubscriptions.inc()
            _log.info("subscription_renewed")
            await run_logged(self._look_at_players())
        self._has_listened = True
        await run_logged(self.look_at_tables())
        await run_each_logged(map(self._node.races.read_standings, self._node.races.all()))

    async def look_at_tables(self) -> None:
        """Read the tables again that other nodes changed; while this node is deaf, standings too."""
        node = self._node
        for code in await node.tables.changed_elsewhere():
            node.background_tasks.spawn(node.tables.refresh(code))
        if not node.store.events.is_listening:
            await run_each_logged(map(node.races.read_standings, node.races.all()))

    async def _look_at_players(self) -> None:
        """Apply changes to players that this node has missed: banned, deleted, renamed."""
        for session in list(self._node.broadcaster.sessions):
            if session.player:
                row = await self._node.store.players.load_player(session.player)
                await self._check(session, row)

    async def apply(self, event: PlayerChanged) -> None:
        """Apply the change of a player, which is in the store already, to the connections here."""
        sessions = self._node.broadcaster.sessions_of(event.player)
        row = await self._node.store.players.load_player(event.player) if sessions else None
        for session in sessions:
            if event.is_deleted:
                await self._disconnect(session, DELETED)
            else:
                await self._check(session, row)

    async def _check(self, session: Session, row: PlayerRow | None) -> None:
        """Apply a player's row to a connection.

        The row is `None` if the store has lost it, or if the player was deleted: the connection is
        closed, and the next hello makes a new player.
        """
        if row is None:
            await self._disconnect(session, STORE_LOST_DATA)
        elif row.banned:
            await self._disconnect(session, BANNED)
        else:
            session.name = row.name

    async def _disconnect(self, session: Session, code: CloseCode) -> None:
        """Close the connection and free the seat."""
        session.connection.close(code)
        table, session.seat = session.seat, None
        if table is not None:
            seed = self._node.new_seed()
            await self._node.tables.change(
                table,
                lambda state, now: tables.force_leave(
                    state, session.player, now=now, fresh_seed=seed
                ),
            )
