"""Tables on a node: loaded once, changed one at a time, judged anew when another node wrote first."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import msgpack
import pytest
from msgspec.structs import replace

from kit.fake_store import FakeHouse, FakeTables, fake_store
from kit.in_process_server import InventedTime
from kit.players import Received, RecordingConnection
from kit.tables import (
    ANN,
    BEN,
    CODE,
    NODE,
    NOON,
    OTHER_SEED,
    after,
    all_shown,
    counting,
    running,
    seated,
)
from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import TableChanged
from saratoga_protocol.version import JSON
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import GAMES
from saratoga_rules.position import Position
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.clock import ServerClock
from saratoga_server.domain.tables import (
    Change,
    CommandRejected,
    TablePhase,
    TableState,
    elapse,
    resume,
)
from saratoga_server.domain.tables.state import FORMAT
from saratoga_server.domain.tables.timers import IDLE_MILLIS
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.due_tables import DueTables
from saratoga_server.live.live_table import Known
from saratoga_server.live.peers import Peers
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import JITTER, READ_AT_ONCE, TableCache, Transition
from saratoga_server.ports import Millis, RaceFinish, StoreUnavailable, TableWrite

OTHER = "odd-emu-11"

OPENING = deal_for_key(GAMES["canfield"], bytes(32))


@dataclass
class Node:
    """One node's tables, and what somebody who follows `CODE` there was sent."""

    cache: TableCache
    peers: Peers
    due_tables: DueTables
    received: Received

    def notices(self) -> list[str]:
        """Return the notice of every table that was sent."""
        return [changed.table.notice for changed in self.received.all(TableChanged)]


@dataclass
class Town:
    """Nodes on one store in memory, at an invented time."""

    fake: FakeHouse
    time: InventedTime

    async def node(
        self,
        tables: FakeTables | None = None,
        *,
        opening: Callable[[TableState], Position] = lambda state: OPENING,
        store_timeout: float = 6.0,
    ) -> Node:
        """Return a node that takes itself to be alone; `store_timeout` in seconds."""
        store = fake_store(self.fake)
        store.events.is_listening = True
        tables = tables or store.tables
        broadcaster, clock = Broadcaster(), ServerClock(tables, self.time.steady)
        await clock.synchronise()
        peers = Peers("node", store.events, BackgroundTasks(), self.time.steady)
        due_tables = DueTables(clock)
        received = Received(CODECS[JSON])
        broadcaster.follow(
            Session(
                connection=RecordingConnection(received), codec=CODECS[JSON], address="", number=1
            ),
            CODE,
        )
        cache = TableCache(tables, broadcaster, clock, peers, due_tables, opening, store_timeout)
        return Node(cache, peers, due_tables, received)


@pytest.fixture
def town() -> Town:
    time = InventedTime()
    return Town(FakeHouse(clock=time.millis), time)


@pytest.fixture
def fake(town: Town) -> FakeHouse:
    return town.fake


@pytest.fixture
async def here(town: Town) -> Node:
    return await town.node()


@pytest.fixture
async def there(town: Town) -> Node:
    return await town.node()


class SlowTables(FakeTables):
    """Tables that are read when `may_read` is set; the first reads may fail."""

    def __init__(self, fake: FakeHouse, *faults: Exception) -> None:
        super().__init__(fake)
        self.reads = 0
        self.may_read = asyncio.Event()
        self.faults = list(faults)

    async def load_table(self, code: str) -> tuple[int, bytes] | None:
        self.reads += 1
        await self.may_read.wait()
        if self.faults:
            raise self.faults.pop()
        return await super().load_table(code)


def adding(text: str) -> Transition:
    """Return a change that everyone sees."""

    def transition(state: TableState, now: Millis) -> Change:
        return Change(replace(state, notice=state.notice + text, touched=now))

    return transition


# Loading


