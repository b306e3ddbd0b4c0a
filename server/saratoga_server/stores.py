"""All ports of one store, as one value."""

from typing import Protocol

from saratoga_server.leaderboard_port import LeaderboardStore
from saratoga_server.messages.node_events import NodeEvents
from saratoga_server.ports import AuditLog, BoardStore, Commits, NodeStore, PlayerStore, TableStore
from saratoga_server.retention_port import RetentionStore


class Stores(Protocol):
    """A store, as nodes and administrative commands use it: one adapter for each port."""

    @property
    def durability(self) -> str:
        """What a commit that was confirmed survives: a level of `store.durability`."""
        ...

    @property
    def commits(self) -> Commits: ...
    @property
    def boards(self) -> BoardStore: ...
    @property
    def tables(self) -> TableStore: ...
    @property
    def players(self) -> PlayerStore: ...
    @property
    def leaderboards(self) -> LeaderboardStore: ...
    @property
    def retention(self) -> RetentionStore: ...
    @property
    def audit(self) -> AuditLog: ...
    @property
    def nodes(self) -> NodeStore: ...
    @property
    def events(self) -> NodeEvents: ...
