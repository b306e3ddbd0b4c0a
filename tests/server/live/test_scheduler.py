"""Timers of tables: when they are due, carried out in time, and after a restart."""

import asyncio

import pytest

from kit.in_process_server import (
    InProcessServer,
    counted_down,
    gathered,
    listed,
)
from saratoga_protocol.commands import JoinTable, LeaveTable
from saratoga_protocol.events import BoardChanged, Done, RaceOver, Standings
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.live.scheduler import MOST_DUE
from saratoga_server.live.tables import RETRY_MILLIS
from saratoga_server.ports import Millis, StoreUnavailable

# The scheduler: timers, restarts of the server, and lost replies of the store


async def test_timers_ticks_and_signs_of_life_go_on_until_cancelled(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    await gathered(anna)
    await counted_down(anna)
    server.time.at += COUNTDOWN_MILLIS
    await server.real.nodes.gone(server.node.name)
    running = asyncio.create_task(server.node.scheduler.run())
    await anna.received.next(BoardChanged, 0, entries=[])
    await anna.received.next(Standings, 0)
    assert await server.is_alive(server.node.name)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


# Timers of tables


async def test_a_node_whose_clock_is_ahead_ends_a_race_soon_after_its_deadline(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert, cap=3)
    deadline = anna.received.deals()[0].deadline
    assert deadline
    server.time.behind = 300
    await server.pass_time(deadline - server.time.at)
    assert anna.table.phase == "running", "by the store's clock there is time"
    await server.pass_time(RETRY_MILLIS)
    assert anna.table.phase == "over"
    (over,) = anna.received.all(RaceOver)
    assert {row.state for row in over.outcome.results} == {"out-of-time"}


# Seats


async def test_a_seat_without_a_connection_is_found_at_the_second_look(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    other_tab = await server.player("Anna")
    await other_tab.at_table(JoinTable, table=code, seat=False)
    server.faults.unavailable = True
    await anna.disconnect()  # and the note about it in the store is lost
    server.faults.unavailable = False
    await server.pass_time(1000)
    assert [seat.connected for seat in bert.table.seats] == [True, True]
    await server.pass_time(1000)
    assert [seat.connected for seat in bert.table.seats] == [False, True]


# A store that loses replies or is unavailable


async def test_a_table_that_cannot_be_read_does_not_stop_the_clock_of_the_others(
    server: InProcessServer,
) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    broken, sound = await gathered(anna), await gathered(bert)
    await counted_down(anna)
    await counted_down(bert)
    await server.rewrite(broken, b"\xc1")
    table = server.node.tables.known(broken)
    assert table is not None
    table.in_doubt = True
    await server.pass_time(COUNTDOWN_MILLIS)
    assert server.node.tables.known(broken) is None
    assert server.state(sound).phase == "running"
    assert len(bert.received.deals()) == 1


async def test_while_a_part_of_the_store_is_away_the_rest_is_still_looked_after(
    server: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    away, _ = await gathered(players[0]), await gathered(*players[1:])
    load = server.store.tables.load_table

    async def load_or_fail(code: str) -> tuple[int, bytes] | None:
        if code == away:
            raise StoreUnavailable("its primary is away")
        return await load(code)

    async def due(until: Millis, limit: int) -> dict[str, Millis]:
        assert limit == MOST_DUE
        raise StoreUnavailable("a primary is away")

    monkeypatch.setattr(server.store.tables, "load_table", load_or_fail)
    monkeypatch.setattr(server.store.tables, "due", due)
    doubtful = server.node.tables.known(away)
    assert doubtful is not None
    doubtful.in_doubt = True
    server.faults.unavailable = True
    await players[2].disconnect()  # and the note about it in the store is lost
    server.faults.unavailable = False
    for _ in range(2):
        await server.pass_time(1000)
    assert doubtful.in_doubt
    assert [seat.connected for seat in players[1].table.seats] == [True, False]


# Entries that are no longer needed


async def test_unused_tables_races_and_lines_are_dropped(
    server: InProcessServer,
) -> None:
    anna = await server.player("Anna")
    code = await gathered(anna, public=True)
    await server.deal(anna)
    assert await listed(anna) == [("Anna", "running", 1)]
    assert len(server.node.races.all()) == 1
    assert isinstance(await anna.ask(LeaveTable, table=code), Done)
    await server.pass_time(1000)
    await server.pass_time(1000)
    assert (server.node.tables.all(), server.node.races.all()) == ([], [])
    assert (await listed(anna), await server.real.tables.list_public()) == ([], [])
