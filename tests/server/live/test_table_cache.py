"""The cache of tables: loaded once, changed durably, as new as what other nodes publish."""

import asyncio

import pytest
from msgspec.structs import replace

from kit.table_caches import OTHER, Caches, CachingNode, SlowTables, WrappedTables, adding
from kit.tables import (
    ANN,
    BEN,
    CODE,
    NOON,
    seated,
)
from saratoga_protocol.events import TableChanged
from saratoga_server.domain.tables import (
    Change,
    CommandRejected,
    TableState,
)
from saratoga_server.live.live_table import Known
from saratoga_server.live.table_cache import READ_AT_ONCE
from saratoga_server.ports import (
    Millis,
    StoreUnavailable,
)
from saratoga_server.store.keys import table_key
from saratoga_server.store.tables import NotSaved, TableWrite

# Loading


async def test_a_new_table_is_there_for_every_node(here: CachingNode, there: CachingNode) -> None:
    table = await here.open(seated(ANN))
    assert (table.version, here.cache.known(CODE)) == (1, table)
    assert await there.cache.open(seated(BEN)) is NotSaved.CHANGED, "the code is taken"
    assert there.cache.known(CODE) is None
    assert (await there.cache.get(CODE)).state == table.state


async def test_a_table_that_does_not_exist_is_refused_each_time(here: CachingNode) -> None:
    for _ in range(3):
        with pytest.raises(CommandRejected, match="no_such_table"):
            await here.cache.get(OTHER)
    assert here.cache.all() == []


async def test_a_table_is_loaded_once_however_many_ask(here: CachingNode, caches: Caches) -> None:
    await here.open(seated(ANN))
    tables = SlowTables(caches)
    tables.may_read.set()
    there = await caches.node(tables)
    loaded = await asyncio.gather(*(there.cache.get(CODE) for _ in range(5)))
    assert all(table is loaded[0] for table in loaded)
    assert await there.cache.get(CODE) is loaded[0]
    assert tables.reads == 1


async def test_a_load_that_failed_for_one_caller_is_repeated_for_the_next(
    here: CachingNode, caches: Caches
) -> None:
    await here.open(seated(ANN))
    tables = SlowTables(caches, StoreUnavailable("away"))
    there = await caches.node(tables)
    early = [asyncio.create_task(there.cache.get(CODE)) for _ in range(2)]
    await asyncio.sleep(0)
    tables.may_read.set()
    with pytest.raises(StoreUnavailable):
        await early[0]
    late = await there.cache.get(CODE)
    assert late is await early[1] is there.cache.known(CODE)


# Changes


async def test_a_change_is_durable_then_shown(here: CachingNode, caches: Caches) -> None:
    table = await here.open(seated(ANN))
    assert table is not None
    before = table.known
    applied = await here.cache.change(CODE, adding("Hello."))
    assert (applied.table, applied.before) == (table, before)
    assert applied.change is not None
    assert applied.change.table is table.state
    assert (table.version, await caches.version()) == (2, 2)
    (shown,) = here.received.all(TableChanged)
    assert (shown.table.notice, shown.table.version, shown.now) == ("Hello.", 2, NOON)
    assert table.followed_up is None, "the caller carries out the effects"


async def test_an_invisible_change_is_not_sent(here: CachingNode, caches: Caches) -> None:
    await here.open(seated(ANN))
    await here.cache.change(CODE, lambda state, now: Change(replace(state, looked=now)))
    assert (await caches.version(), here.received.events) == (2, [])


async def test_a_change_is_judged_anew_when_another_node_wrote_first(
    here: CachingNode, there: CachingNode
) -> None:
    await here.open(seated(ANN))
    table = await there.cache.get(CODE)
    known = table.known
    await here.cache.change(CODE, adding("One."))
    applied = await there.cache.change(CODE, adding("Two."))
    assert (table.state.notice, table.version) == ("One.Two.", 3)
    assert (applied.before.version, applied.before.state.notice) == (2, "One.")
    assert there.notices() == ["One.Two."]
    assert table.followed_up == known, "what the other node changed is still to be followed up"


async def test_a_change_that_always_comes_too_late_is_given_up(
    here: CachingNode, caches: Caches
) -> None:
    await here.open(seated(ANN))

    def too_late(state: TableState, now: Millis) -> Change:
        caches.store.server.ask("HINCRBY", table_key(CODE), "version", "1")
        return Change(replace(state, touched=now))

    with pytest.raises(CommandRejected, match="Too many changes at once") as refused:
        await here.cache.change(CODE, too_late)
    assert refused.value.retry


async def test_a_refusal_is_judged_on_the_newest_version_if_other_nodes_are_alive(
    here: CachingNode, there: CachingNode
) -> None:
    await here.open(seated(ANN))
    await there.cache.get(CODE)
    await here.cache.change(CODE, adding("one"))

    def only_after_one(state: TableState, now: Millis) -> Change:
        if state.notice != "one":
            raise CommandRejected("wrong_phase")
        return Change(replace(state, notice="two"))

    with pytest.raises(CommandRejected):
        await there.cache.change(CODE, only_after_one)
    there.peers.seen()
    assert (await there.cache.change(CODE, only_after_one)).table.state.notice == "two"


