"""The people on this node: who would lose a seat or a view if it stopped."""

from typing import NamedTuple

from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.table_cache import TableCache


class Person(NamedTuple):
    """A person who is connected, or who has lost the connection and still has a seat."""

    player: str
    name: str
    """The name; empty if the person has none yet."""
    table: str
    """The code of the table where the person sits or watches; empty in the lobby."""


def people(broadcaster: Broadcaster, table_cache: TableCache) -> list[Person]:
    """Return all people on this node, in order of table and name. Bots are not people."""
    found: dict[str, Person] = {}
    for session in broadcaster.sessions:
        if session.player and not session.bot:
            code = session.seat or min(session.watching, default="")
            person = Person(session.player, session.name or "", code)
            # of several connections of a player, the one with a seat counts
            if session.seat or session.player not in found:
                found[session.player] = person
    for table in table_cache.all():
        for seat in table.state.seats:
            if not seat.bot:
                found.setdefault(seat.player, Person(seat.player, seat.name, table.code))
    return sorted(found.values(), key=lambda person: (person.table, person.name, person.player))