async def test_a_new_table_is_there_for_every_node(here: Node, there: Node) -> None:
    table = await here.cache.open(seated(ANN))
    assert table is not None
    assert (table.version, here.cache.known(CODE)) == (1, table)
    assert await there.cache.open(seated(BEN)) is None, "the code is taken"
    assert there.cache.known(CODE) is None
    assert (await there.cache.get(CODE)).state == table.state


async def test_a_table_that_does_not_exist_is_refused_each_time(here: Node) -> None:
    for _ in range(3):
        with pytest.raises(CommandRejected, match="no_such_table"):
            await here.cache.get(OTHER)
    assert here.cache.all() == []


async def test_a_table_is_loaded_once_however_many_ask(here: Node, town: Town) -> None:
    await here.cache.open(seated(ANN))
    tables = SlowTables(town.fake)
    tables.may_read.set()
    there = await town.node(tables)
    loaded = await asyncio.gather(*(there.cache.get(CODE) for _ in range(5)))
    assert all(table is loaded[0] for table in loaded)
    assert await there.cache.get(CODE) is loaded[0]
    assert tables.reads == 1


async def test_a_load_that_failed_for_one_caller_is_repeated_for_the_next(
    here: Node, town: Town
) -> None:
    await here.cache.open(seated(ANN))
    tables = SlowTables(town.fake, StoreUnavailable("away"))
    there = await town.node(tables)
    early = [asyncio.create_task(there.cache.get(CODE)) for _ in range(2)]
    await asyncio.sleep(0)
    tables.may_read.set()
    with pytest.raises(StoreUnavailable):
        await early[0]
    late = await there.cache.get(CODE)
    assert late is await early[1] is there.cache.known(CODE)


async def test_a_table_for_newer_nodes_is_left_alone(
    here: Node, there: Node, fake: FakeHouse
) -> None:
    await here.cache.open(seated(ANN))
    version, body = fake.tables[CODE]
    newer = msgpack.packb(msgpack.unpackb(body) | {"format": FORMAT + 1})
    fake.tables[CODE] = (version + 1, newer)
    for node in (here, there):
        with pytest.raises(CommandRejected, match="draining: That table has moved") as refused:
            await node.cache.change(CODE, adding("Hello."))
        assert refused.value.retry
        assert node.cache.known(CODE) is None
    assert fake.tables[CODE] == (version + 1, newer)
    assert here.received.events == []


# Changes


async def test_a_change_is_durable_then_shown(here: Node, fake: FakeHouse) -> None:
    table = await here.cache.open(seated(ANN))
    assert table is not None
    before = table.known
    applied = await here.cache.change(CODE, adding("Hello."))
    assert (applied.table, applied.before) == (table, before)
    assert applied.change is not None
    assert applied.change.table is table.state
    assert (table.version, fake.tables[CODE][0]) == (2, 2)
    (shown,) = here.received.all(TableChanged)
    assert (shown.table.notice, shown.table.version, shown.now) == ("Hello.", 2, NOON)
    assert table.followed_up is None, "the caller carries out the effects"


async def test_where_nothing_changes_nothing_is_written_or_sent(
    here: Node, fake: FakeHouse
) -> None:
    await here.cache.open(seated(ANN))
    applied = await here.cache.change(CODE, lambda state, now: None)
    assert applied.change is None
    assert (fake.tables[CODE][0], here.received.events) == (1, [])


async def test_a_change_that_nobody_can_see_is_not_sent(here: Node, fake: FakeHouse) -> None:
    await here.cache.open(seated(ANN))
    await here.cache.change(CODE, lambda state, now: Change(replace(state, looked=now)))
    assert (fake.tables[CODE][0], here.received.events) == (2, [])


async def test_a_refused_change_changes_nothing(here: Node, fake: FakeHouse) -> None:
    await here.cache.open(seated(ANN))

    def refused(state: TableState, now: Millis) -> Change:
        raise CommandRejected("host_only")

    with pytest.raises(CommandRejected, match="host_only"):
        await here.cache.change(CODE, refused)
    assert (fake.tables[CODE][0], here.received.events) == (1, [])


