"""The timers of the tables on a node, and tables that a node no longer needs."""

import pytest
from msgspec.structs import replace

from kit.table_caches import OTHER, Caches, CachingNode
from kit.tables import (
    ANN,
    BEN,
    CODE,
    NODE,
    after,
    all_shown,
    counting,
    running,
    seated,
)
from saratoga_server.domain.tables import (
    Change,
    CommandRejected,
    TablePhase,
    TableState,
)
from saratoga_server.domain.tables.timers import UNUSED_MILLIS
from saratoga_server.live.table_cache import JITTER
from saratoga_server.ports import Millis
from saratoga_server.store.keys import table_key

# Timers


async def test_a_change_sets_the_tables_timer(here: CachingNode, caches: Caches) -> None:
    await here.cache.open(seated(ANN))
    table = counting(ANN, BEN)
    await here.cache.change(CODE, lambda state, now: Change(table))
    assert here.due_tables.take_due() is None
    caches.time.at = table.reveal_by
    assert here.due_tables.take_due() == CODE


async def test_a_table_that_is_loaded_is_looked_at_once(
    here: CachingNode, there: CachingNode
) -> None:
    await here.cache.open(seated(ANN))
    assert here.due_tables.take_due() is None
    await there.cache.get(CODE)
    assert there.due_tables.take_due() == CODE
    assert there.due_tables.take_due() is None


async def test_several_nodes_spread_the_timers_that_need_not_be_prompt(
    caches: Caches, here: CachingNode
) -> None:
    here.peers.seen()
    for number in range(40):
        await here.cache.open(replace(seated(ANN), code=f"odd-emu-{number}"))
    caches.time.at += UNUSED_MILLIS
    due_at_once = len(list(iter(here.due_tables.take_due, None)))
    assert due_at_once < 40
    caches.time.at += JITTER
    assert due_at_once + len(list(iter(here.due_tables.take_due, None))) == 40


async def test_the_timers_of_a_start_and_of_a_deadline_are_prompt_on_every_node(
    caches: Caches, here: CachingNode
) -> None:
    here.peers.seen()
    table = all_shown(counting(ANN, BEN))
    race = replace(running(ANN, BEN), looked=running(ANN, BEN).deadline - 1)
    codes = [f"odd-emu-{number}" for number in range(40)]
    for code in codes:
        await here.cache.open(replace(table, code=code))
    caches.time.at = table.start_at
    assert sorted(iter(here.due_tables.take_due, None)) == sorted(codes)

    def started(state: TableState, now: Millis) -> Change:
        return Change(replace(race, code=state.code))

    for code in codes:
        await here.cache.change(code, started)
    caches.time.at = race.deadline
    assert sorted(iter(here.due_tables.take_due, None)) == sorted(codes)


# Tables that are no longer needed


async def test_tables_without_subscribers_are_dropped_from_the_cache(
    here: CachingNode, caches: Caches
) -> None:
    await here.cache.open(seated(ANN))
    await here.cache.open(replace(seated(ANN), code=OTHER))
    here.cache.forget_unused("another node")
    assert [table.code for table in here.cache.all()] == [CODE], "a player follows it"
    assert here.cache.phases() == {TablePhase.GATHERING: 1}
    assert (await here.cache.get(OTHER)).state.seats
    here.cache.forget_unused(NODE)
    assert len(here.cache.all()) == 2, "a seat there is held by this node"
    assert {code async for code in caches.store.tables.all_codes()} == {CODE, OTHER}


async def test_a_table_with_something_left_undone_is_kept(here: CachingNode) -> None:
    table = await here.cache.open(replace(seated(ANN), code=OTHER))
    assert table is not None
    table.in_doubt = True
    here.cache.forget_unused("another node")
    table.in_doubt, table.followed_up = False, table.known
    here.cache.forget_unused("another node")
    table.followed_up = None
    async with table.lock:
        here.cache.forget_unused("another node")
    assert here.cache.all() == [table]
    here.cache.forget_unused("another node")
    assert here.cache.all() == []


async def test_with_other_nodes_alive_a_race_is_kept_only_where_it_is_followed(
    here: CachingNode,
) -> None:
    await here.cache.open(replace(running(ANN), code=OTHER, seats=()))
    here.cache.forget_unused("node")
    assert here.cache.known(OTHER) is not None
    here.peers.seen()
    here.cache.forget_unused("node")
    assert here.cache.known(OTHER) is None


async def test_a_table_that_was_forgotten_has_no_timer(here: CachingNode, caches: Caches) -> None:
    await here.cache.open(counting(ANN, BEN))
    here.cache.forget(CODE)
    caches.time.at = after(60_000)
    assert here.due_tables.take_due() is None
    assert here.cache.all() == []


async def test_a_table_that_the_store_has_deleted_is_forgotten(
    here: CachingNode, caches: Caches
) -> None:
    await here.cache.open(seated(ANN))
    await caches.store.real.client.command("DEL", table_key(CODE))
    with pytest.raises(CommandRejected, match="no_such_table"):
        await here.cache.refresh(CODE)
    assert here.cache.known(CODE) is None
