"""The next deal of a table: its race number, its seed, and the commitment to it."""

from msgspec.structs import replace

from saratoga_protocol.events import Match
from saratoga_protocol.matches import is_over
from saratoga_rules.dealing.fairness import commitment
from saratoga_rules.games import RULES_VERSION
from saratoga_server.domain.tables.state import NO_TIME, TablePhase, TableState


def unfinished(match: Match | None) -> Match | None:
    """Return the match that the next race belongs to; `None` if that race begins a new one."""
    return None if match is None or is_over(match) else match


def commitment_of(table: TableState, seed: bytes) -> str:
    """Return the commitment to a seed for the table's race."""
    return commitment(
        seed,
        table.settings.game,
        table.rules_version,
        table.code,
        table.race,
        cap=table.settings.cap,
        public=table.settings.public,
    )


def with_next_race(table: TableState, seed: bytes) -> TableState:
    """Return the table that gathers for the next race."""
    counted = replace(table, race=table.race + 1, match=unfinished(table.match))
    return with_new_deal(counted, seed)


def with_no_countdown(table: TableState) -> TableState:
    """Return the table in phase gathering, with its commitment and ready marks, after a call."""
    return replace(
        table,
        phase=TablePhase.GATHERING,
        call_until=NO_TIME,
        reveal_by=NO_TIME,
        start_at=NO_TIME,
        deadline=NO_TIME,
    )


def with_new_deal(table: TableState, seed: bytes) -> TableState:
    """Return the table in phase gathering, with a new commitment and no player ready."""
    return replace(
        with_no_countdown(table),
        seats=tuple(replace(seat, nonce_hash="") for seat in table.seats),
        rules_version=RULES_VERSION,
        seed=seed.hex(),
        commitment=commitment_of(replace(table, rules_version=RULES_VERSION), seed),
        racers={},
        nonces={},
        deal_key="",
        left={},
        last_racer="",
        end_from=NO_TIME,
        is_ended_by_host=False,
        votes=(),
        is_begun_again=False,
        lost_node=False,
        ranked=False,
        ranked_bots=False,
        outcome=None,
    )