async def test_a_change_is_judged_anew_when_another_node_wrote_first(
    here: Node, there: Node
) -> None:
    await here.cache.open(seated(ANN))
    table = await there.cache.get(CODE)
    known = table.known
    await here.cache.change(CODE, adding("One."))
    applied = await there.cache.change(CODE, adding("Two."))
    assert (table.state.notice, table.version) == ("One.Two.", 3)
    assert (applied.before.version, applied.before.state.notice) == (2, "One.")
    assert there.notices() == ["One.Two."]
    assert table.followed_up == known, "what the other node changed is still to be followed up"


async def test_two_nodes_that_change_a_table_at_once_lose_no_change(
    here: Node, there: Node
) -> None:
    await here.cache.open(seated(ANN))
    await there.cache.get(CODE)
    await asyncio.gather(
        *(node.cache.change(CODE, adding("x")) for node in (here, there) for _ in range(5))
    )
    table = await here.cache.refresh(CODE)
    assert table is not None
    assert (table.state.notice, table.version) == ("x" * 10, 11)


async def test_a_change_that_always_comes_too_late_is_given_up(here: Node, fake: FakeHouse) -> None:
    await here.cache.open(seated(ANN))

    def too_late(state: TableState, now: Millis) -> Change:
        version, body = fake.tables[CODE]
        fake.tables[CODE] = (version + 1, body)
        return Change(replace(state, touched=now))

    with pytest.raises(CommandRejected, match="Too many changes at once") as refused:
        await here.cache.change(CODE, too_late)
    assert refused.value.retry


async def test_a_refusal_is_judged_on_the_newest_version_if_other_nodes_are_alive(
    here: Node, there: Node
) -> None:
    await here.cache.open(seated(ANN))
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


# What is written with a change


async def test_the_start_of_a_race_opens_its_boards_in_the_same_write(
    town: Town, fake: FakeHouse
) -> None:
    here = await town.node(opening=lambda state: OPENING._replace(up=(3, 2, 1, 1)))
    table = all_shown(counting(ANN, BEN))
    await here.cache.open(table)
    await here.cache.change(CODE, lambda state, now: elapse(state, table.start_at, OTHER_SEED))
    race = fake.races[CODE, 1]
    assert (race.start_at, race.deadline) == (table.start_at, running(ANN, BEN).deadline)
    assert {player: (board.banked, board.epoch) for player, board in race.boards.items()} == {
        ANN: (7, 1),
        BEN: (7, 2),
    }


async def test_a_newer_connection_fences_the_board(here: Node, fake: FakeHouse) -> None:
    table = all_shown(counting(ANN, BEN))
    await here.cache.open(table)
    await here.cache.change(CODE, lambda state, now: elapse(state, table.start_at, OTHER_SEED))
    await here.cache.change(CODE, lambda state, now: resume(state, BEN, node=NODE, now=now))
    boards = fake.races[CODE, 1].boards
    assert {player: board.epoch for player, board in boards.items()} == {ANN: 1, BEN: 3}


async def test_a_result_is_written_with_the_table(here: Node, fake: FakeHouse) -> None:
    await here.cache.open(running(ANN))
    finish = RaceFinish(race=1, record="the record", settlement=b"a settlement")
    await here.cache.change(CODE, adding("Over."), finish)
    assert (fake.records, fake.outbox) == ({(CODE, 1): "the record"}, [b"a settlement"])


# Writes in doubt


@pytest.mark.parametrize("happened", [True, False])
async def test_a_write_whose_reply_was_lost_is_read_again_before_the_next_change(
    here: Node, fake: FakeHouse, happened: bool
) -> None:
    table = await here.cache.open(seated(ANN))
    assert table is not None
    known = table.known
    fake.lose_answers, fake.unavailable = int(happened), not happened
    with pytest.raises(StoreUnavailable):
        await here.cache.change(CODE, adding("Perhaps."))
    assert (table.in_doubt, here.received.events) == (True, [])
    fake.unavailable = False
    await here.cache.change(CODE, adding("Then."))
    assert table.state.notice == ("Perhaps.Then." if happened else "Then.")
    assert not table.in_doubt
    assert table.followed_up == (known if happened else None)