# Writes whose outcome is unknown


@pytest.mark.parametrize("happened", [True, False])
async def test_a_write_whose_reply_was_lost_is_read_again_before_the_next_change(
    here: CachingNode, caches: Caches, happened: bool
) -> None:
    table = await here.open(seated(ANN))
    assert table is not None
    known = table.known
    caches.faults.lost_replies, caches.faults.unavailable = int(happened), not happened
    with pytest.raises(StoreUnavailable):
        await here.cache.change(CODE, adding("Perhaps."))
    assert (table.in_doubt, here.received.events) == (True, [])
    caches.faults.unavailable = False
    await here.cache.change(CODE, adding("Then."))
    assert table.state.notice == ("Perhaps.Then." if happened else "Then.")
    assert not table.in_doubt
    assert table.followed_up == (known if happened else None)


class MuteTables(WrappedTables):
    """A table store whose writes get no reply."""

    writes: asyncio.Task[NotSaved | None] | None = None

    async def save_table(self, write: TableWrite) -> NotSaved | None:
        if write.version:
            self.writes = asyncio.create_task(self._save(write))
            await asyncio.Event().wait()
        return await self._save(write)

    async def _save(self, write: TableWrite) -> NotSaved | None:
        return await self.tables.save_table(write)


async def test_a_write_without_a_reply_in_time_is_in_doubt(caches: Caches) -> None:
    tables = MuteTables(caches)
    here = await caches.node(tables, store_timeout=0.01)
    table = await here.open(seated(ANN))
    assert table is not None
    async with asyncio.timeout(30):
        with pytest.raises(StoreUnavailable, match="in time"):
            await here.cache.change(CODE, adding("Perhaps."))
    assert (table.in_doubt, table.state.notice) == (True, "")
    assert tables.writes is not None
    assert await tables.writes is None
    await here.cache.refresh(CODE)
    assert (table.in_doubt, table.state.notice) == (False, "Perhaps.")


# What other nodes change


async def test_a_published_version_is_read_once(here: CachingNode, there: CachingNode) -> None:
    await here.open(seated(ANN))
    table = await there.cache.get(CODE)
    await here.cache.change(CODE, adding("one"))
    assert there.cache.heard_of(CODE, 2)
    assert not there.cache.heard_of(CODE, 2), "it is being read already"
    assert not here.cache.heard_of(CODE, 2), "this node wrote it"
    assert not there.cache.heard_of(OTHER, 2), "that table is not held here"
    assert await there.cache.refresh(CODE, 2) is table
    assert (table.version, table.state.notice) == (2, "one")
    assert there.notices() == ["one"]


async def test_a_refresh_reads_only_what_may_be_newer(here: CachingNode, caches: Caches) -> None:
    await here.open(seated(ANN))
    tables = SlowTables(caches)
    tables.may_read.set()
    there = await caches.node(tables)
    table = await there.cache.get(CODE)
    assert await there.cache.refresh(CODE, 1) is table
    assert await there.cache.refresh(OTHER) is None
    assert (tables.reads, there.received.events) == (1, [])
    assert await there.cache.refresh(CODE) is table
    assert (tables.reads, there.received.events, table.followed_up) == (2, [], None)
    known = table.known
    await here.cache.change(CODE, adding("News."))
    await there.cache.refresh(CODE)
    assert there.notices() == ["News."]
    assert table.followed_up == Known(1, known.state)


async def test_a_version_published_while_an_older_one_is_read_is_not_missed(
    here: CachingNode, caches: Caches
) -> None:
    await here.open(seated(ANN))

    class LateTables(WrappedTables):
        """A table store that returns the version before another node wrote."""

        async def load_table(self, code: str) -> tuple[int, bytes] | None:
            answer = await self.tables.load_table(code)
            if answer is not None and answer[0] == 1:
                await here.cache.change(CODE, adding("one"))
                assert not late.cache.heard_of(CODE, 2)
            return answer

    late = await caches.node(LateTables(caches))
    table = await late.cache.get(CODE)
    assert (table.version, table.state.notice) == (2, "one")


async def test_tables_changed_without_notice_are_found(
    here: CachingNode, there: CachingNode
) -> None:
    codes = [f"odd-emu-{number}" for number in range(READ_AT_ONCE + 2)]
    for code in codes:
        await here.open(replace(seated(ANN), code=code))
        await there.cache.get(code)
    assert await there.cache.changed_elsewhere() == []
    for code in (codes[0], codes[-1]):
        await here.cache.change(code, adding("one"))
    assert await there.cache.changed_elsewhere() == [codes[0], codes[-1]]
