"""What a change of a table means to the players on this node, by the table before and after.

No matter who wrote the change: this node, another one, or a write whose reply was lost. Each
function is right for any pair of versions, and may be called again with the same pair.
"""

import asyncio
from typing import TYPE_CHECKING

from saratoga_protocol.events import MatchChanged, Outcome, RaceOver, SeatLost, TableChanged
from saratoga_rules.records.record import CLOSED, RecordError
from saratoga_server.domain import results, tables
from saratoga_server.domain.tables import TablePhase, TableState
from saratoga_server.domain.tables.seating import KICKED
from saratoga_server.live import play
from saratoga_server.live.session import Session
from saratoga_server.logs import EventLog

if TYPE_CHECKING:
    from saratoga_server.live.tables import LiveTable
    from saratoga_server.node import Node

log = EventLog("tables")


def count(node: "Node", before: TableState, after: TableState) -> None:
    """Count and log a change that this node has written."""
    code = after.code
    if begins_race(before, after):
        node.metrics.races_begun.inc()
        log.info("race_started", table=code, race=after.race_id)
    if after.voided is not None and after.previous is not None:
        ended = after.previous
        node.metrics.races_voided.labels(ended.reason).inc()
        what = "race_voided" if ended.reason == CLOSED else "countdown_voided"
        log.info(what, table=code, race=ended.race, reason=ended.reason)
    if after.is_ended_by_host and not before.is_ended_by_host:
        log.info("race_ended_by_host", table=code, race=after.race_id)
    if after.phase is TablePhase.CLOSED:
        log.info("table_closed", table=code, reason=after.notice)
        return
    if before.phase is TablePhase.RUNNING and after.phase is TablePhase.OVER:
        node.metrics.races_over.inc()
        log.info("race_over", table=code, race=after.race_id, ranked=after.ranked)
    for seat in before.seats:
        if after.seat(seat.player) is None:
            log.info("seat_lost", table=code, player=seat.player, reason=after.notice)


def begins_race(before: TableState, after: TableState) -> bool:
    """Return whether the race of the later table has started since the earlier one."""
    is_running = after.phase is TablePhase.RUNNING
    return is_running and (before.phase is not TablePhase.RUNNING or before.race != after.race)


def tell(node: "Node", table: "LiveTable", before: TableState) -> None:
    """Send the players and watchers here what has changed, and take the seats that are lost."""
    after, broadcaster = table.state, node.broadcaster
    broadcaster.close_replaced(after)
    if tables.public_view(before, 0) != tables.public_view(after, 0):
        changed = TableChanged(table=node.tables.view(table), now=node.clock.now())
        broadcaster.send_to_table(table.code, changed)
    if after.match != before.match:
        broadcaster.send_to_table(table.code, MatchChanged(table=table.code, match=after.match))
    if after.phase is TablePhase.CLOSED:
        lose_seats(node, table.code, after.notice)
    else:
        for session in broadcaster.audience(table.code):
            if session.seat == table.code and after.seat(session.player) is None:
                reason = KICKED if session.player in after.kicked else after.notice
                _lose_seat(node, session, table.code, reason)
    if after.phase is TablePhase.CLOSED or not after.settings.public:
        node.public_tables.free_place(table.code)


def lose_seats(node: "Node", code: str, reason: str) -> None:
    """Take every seat and watcher of a table that is closed, or gone."""
    for session in node.broadcaster.audience(code):
        session.watching -= {code}
        _lose_seat(node, session, code, reason)


def _lose_seat(node: "Node", session: Session, code: str, reason: str) -> None:
    if session.seat == code:
        session.seat, session.lost_seat = None, reason
    node.broadcaster.unfollow(session, code)
    session.send(SeatLost(table=code, reason=reason))


async def follow(node: "Node", table: "LiveTable", before: TableState, after: TableState) -> None:
    """Carry out what follows for races: deal, end boards, and announce what is over."""
    if tables.has_lost(after, before):
        seed = node.new_seed()
        node.background_tasks.spawn(
            node.tables.change(table.code, lambda state, now: tables.lost(state, before, seed))
        )
    for number in range(before.race, after.race):
        await _announce_earlier(node, before, after, number)
    if after.phase is TablePhase.RUNNING:
        race = await node.races.of(table)
        if begins_race(before, after):
            play.deal(node, race)
        await play.end_due_boards(node, after, race)
    elif after.outcome is not None and before.outcome != after.outcome:
        await _announce(node, table.code, after.outcome)


async def _announce_earlier(
    node: "Node", before: TableState, after: TableState, number: int
) -> None:
    """Announce an earlier race, unless its players were told of its end before."""
    race_id, previous = f"{after.code}/{number}", after.previous
    is_told = before.outcome is not None and before.race == number
    is_voided = previous is not None and previous.race == race_id and previous.reason
    if not is_told and not is_voided:
        record = await node.store.tables.load_record(after.code, number)
        try:
            outcome = await asyncio.to_thread(results.recorded_outcome, record) if record else None
        except RecordError as fault:
            log.error("record_unreadable", table=after.code, race=number, reason=str(fault))
            outcome = None
        if outcome is not None:  # else it was voided
            await _announce(node, after.code, outcome)
    node.races.forget(race_id)


async def _announce(node: "Node", code: str, outcome: Outcome) -> None:
    """Send the end of a race, after the endings of boards that their players here have not seen."""
    race = node.races.known(outcome.race)
    if race is not None:
        for player in list(race.runs):
            await node.races.show_ending(race, player)
    if race is None or not race.has_final_standings:
        heads = {result.player: result.head for result in outcome.results}
        standings = results.wire_standings(outcome.race, outcome.results, heads)
        node.broadcaster.send_to_table(code, standings)
    node.broadcaster.standings_settled(code)
    node.broadcaster.send_to_table(code, RaceOver(outcome=outcome))
    node.leaderboards.changed(outcome.game)