async def test_a_write_in_doubt_is_shown_when_it_is_found(here: Node, fake: FakeHouse) -> None:
    table = await here.cache.open(seated(ANN))
    assert table is not None
    fake.lose_answers = 1
    with pytest.raises(StoreUnavailable):
        await here.cache.change(CODE, adding("Perhaps."))
    for _ in range(2):
        await here.cache.refresh(CODE)
    assert here.notices() == ["Perhaps."]
    assert not table.in_doubt


async def test_waiting_for_a_table_and_for_the_store_share_one_timeout(town: Town) -> None:
    here = await town.node(store_timeout=0.001)
    table = await here.cache.open(seated(ANN))
    assert table is not None
    async with asyncio.timeout(30), table.lock:
        with pytest.raises(StoreUnavailable, match="in time"):
            await here.cache.change(CODE, adding("Hello."))
        assert (table.in_doubt, table.state.notice) == (False, ""), "nothing was written"
        with pytest.raises(StoreUnavailable, match="in time"):
            await here.cache.refresh(CODE)
    assert table.in_doubt, "what it was refreshed for is still to be read"


class MuteTables(FakeTables):
    """Tables that are changed, but without a reply."""

    writes: asyncio.Task[bool] | None = None

    async def save_table(self, write: TableWrite) -> bool:
        if write.expected:
            self.writes = asyncio.create_task(super().save_table(write))
            await asyncio.Event().wait()
        return await super().save_table(write)


async def test_a_write_without_a_reply_in_time_is_in_doubt(town: Town, fake: FakeHouse) -> None:
    tables = MuteTables(fake)
    here = await town.node(tables, store_timeout=0.01)
    table = await here.cache.open(seated(ANN))
    assert table is not None
    async with asyncio.timeout(30):
        with pytest.raises(StoreUnavailable, match="in time"):
            await here.cache.change(CODE, adding("Perhaps."))
    assert (table.in_doubt, table.state.notice) == (True, "")
    assert tables.writes is not None
    assert await tables.writes
    await here.cache.refresh(CODE)
    assert (table.in_doubt, table.state.notice) == (False, "Perhaps.")


# Timers


async def test_a_change_sets_the_tables_timer(here: Node, town: Town) -> None:
    await here.cache.open(seated(ANN))
    table = counting(ANN, BEN)
    await here.cache.change(CODE, lambda state, now: Change(table))
    assert here.due_tables.take_due() is None
    town.time.at = table.reveal_by
    assert here.due_tables.take_due() == CODE


async def test_a_table_that_is_loaded_is_looked_at_once(here: Node, there: Node) -> None:
    await here.cache.open(seated(ANN))
    assert here.due_tables.take_due() is None
    await there.cache.get(CODE)
    assert there.due_tables.take_due() == CODE
    assert there.due_tables.take_due() is None


async def test_several_nodes_spread_the_timers_that_need_not_be_prompt(
    town: Town, here: Node
) -> None:
    here.peers.seen()
    for number in range(40):
        await here.cache.open(replace(seated(ANN), code=f"odd-emu-{number}"))
    town.time.at += IDLE_MILLIS
    due_at_once = len(list(iter(here.due_tables.take_due, None)))
    assert due_at_once < 40
    town.time.at += JITTER
    assert due_at_once + len(list(iter(here.due_tables.take_due, None))) == 40


async def test_the_timers_of_a_start_and_of_a_deadline_are_prompt_on_every_node(
    town: Town, here: Node
) -> None:
    here.peers.seen()
    table = all_shown(counting(ANN, BEN))
    race = replace(running(ANN, BEN), looked=running(ANN, BEN).deadline - 1)
    codes = [f"odd-emu-{number}" for number in range(40)]
    for code in codes:
        await here.cache.open(replace(table, code=code))
    town.time.at = table.start_at
    assert sorted(iter(here.due_tables.take_due, None)) == sorted(codes)

    def started(state: TableState, now: Millis) -> Change:
        return Change(replace(race, code=state.code))

    for code in codes:
        await here.cache.change(code, started)
    town.time.at = race.deadline
    assert sorted(iter(here.due_tables.take_due, None)) == sorted(codes)


