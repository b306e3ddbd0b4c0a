"""A store with its administration, and what it publishes and notes."""

from dataclasses import dataclass

from kit.event_recorder import EventRecorder
from kit.stepped_store import SteppedStore
from kit.tables import ANN, BEN, CLEO, CODE, seated
from saratoga_server.admin.acts import Administration
from saratoga_server.app import compose_table_cache
from saratoga_server.domain.tables import TableState, due, unpack
from saratoga_server.domain.tables.packing import pack
from saratoga_server.domain.usernames import checked_name
from saratoga_server.messages.node_events import Here, NodeEvent, Touched
from saratoga_server.ports import PlayerRow, RaceFinish, TableWrite


@dataclass
class Office:
    """A store with its administration, and a node that listens to events."""

    store: SteppedStore
    admin: Administration
    node: EventRecorder

    async def published(self) -> list[NodeEvent]:
        """Return every event except those that the store publishes itself."""
        marker = Here("marker", 1)
        await self.store.real.events.publish(marker)
        await self.node.receives(marker)
        return [event for event in self.node.events if not isinstance(event, Touched | Here)]

    async def noted(self) -> list[tuple[str, str, str]]:
        """Return actions, targets and details from the audit log, the oldest first."""
        acts = await self.store.real.audit.read(100)
        return [(act["act"], act["target"], act["detail"]) for act in reversed(acts)]

    async def save(self, table: TableState, finish: RaceFinish | None = None) -> None:
        stored = await self.store.tables.load_table(table.code)
        write = TableWrite(
            code=table.code,
            expected=stored[0] if stored else 0,
            body=pack(table),
            due=due(table),
            race=table.race,
            finish=finish,
        )
        assert await self.store.tables.save_table(write)

    async def table(self) -> TableState:
        stored = await self.store.tables.load_table(CODE)
        assert stored is not None
        return unpack(stored[1])

    async def player(self, player: str) -> PlayerRow:
        row = await self.store.players.load_player(player)
        assert row is not None
        return row


async def opened_office(store: SteppedStore, node: EventRecorder) -> Office:
    """Return the office of a store in which Ann and Ben sit at a public table; Cleo has a name and no seat."""
    admin = Administration(store, await compose_table_cache(store), "zoe@laptop")
    opened = Office(store, admin, node)
    players = store.players
    for player, name in ((ANN, "Ann"), (BEN, "Ben"), (CLEO, "Cleo")):
        await players.create_player(PlayerRow(player=player, token_hash=player * 4))
        await players.claim_name(player, *checked_name(name))
    await opened.save(seated(ANN, BEN))
    for player in (ANN, BEN):
        await players.sit(player, CODE)
    await opened.store.tables.set_public(CODE, b"summary")
    return opened
