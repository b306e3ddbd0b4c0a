"""Which races count for the leaderboards: this is decided once, when the race starts."""

from enum import StrEnum

from msgspec.structs import replace

from saratoga_rules.records.standing import may_be_ranked
from saratoga_server.domain.tables.state import TableState


class RankedTables(StrEnum):
    """The tables whose races may count for the leaderboards."""

    ALL = "all"
    PUBLIC = "public"


def with_ranked(table: TableState, ranked_tables: RankedTables) -> TableState:
    """Return the table of a starting race, which counts or not for people and for bots.

    From *start* on, a table cannot be locked or unlocked: it was locked in the call.
    """
    is_open = table.settings.public and not table.locked
    racers = len(table.racers)

    def counts(number: int) -> bool:
        cap = table.settings.cap
        is_allowed = is_open or ranked_tables is RankedTables.ALL
        return is_allowed and may_be_ranked(cap=cap, racers=number)

    return replace(
        table,
        ranked=counts(sum(not racer.bot for racer in table.racers.values())),
        ranked_bots=counts(racers),
    )