# Tables that are not needed any more


async def test_tables_that_nobody_follows_are_forgotten(here: Node, fake: FakeHouse) -> None:
    await here.cache.open(seated(ANN))
    await here.cache.open(replace(seated(ANN), code=OTHER))
    here.cache.forget_unused("another node")
    assert [table.code for table in here.cache.all()] == [CODE], "somebody follows it"
    assert here.cache.phases() == {TablePhase.GATHERING: 1}
    assert (await here.cache.get(OTHER)).state.seats
    here.cache.forget_unused(NODE)
    assert len(here.cache.all()) == 2, "a seat there is held by this node"
    assert set(fake.tables) == {CODE, OTHER}


async def test_a_table_with_something_left_undone_is_kept(here: Node) -> None:
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
    here: Node,
) -> None:
    await here.cache.open(replace(running(ANN), code=OTHER, seats=()))
    here.cache.forget_unused("node")
    assert here.cache.known(OTHER) is not None
    here.peers.seen()
    here.cache.forget_unused("node")
    assert here.cache.known(OTHER) is None


async def test_a_table_that_was_forgotten_has_no_timer(here: Node, town: Town) -> None:
    await here.cache.open(counting(ANN, BEN))
    here.cache.forget(CODE)
    town.time.at = after(60_000)
    assert here.due_tables.take_due() is None
    assert here.cache.all() == []


async def test_a_table_that_the_store_has_deleted_is_forgotten(here: Node, fake: FakeHouse) -> None:
    await here.cache.open(seated(ANN))
    del fake.tables[CODE]
    with pytest.raises(CommandRejected, match="no_such_table"):
        await here.cache.refresh(CODE)
    assert here.cache.known(CODE) is None


# What other nodes change


async def test_a_published_version_is_read_once(here: Node, there: Node) -> None:
    await here.cache.open(seated(ANN))
    table = await there.cache.get(CODE)
    await here.cache.change(CODE, adding("one"))
    assert there.cache.heard_of(CODE, 2)
    assert not there.cache.heard_of(CODE, 2), "it is being read already"
    assert not here.cache.heard_of(CODE, 2), "this node wrote it"
    assert not there.cache.heard_of(OTHER, 2), "that table is not held here"
    assert await there.cache.refresh(CODE, 2) is table
    assert (table.version, table.state.notice) == (2, "one")
    assert there.notices() == ["one"]


async def test_a_refresh_reads_only_what_may_be_newer(here: Node, town: Town) -> None:
    await here.cache.open(seated(ANN))
    tables = SlowTables(town.fake)
    tables.may_read.set()
    there = await town.node(tables)
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
    here: Node, town: Town
) -> None:
    await here.cache.open(seated(ANN))

    class LateTables(FakeTables):
        """Answers with what there was before another node wrote."""

        async def load_table(self, code: str) -> tuple[int, bytes] | None:
            answer = await super().load_table(code)
            if answer is not None and answer[0] == 1:
                await here.cache.change(CODE, adding("one"))
                assert not late.cache.heard_of(CODE, 2)
            return answer

    late = await town.node(LateTables(town.fake))
    table = await late.cache.get(CODE)
    assert (table.version, table.state.notice) == (2, "one")


async def test_tables_changed_without_notice_are_found(here: Node, there: Node) -> None:
    codes = [f"odd-emu-{number}" for number in range(READ_AT_ONCE + 2)]
    for code in codes:
        await here.cache.open(replace(seated(ANN), code=code))
        await there.cache.get(code)
    assert await there.cache.changed_elsewhere() == []
    for code in (codes[0], codes[-1]):
        await here.cache.change(code, adding("one"))
    assert await there.cache.changed_elsewhere() == [codes[0], codes[-1]]
