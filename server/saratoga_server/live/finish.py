"""The end of a race: its results are computed and written by the node that ended the last board.

If that node dies first, the race is due again at once, and any node finishes it; the store accepts one finish.
"""

import asyncio
from typing import TYPE_CHECKING

from saratoga_rules.records.standing import State
from saratoga_server.domain import results, tables
from saratoga_server.domain.tables import TablePhase, TableState
from saratoga_server.live.races import LiveRace
from saratoga_server.ports import Millis, RaceFinish

if TYPE_CHECKING:
    from saratoga_server.live.tables import LiveTable
    from saratoga_server.node import Node


async def finish_if_over(node: "Node", table: "LiveTable", race: LiveRace) -> None:
    """Finish the running race of a table if all its boards have ended; if one is left, name its player."""
    if race.is_over:
        await _finish(node, table, race)
    elif race.last_racer and not table.state.last_racer:
        await _name_last_racer(node, race, race.last_racer)


async def _finish(node: "Node", table: "LiveTable", race: LiveRace) -> None:
    """Write the results of the race, unless a board still races after all."""
    state = table.state
    boards = await node.races.final_boards(race)
    if boards is None or state.race_id != race.id or state.phase is not TablePhase.RUNNING:
        return
    # sixteen long boards take too long for one turn of the event loop
    counted = await asyncio.to_thread(results.count_up, state, race.opening, boards)
    write = RaceFinish(race=state.race, record=counted.record, settlement=counted.settlement)
    if state.open is not None:
        write = await node.open_races.finished(state, race.opening, boards, counted.record)
    if not race.has_final_standings:
        race.has_final_standings = True
        node.broadcaster.send_to_table(table.code, race.standings())
    away = {
        session.player
        for session in node.broadcaster.audience(table.code)
        if (board := boards.get(session.player)) is not None
        and board.state is State.IDLE
        and session.active_at <= board.log[-1].at
    }

    def over(present: TableState, now: Millis) -> TableState:
        if present.phase is not TablePhase.RUNNING or present.race != state.race:
            return present
        return tables.finish(present, counted.outcome, now=now, away=away)

    await node.tables.change(table.code, over, write)


async def _name_last_racer(node: "Node", race: LiveRace, player: str) -> None:
    """Write to the table whose board is the last one racing, and since when."""
    since = Millis(0)
    for other in race.waited_for - {player}:
        _, board = await node.races.board(race, other)
        if board.racing:
            board = await node.races.latest(race, other)
        if board.racing:
            return
        since = max(since, board.log[-1].at)

    def named(state: TableState, now: Millis) -> TableState:
        return tables.last_board(state, player, since) if state.race_id == race.id else state

    await node.tables.change(race.code, named)
