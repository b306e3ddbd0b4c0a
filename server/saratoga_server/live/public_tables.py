"""The list of public tables, for the connections that follow it, and the places in it.

One address may have `MOST_PLACES` open public tables on a node, so that nobody can fill the list.
An IPv6 address counts by its household.
"""

from typing import TYPE_CHECKING, Final

from saratoga_protocol.commands import ListTables
from saratoga_protocol.events import Tables, TableSummary
from saratoga_server.client_addresses import HOUSEHOLD_PREFIX, network_of
from saratoga_server.domain.tables import CommandRejected
from saratoga_server.live.session import Session

if TYPE_CHECKING:
    from saratoga_server.node import Node

MOST_PLACES: Final = 8
"""The most public tables from one address."""


class PublicTables:
    """The list of public tables, which the store writes with the tables."""

    def __init__(self, node: "Node") -> None:
        self._store = node.store.tables
        self._followers: dict[Session, list[TableSummary]] = {}
        """The connections that follow the list, each with the list last sent."""
        self._places: dict[str, str] = {}
        """The network that opened each public table from here, by the table's code."""

    async def list_tables(self, session: Session, command: ListTables) -> Tables:
        """Return the public tables; a list that is followed is sent again whenever it changes."""
        listed = await self._store.list_public()
        self.unfollow(session)
        if command.follow:
            self._followers[session] = listed
        return Tables(re=command.id, tables=listed)

    async def send_changes(self) -> None:
        """Send the list to those who follow it, if it has changed. Called once a second."""
        if not self._followers:
            return
        listed = await self._store.list_public()
        for session, known in list(self._followers.items()):
            if known != listed:
                self._followers[session] = listed
                session.send(Tables(tables=listed))

    def unfollow(self, session: Session) -> None:
        self._followers.pop(session, None)

    def check_place(self, session: Session, code: str = "") -> None:
        """Raise `CommandRejected` if the session's address has no place for one table more."""
        if not session.quota.is_limited_by_address:
            return
        network = network_of(session.address, HOUSEHOLD_PREFIX)
        others = [each for each, by in self._places.items() if by == network and each != code]
        if len(others) >= MOST_PLACES:
            raise CommandRejected(
                "bad_settings",
                "The public list has enough tables from your address. Make the table private, or close another.",
            )

    def take_place(self, session: Session, code: str) -> None:
        """Note that a table is public because of this session."""
        if session.quota.is_limited_by_address:
            self._places[code] = network_of(session.address, HOUSEHOLD_PREFIX)

    def free_place(self, code: str) -> None:
        """Note that a table is closed, or not public any more."""
        self._places.pop(code, None)
